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
    in; who makes one (`changing`) waits until nobody looks. Somebody who waits to change goes
    before those who come later to look. Inside of any of these the same thread may look again, and
    inside of `preparing` it may change.
    """

    def __init__(self) -> None:
        self._changes = threading.RLock()
        self._news = threading.Condition(threading.Lock())
        self._lookers = 0
        self._waiting = 0
        self._here = threading.local()

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Keeps changes out meanwhile."""
        if getattr(self._here, "inside", False):
            yield
            return
        with self._news:
            while self._waiting:
                self._news.wait()
            self._lookers += 1
        self._here.inside = True
        try:
            yield
        finally:
            self._here.inside = False
            with self._news:
                self._lookers -= 1
                self._news.notify_all()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Keeps other changes out meanwhile, but nobody who looks."""
        with self._changes:
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keeps everybody else out meanwhile."""
        with self._changes:
            with self._news:
                self._waiting += 1
            try:
                with self._news:
                    while self._lookers:
                        self._news.wait()
                self._here.inside = True
                yield
            finally:
                self._here.inside = False
                with self._news:
                    self._waiting -= 1
                    self._news.notify_all()


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
