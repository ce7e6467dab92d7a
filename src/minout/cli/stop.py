"""Stopping at a good moment: Ctrl-C is noted, and heeded between two examples."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Notes Ctrl-C, or being told to end, and says so when asked.

    Where it is `interruptible`, such as while it waits for input, it raises KeyboardInterrupt at
    once.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._at_once = False

    @property
    def exit_code(self) -> int:
        """Is 130 after Ctrl-C, as for other programs."""
        return 128 + self.signal

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Lets Ctrl-C through at once, also one that came before."""
        self._at_once = True
        try:
            if self.signal:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = False

    def each(self, items: Iterator[T]) -> Iterator[T]:
        """Gives items until there are no more or somebody wants to stop.

        While the next one is waited for it can be interrupted; while it is worked on it cannot.
        """
        nothing = object()
        while not self.signal:
            try:
                with self.interruptible():
                    item = next(items, nothing)
            except KeyboardInterrupt:
                self._at_once = False
                return
            if item is nothing:
                return
            yield item  # type: ignore[misc]

    def __enter__(self) -> Self:
        self._before = [signal.signal(each, self._note) for each in SIGNALS]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each, before in zip(SIGNALS, self._before, strict=True):
            signal.signal(each, before)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signal = number
        if self._at_once:
            raise KeyboardInterrupt
