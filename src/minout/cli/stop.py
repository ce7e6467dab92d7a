"""Signals that end a command: noted between two batches, or at once while it waits."""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Self, TypeVar

T = TypeVar("T")

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that tell a process to end. SIGHUP: its terminal was closed."""
PATIENCE = 2.0
"""Seconds to wait for another process before a note says so."""


@contextmanager
def handling(
    signals: Iterable[signal.Signals], handler: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Set the handler of signals that are not ignored, while the `with` block runs."""
    taken = [each for each in signals if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, handler) for each in taken}
    try:
        yield
    finally:
        for each, old in before.items():
            signal.signal(each, old)


def end_at_once() -> None:
    """End the process on Ctrl-C, until `raise_interrupts`: imports may drop an exception."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def raise_interrupts() -> None:
    """Raise KeyboardInterrupt on Ctrl-C from now on, as Python does by default."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Stop(ExitStack):
    """Note SIGINT, SIGTERM and SIGHUP while the `with` block runs, unless they are ignored.

    Inside `interruptible`, such as while waiting for input, a signal raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        super().__init__()
        self.signal = 0
        self._at_once = False

    @property
    def exit_code(self) -> int:
        """The exit code that shells use: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
        return 128 + self.signal

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise KeyboardInterrupt on a signal, also on an earlier one."""
        self._at_once = True
        try:
            if self.signal:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = False

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until they end or a signal comes; only waiting for one can be interrupted."""
        waiting = iter(items)
        while not self.signal:
            try:
                with self.interruptible():
                    item = next(waiting)
            except (StopIteration, KeyboardInterrupt):
                return
            yield item

    def on_wait(self, model: Path) -> Callable[[float], None]:
        """Return the argument `on_wait` of `Learner.open`: say once that the command waits."""
        has_said = False

        def wait(seconds: float) -> None:
            nonlocal has_said
            if self.signal:
                raise KeyboardInterrupt
            if seconds > PATIENCE and not has_said:
                from minout.cli.output import print_note

                has_said = True
                print_note(f"Waiting for another process to finish its change of {model} …")

        return wait

    def __enter__(self) -> Self:
        """Begin to note signals."""
        self.enter_context(handling((signal.SIGINT, *ENDING), self._note))
        return self

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signal = number
        if self._at_once:
            raise KeyboardInterrupt
