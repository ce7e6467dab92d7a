"""A progress bar on standard error, shown on a terminal only."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

UPDATE_EVERY = 0.1
"""Seconds between two updates."""


class ProgressBar:
    """A bar with a text beside it; it is removed at the end.

    Parameters
    ----------
    task : str
        What is being done, such as "learning".
    """

    def __init__(self, task: str) -> None:
        self.console = console = Console(stderr=True, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(task, total=None, text="")
        self._updated = 0.0

    def update(self, fraction: Callable[[], float | None], text: Callable[[], str]) -> None:
        """Show the fraction that is done, unless the last update was a moment ago."""
        now = time.monotonic()
        if self._progress.disable or now - self._updated < UPDATE_EVERY:
            return
        self._updated = now
        done = fraction()
        total = None if done is None else 1.0
        self._progress.update(self._task, completed=done or 0.0, total=total, text=text())

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
