"""Say that a command waits for another process, and end the wait if the command is stopped."""

from pathlib import Path

from minout.cli.output import print_note
from minout.cli.stop import Stop

PATIENCE = 2.0
"""Seconds to wait before a note says so."""


class Waiting:
    """The argument `on_wait` of `Learner.open`: say once that a command waits.

    If `stop` has recorded a signal, raise KeyboardInterrupt.
    """

    def __init__(self, model: Path, stop: Stop | None = None) -> None:
        self._model, self._stop = model, stop
        self._has_said = False

    def __call__(self, seconds: float) -> None:
        """Print the note if the wait is long, or end it if the command is stopped."""
        if self._stop is not None and self._stop.signal:
            raise KeyboardInterrupt
        if seconds > PATIENCE and not self._has_said:
            self._has_said = True
            print_note(f"Waiting for another process to finish its change of {self._model} …")
