"""Independent pieces of work on two cores; what each gives does not depend on who does it.

BLAS may add in another order when it has more threads. So it is given one, and work is divided
here, into pieces that are the same on every machine.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
U = TypeVar("U")

_here = threading.local()
_lock = threading.Lock()


def in_threads(function: Callable[[T], U], items: Sequence[T]) -> list[U]:
    """Gives the function of each item, two at a time; inside of such work, one after the other."""
    if len(items) < 2 or getattr(_here, "is_worker", False):
        return [function(item) for item in items]
    futures = [_workers().submit(function, item) for item in items]
    try:
        return [future.result() for future in futures]
    finally:
        # Whatever happened, nobody is still at work when this returns.
        for future in futures:
            future.cancel()
        wait(futures)


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
