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

    A thread that prepares a change (`prepare`) blocks other changes, but not readers; to write it
    (`write`) it waits until no other thread reads. Inside any of these the same thread may read,
    and inside `prepare` it may write.

    Ctrl-C may interrupt any line, also in this class. So the lock stores which threads read, not
    how many: an entry that was left behind does not block its own thread. A change that was
    interrupted is completed before any thread reads or prepares the next one. The same holds in a
    forked child, which has none of the other threads and starts with a free lock.

    `turns` is for several changes that belong together: a thread that acquires it first keeps other
    threads from changing the object in between.
    """

    def __init__(self) -> None:
        self._unfinished: Callable[[], None] | None = None
        self._free()
        _locks.add(self)

    def _free(self) -> None:
        self.turns = threading.RLock()
        self._changes = threading.RLock()
        self._state = threading.Lock()
        self._writer: int | None = None
        self._readers: set[int] = set()
        self._left: SimpleQueue[None] = SimpleQueue()  # unlike an Event, safe under signals

    def read(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function while changes are blocked."""
        me = threading.get_ident()
        if self._is_inside(me):
            return function(*args, **kwargs)
        try:
            self._begin_to_read(me)
            return function(*args, **kwargs)
        finally:  # Python checks for signals after a call, so the first call here is always made
            self._readers.discard(me)
            self._tell_writer()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Block changes during a `with` statement."""
        me = threading.get_ident()
        if self._is_inside(me):
            yield
            return
        try:
            self._begin_to_read(me)
            yield
        finally:
            self._readers.discard(me)
            self._tell_writer()

    def prepare(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function while other changes are blocked, but not readers."""
        if self._changes._is_owned():  # type: ignore[attr-defined]
            raise RuntimeError(
                "This call interrupts another one that is changing the same object: "
                "a signal handler may read it, but not change it."
            )
        with self._changes:
            self.complete()
            return function(*args, **kwargs)

    def complete(self) -> None:
        """Complete a change that was interrupted; the caller blocks other changes."""
        if self._unfinished is not None:
            with self._state:
                self._complete()

    def preparing(self) -> AbstractContextManager[object]:
        """Block other changes, but not readers, during a `with` statement."""
        return self._changes

    def pause(self, seconds: float) -> bool:
        """Block changes until `resume`, waiting if need be; return whether they are blocked.

        Return False at once if this thread is inside a change: it cannot wait for itself.
        """
        if self._changes._is_owned():  # type: ignore[attr-defined]
            return False
        return self._changes.acquire(timeout=seconds)

    def resume(self) -> None:
        """Allow changes again after `pause`."""
        self._changes.release()

    def write(self, change: Callable[[], None]) -> None:
        """Call a function while all other threads are blocked.

        If it is interrupted, it is called again before any thread reads or prepares the next
        change. So it must be idempotent, also if it was interrupted after any of its lines.
        """
        with self._changes, self._state:
            self._complete()
            try:
                self._writer = me = threading.get_ident()
                while self._readers and self._readers - {me}:
                    with suppress(Empty):
                        self._left.get(timeout=0.05)
                self._unfinished = change
                self._complete()
            finally:
                self._writer = None

    def _is_inside(self, me: int) -> bool:
        """Return whether this thread reads or writes already."""
        if self._writer == me:  # a signal handler reads in the middle of a change
            if self._unfinished is not None:
                self._unfinished()
            return True
        return me in self._readers

    def _begin_to_read(self, me: int) -> None:
        self._readers.add(me)
        if self._writer is not None or self._unfinished is not None:
            # A thread that writes, or waits to, has priority.
            self._readers.discard(me)
            self._tell_writer()
            with self._state:
                self._complete()
                self._readers.add(me)

    def _tell_writer(self) -> None:
        if self._writer is not None:
            self._left.put(None)

    def _complete(self) -> None:
        """Complete a change that was begun; the caller holds `_state`, so no thread reads."""
        if self._unfinished is not None:
            try:
                self._writer = threading.get_ident()
                self._unfinished()
                self._unfinished = None
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

    @restoring_interrupts
    @wraps(method)
    def reading(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._lock.read(method, self, *args, **kwargs)

    return reading


def writes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Block other changes while a method runs; it calls `write` to apply its own.

    Interruptions are raised with their own type.
    """

    @restoring_interrupts
    @wraps(method)
    def preparing(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._lock.prepare(method, self, *args, **kwargs)

    return preparing
