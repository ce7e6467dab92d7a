"""Record Ctrl-C and SIGTERM, and act on them between two examples, or at once at the start."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self, TypeVar

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_at_once() -> Iterator[None]:
    """End the process on Ctrl-C, with a line and no traceback, until `raise_interrupts` is called.

    This is for the imports at the start. There an exception would be raised inside a library that
    is being imported, which may drop it or make another error of it; and nothing has been written
    yet that must be cleaned up.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # not if the signal is ignored, as under nohup
        signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def raise_interrupts() -> None:
    """Raise KeyboardInterrupt on Ctrl-C from now on, as Python does by default."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop(number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"Stopped.\n")
    finally:  # also if standard error is closed
        os._exit(128 + number)


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
