"""Who may look at a learner, and who may change it, when several threads hold it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Turns:
    """Lets many look at once, and one at a time change.

    Who prepares a change beside what is there (`preparing`) keeps other changes out, but lookers
    in; who makes one (`changing`) waits until nobody looks. Inside of any of these the same thread
    may look, and inside of `preparing` it may change.

    Ctrl-C may come anywhere, also here. So what is noted is who looks, not how many: a note that
    was left behind does not keep its own thread from changing.
    """

    def __init__(self) -> None:
        self._changes = threading.RLock()
        self._state = threading.Lock()
        self._changer: int | None = None
        self._lookers: set[int] = set()
        self._left = threading.Event()

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Keeps changes out meanwhile."""
        me = threading.get_ident()
        if me in self._lookers or self._changer == me:
            yield
            return
        try:
            self._lookers.add(me)
            if self._changer is not None:  # who changes now, or waits to, goes first
                self._lookers.discard(me)
                self._left.set()
                with self._state:
                    self._lookers.add(me)
            yield
        finally:
            self._lookers.discard(me)
            self._left.set()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Keeps other changes out meanwhile, but nobody who looks."""
        with self._changes:
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keeps everybody else out meanwhile."""
        me = threading.get_ident()
        with self._changes, self._state:
            try:
                self._changer = me
                while self._lookers - {me}:
                    self._left.wait(0.05)
                    self._left.clear()
                yield
            finally:
                self._changer = None


class _Shared(Protocol):
    _turns: Turns


S = TypeVar("S", bound=_Shared)


def looks(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Lets a method look while nothing changes."""

    @wraps(method)
    def looking(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._turns.looking():
            return method(self, *args, **kwargs)

    return looking


def changes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Lets a method change things while nobody looks."""

    @wraps(method)
    def changing(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._turns.changing():
            return method(self, *args, **kwargs)

    return changing
