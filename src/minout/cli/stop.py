"""Record Ctrl-C and SIGTERM, and act on them between two examples."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Record SIGINT and SIGTERM while the `with` block runs.

    Inside `interruptible`, such as while waiting for input, a signal raises KeyboardInterrupt at
    once; elsewhere only `signal` is set.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._at_once = False

    @property
    def exit_code(self) -> int:
        """The exit code that shells use: 130 after Ctrl-C, 143 after SIGTERM."""
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

    def each(self, items: Iterator[T]) -> Iterator[T]:
        """Yield items until they end or a signal comes.

        Waiting for the next item can be interrupted; work on an item cannot.
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
