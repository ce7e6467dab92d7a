"""Independent pieces of work on two cores; what each gives does not depend on who does it.

BLAS may add in another order when it has more threads. So it is given one, and work is divided
here, into pieces that are the same on every machine.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
U = TypeVar("U")

_here = threading.local()
_lock = threading.Lock()


def in_threads(function: Callable[[T], U], items: Sequence[T]) -> list[U]:
    """Gives the function of each item, two at a time; inside of such work, one after the other."""
    if len(items) < 2 or getattr(_here, "is_worker", False):
        return [function(item) for item in items]
    work = _Work(function)
    try:
        for number, item in enumerate(items):
            _workers().submit(work.do, number, item)
        while len(work.answers) < len(items) and not work.errors:
            work.ended.get()
    finally:
        work.stop()
    try:
        if work.errors:
            raise work.errors[min(work.errors)]
    finally:
        work.errors.clear()  # an error holds this frame, which would hold it
    return [work.answers[number] for number in range(len(items))]


def one_worker_at_a_time() -> AbstractContextManager[object]:
    """Keeps other workers out meanwhile.

    While they are at work the main thread waits, so it needs no lock; and it must not take one,
    because Ctrl-C may arrive there before the lock is given back.
    """
    return _lock if getattr(_here, "is_worker", False) else nullcontext()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keeps BLAS to one thread until the last of those who asked for it has ended."""
    me = object()
    try:
        with _blas.lock:
            if _blas.limited is None:
                _blas.limited = _libraries().limit(limits=1, user_api="blas")
            _blas.users.add(me)
        yield
    finally:
        with _blas.lock:
            _blas.users.discard(me)
            if not _blas.users and _blas.limited is not None:
                _blas.limited.restore_original_limits()
                _blas.limited = None


class _Work(Generic[T, U]):
    """Is the work of one call.

    Ctrl-C may come anywhere in the thread that waits, also while a piece is handed out. So that
    thread takes no lock that workers need, and asks who is at work, not who was asked to be.
    """

    def __init__(self, function: Callable[[T], U]) -> None:
        self.function = function
        self.answers: dict[int, U] = {}
        self.errors: dict[int, BaseException] = {}
        self.ended: SimpleQueue[int] = SimpleQueue()
        self.running: set[int] = set()
        self.stopped = False

    def do(self, number: int, item: T) -> None:
        """Does one piece, unless the work has been stopped."""
        self.running.add(number)  # first this, then the look: `stop` does it the other way round
        try:
            if not self.stopped:
                self.answers[number] = self.function(item)
        except BaseException as error:
            self.errors[number] = error
        finally:
            self.running.discard(number)
            self.ended.put(number)

    def stop(self) -> None:
        """Lets nobody begin any more, and waits for those who have begun."""
        self.stopped = True
        while self.running:
            try:
                time.sleep(0.0005)
            except KeyboardInterrupt:  # the first one is on its way already
                continue


class _Blas:
    """Notes who wants BLAS to have one thread; several learners may be at work at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: set[object] = set()
        self.limited: Any = None


_blas = _Blas()


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, thread_name_prefix="minout", initializer=_mark)


def _mark() -> None:
    _here.is_worker = True


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
