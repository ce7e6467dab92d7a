"""A lock for a learner that several threads share: many readers, or one writer."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import wraps
from queue import Empty, SimpleQueue
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from minout.kernels import restoring_interrupts

P = ParamSpec("P")
R = TypeVar("R")


class ReadWriteLock:
    """Allow many readers at a time, and one thread that prepares and then writes a change.

    A thread that prepares a change (`preparing`) blocks other changes, but not readers; to write it
    (`write`) it waits until no other thread reads. Inside any of these the same thread may read,
    and inside `preparing` it may write.

    Ctrl-C may interrupt any line, also in this class. So the lock records which threads read, not
    how many: a record that was left behind does not block its own thread. A forked child, which has
    none of the other threads, starts with a free lock.
    """

    def __init__(self) -> None:
        self._free()
        _locks.add(self)

    def _free(self) -> None:
        self._changes = threading.RLock()
        self._state = threading.Lock()
        self._writer: int | None = None
        self._readers: set[int] = set()
        self._left: SimpleQueue[None] = SimpleQueue()  # unlike an Event, safe under signals

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Block changes."""
        me = threading.get_ident()
        if me in self._readers or self._writer == me:
            yield
            return
        try:
            self._readers.add(me)
            if self._writer is not None:  # a thread that writes, or waits to, has priority
                self._readers.discard(me)
                self._left.put(None)
                with self._state:
                    self._readers.add(me)
            yield
        finally:
            self._readers.discard(me)
            if self._writer is not None:
                self._left.put(None)

    def preparing(self) -> AbstractContextManager[object]:
        """Block other changes, but not readers."""
        return self._changes

    def write(self, change: Callable[[], None]) -> None:
        """Run a function while all other threads are blocked."""
        with self._changes, self._state:
            try:
                self._writer = me = threading.get_ident()
                while self._readers and self._readers - {me}:
                    with suppress(Empty):
                        self._left.get(timeout=0.05)
                change()
            finally:
                self._writer = None


_locks: weakref.WeakSet[ReadWriteLock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in list(_locks):
        lock._free()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Shared(Protocol):
    _lock: ReadWriteLock


S = TypeVar("S", bound=_Shared)


def reads(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Block changes while a method runs; raise interruptions with their own type."""

    @restoring_interrupts()
    @wraps(method)
    def reading(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock.reading():
            return method(self, *args, **kwargs)

    return reading


def writes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Block other changes while a method runs; it calls `write` to apply its own.

    Interruptions are raised with their own type.
    """

    @restoring_interrupts()
    @wraps(method)
    def preparing(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock.preparing():
            return method(self, *args, **kwargs)

    return preparing
