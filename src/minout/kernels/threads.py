"""Divide independent pieces of work between two threads.

A result does not depend on which thread computed it: the pieces are the same on every machine. BLAS
may add in another order when it has more threads, so it is limited to one.
"""

import _thread
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from queue import SimpleQueue
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
U = TypeVar("U")


def in_threads(function: Callable[[T], U], items: Sequence[T]) -> list[U]:
    """Return `[function(item) for item in items]`, computed by the calling thread and a helper.

    Pieces are begun in the order of the items. A call inside a piece runs in the thread that makes
    it. After an error, or an interruption such as Ctrl-C, no further piece is begun, and the call
    waits for the piece that the helper is computing: nothing is written after it. The error is that
    of the first item that has one.

    An interruption may arrive anywhere in the calling thread, so the two threads share no lock:
    each step that both take is one operation of a built-in type, which is atomic.
    """
    if len(items) < 2 or is_alone():
        return [function(item) for item in items]
    numbers, results, errors = iter(range(len(items))), dict[int, U](), dict[int, BaseException]()
    is_helped, has_left = False, SimpleQueue[None]()

    def compute(caught: type[BaseException]) -> None:
        _here.is_busy = True
        try:
            for number in numbers:
                try:
                    results[number] = function(items[number])
                except caught as error:
                    errors[number] = error
                    _drain(numbers)
        finally:
            _here.is_busy = False

    def help() -> None:
        nonlocal is_helped
        is_helped = True  # and then take a number: the caller drains them, and then reads this
        try:
            compute(BaseException)
        finally:
            is_helped = False
            has_left.put(None)

    def wait() -> None:
        try:
            while is_helped:
                has_left.get()
        except BaseException:
            wait()
            raise

    try:
        _helper.ask(help)
        compute(Exception)  # others, such as KeyboardInterrupt, end the call
        wait()
    finally:
        _drain(numbers)
        wait()
    try:
        if errors:
            raise errors[min(errors)]
    finally:
        errors.clear()  # they refer to this frame
    return [results[number] for number in range(len(items))]


def _drain(numbers: Iterator[int]) -> None:
    deque(numbers, maxlen=0)


class _Helper:
    """A thread that helps with one call after the other.

    It is not a `threading.Thread`: starting one takes locks that an interruption can leave held.
    Like a daemon thread it does not keep the interpreter from exiting.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._starts = count()
        self._is_started = False

    def ask(self, help: Callable[[], None]) -> None:
        """Let the helper join as soon as it is free."""
        if not self._is_started:
            try:
                _thread.start_new_thread(self._run, ())
            except RuntimeError:  # no more threads: the calling thread does everything
                return
            self._is_started = True
        self._calls.put(help)

    def _run(self) -> None:
        if next(self._starts):  # two callers, or one that was interrupted, started two helpers
            return
        while True:
            self._calls.get()()


@contextmanager
def alone() -> Iterator[None]:
    """Compute everything that this thread is asked for in this thread, in the `with` block."""
    before, _here.is_busy = is_alone(), True
    try:
        yield
    finally:
        _here.is_busy = before


def is_alone() -> bool:
    """Return whether no other thread is to help this one."""
    return getattr(_here, "is_busy", False)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last call that asked for this has ended."""
    me = object()
    try:
        with _blas.lock:
            if _blas.limited is None:
                _blas.limited = _libraries().limit(limits=1, user_api="blas")
            _blas.users[me] = threading.get_ident()
        yield
    finally:
        with _blas.lock:
            _blas.users.pop(me, None)
            if not _blas.users and _blas.limited is not None:
                _blas.limited.restore_original_limits()
                _blas.limited = None


class _Blas:
    """The calls that need BLAS to have one thread, each with its thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: dict[object, int] = {}
        self.limited: Any = None


_helper = _Helper()
_here = threading.local()
_blas = _Blas()


def _after_fork() -> None:
    """Forget the threads that a forked child does not have, and the locks that they may hold.

    If one of them had limited BLAS, the limit ends with the child's next `one_blas_thread`: to call
    into BLAS here would not be safe.
    """
    _helper.__init__()  # type: ignore[misc]
    _blas.lock = threading.Lock()
    me = threading.get_ident()
    _blas.users = {user: thread for user, thread in _blas.users.items() if thread == me}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
