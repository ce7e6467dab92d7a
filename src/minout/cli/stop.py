"""Record the signals that end a command, and act on them between two examples, or at the start."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that tell a process to end. SIGHUP: its terminal was closed."""
SIGNALS = (signal.SIGINT, *ENDING)


Handler = Callable[[int, FrameType | None], None]
Handlers = dict[signal.Signals, Any]


def replace_handlers(signals: Iterable[signal.Signals], handler: Handler) -> Handlers:
    """Set the handler of signals that are not ignored; return those that they had."""
    taken = [each for each in signals if signal.getsignal(each) is not signal.SIG_IGN]
    return {each: signal.signal(each, handler) for each in taken}


def restore_handlers(before: Handlers) -> None:
    """Set the handlers that `replace_handlers` returned."""
    for each, handler in before.items():
        signal.signal(each, handler)


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
    """Record SIGINT, SIGTERM and SIGHUP while the `with` block runs.

    A signal that is ignored, as SIGHUP is under nohup, stays ignored.

    Inside `interruptible`, such as while waiting for input, a signal raises KeyboardInterrupt at
    once; elsewhere only `signal` is set.
    """

    def __init__(self) -> None:
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
        self._before = replace_handlers(SIGNALS, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        restore_handlers(self._before)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signal = number
        if self._at_once:
            raise KeyboardInterrupt
