"""A bar that shows how far a file has been read, on a terminal only."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

TELL_EVERY = 0.1
"""How many seconds pass between two changes."""


class Bar:
    """Is drawn beside what is printed, and taken away at the end."""

    def __init__(self, what: str) -> None:
        console = Console(stderr=True, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(what, total=None, words="")
        self._told = 0.0

    def tell(self, share: Callable[[], float | None], words: Callable[[], str]) -> None:
        """Shows how far it is, now and then."""
        now = time.monotonic()
        if self._progress.disable or now - self._told < TELL_EVERY:
            return
        self._told = now
        done = share()
        total = None if done is None else 1.0
        self._progress.update(self._task, completed=done or 0.0, total=total, words=words())

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
