"""Divide independent pieces of work between two threads.

A result does not depend on which thread computed it: the pieces are the same on every machine. BLAS
may add in another order when it has more threads, so it is limited to one.
"""

import _thread
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
U = TypeVar("U")


def in_threads(function: Callable[[T], U], items: Sequence[T]) -> list[U]:
    """Return `[function(item) for item in items]`, computed by two threads.

    The calling thread computes pieces itself, and one other thread helps. Pieces are begun in the
    order of the items. A call inside a piece runs in the thread that makes it.

    An error, or an interruption such as Ctrl-C, ends the call: no further piece is begun, and the
    call waits for the piece that the other thread is computing. So nothing is written after it.

    Parameters
    ----------
    function : callable
        Takes one item. It is called by two threads at once.
    items : sequence
        The items. With fewer than two, the calling thread does everything.

    Returns
    -------
    list
        The results in the order of the items.

    Raises
    ------
    BaseException
        What interrupted the calling thread, if anything did. Otherwise the error of the first
        item that has one: the error that a loop over the items would raise.
    """
    if len(items) < 2 or _is_in_a_piece():
        return [function(item) for item in items]
    work = _Work(function, items)
    try:
        _process.pool.ask_for_help(work)
        work.compute_own_share()
        work.wait_for_results()
    finally:
        work.stop()
    return work.results()


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


class _Work(Generic[T, U]):
    """The pieces of one call of `in_threads`, and their results.

    An interruption may arrive anywhere in the calling thread, so the two threads share no lock.
    Each step that both take is one operation of a built-in type, which is atomic.
    """

    def __init__(self, function: Callable[[T], U], items: Sequence[T]) -> None:
        self.is_stopped = False
        self._function, self._items = function, items
        self._numbers = count()
        self._results: dict[int, U] = {}
        self._errors: dict[int, BaseException] = {}
        self._has_helper = False
        self._helper_left: SimpleQueue[None] = SimpleQueue()

    def compute_own_share(self) -> None:
        """Compute pieces in the calling thread until none is left or one has failed."""
        _process.here.work = self
        try:
            self._compute_pieces(Exception)  # others, such as KeyboardInterrupt, end the call
        finally:
            _process.here.work = None

    def help(self) -> None:
        """Compute pieces in the other thread until none is left or one has failed."""
        self._has_helper = True  # and then read `is_stopped`: `stop` uses the opposite order
        try:
            self._compute_pieces(BaseException)
        finally:
            self._has_helper = False
            self._helper_left.put(None)

    def wait_for_results(self) -> None:
        """Wait until every piece has a result or one has failed."""
        while len(self._results) < len(self._items) and not self._errors:
            self._helper_left.get()

    def stop(self) -> None:
        """Let no further piece begin, and wait until the helper has left.

        An interruption that arrives meanwhile is raised afterwards.
        """
        self.is_stopped = True
        interruption: BaseException | None = None
        while self._has_helper:
            try:
                self._helper_left.get()
            except BaseException as error:
                interruption = error
        try:
            if interruption is not None:
                raise interruption
        finally:
            interruption = None  # it refers to this frame

    def results(self) -> list[U]:
        """Return the results in the order of the items, or raise the first error."""
        try:
            if self._errors:
                raise self._errors[min(self._errors)]
        finally:
            self._errors.clear()  # they refer to this frame
        return [self._results[number] for number in range(len(self._items))]

    def _compute_pieces(self, caught: type[BaseException]) -> None:
        """Compute the next piece until none is left; note errors of the given type."""
        for number in self._numbers:
            if self.is_stopped or self._errors or number >= len(self._items):
                return
            try:
                self._results[number] = self._function(self._items[number])
            except caught as error:
                self._errors[number] = error


class _Pool:
    """A thread that helps with one call after the other.

    It is not a `threading.Thread`: starting one takes locks that an interruption can leave held.
    Like a daemon thread it does not keep the interpreter from exiting.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Work[Any, Any]] = SimpleQueue()
        self._starts = count()
        self._is_started = False

    def ask_for_help(self, work: _Work[Any, Any]) -> None:
        """Let the helper join in the work as soon as it is free."""
        if not self._is_started:
            try:
                _thread.start_new_thread(self._help, ())
            except RuntimeError:  # no more threads: the calling thread does everything
                return
            self._is_started = True
        self._calls.put(work)

    def _help(self) -> None:
        """Help with each call, for ever."""
        if next(self._starts):  # two callers, or one that was interrupted, started two helpers
            return
        _process.here.is_helper = True
        while True:
            work = self._calls.get()
            work.help()
            del work  # it refers to the caller's data


class _Process:
    """What belongs to the threads of this process; a forked child makes its own."""

    def __init__(self) -> None:
        self.pool = _Pool()
        self.here = threading.local()


class _Blas:
    """The calls that need BLAS to have one thread, each with its thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: dict[object, int] = {}
        self.limited: Any = None


_process = _Process()
_blas = _Blas()


def _is_in_a_piece() -> bool:
    """Return whether this thread is computing a piece of work."""
    here = _process.here
    if getattr(here, "is_helper", False):
        return True
    work = getattr(here, "work", None)
    # An interruption may have kept a call that has ended from removing its mark.
    return work is not None and not work.is_stopped


def _after_fork() -> None:
    """Forget the threads that a forked child does not have, and the locks that they may hold.

    If one of them had limited BLAS, the limit ends with the child's next `one_blas_thread`: to call
    into BLAS here would not be safe.
    """
    _process.__init__()  # type: ignore[misc]
    _blas.lock = threading.Lock()
    me = threading.get_ident()
    _blas.users = {user: thread for user, thread in _blas.users.items() if thread == me}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
