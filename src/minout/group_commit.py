"""Commit the changes of learners from a background thread, so that no further call is needed."""

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from minout.readwrite import ReadWriteLock

INTERVAL = 0.1
"""Seconds between two checks whether a commit is due."""

PATIENCE = 1.0
"""Seconds that a fork waits for another thread that is changing a learner."""


class _Ways(NamedTuple):
    """Functions that commit the changes of a learner and close it, and the lock against changes."""

    flush: Callable[[Any], None]
    close: Callable[[Any], None]
    lock: ReadWriteLock


_open: "weakref.WeakKeyDictionary[Any, _Ways]" = weakref.WeakKeyDictionary()
_paused: list[ReadWriteLock] = []


def keep_committing(
    learner: Any,
    commit: Callable[[Any], bool],
    flush: Callable[[Any], None],
    close: Callable[[Any], None],
    lock: ReadWriteLock,
) -> None:
    """Commit the changes of a learner when they are due, and at the end of the program.

    `commit` commits what is due and returns whether the learner is still open. Before the process
    is forked, `flush` commits everything: a child must not inherit the write lock.
    """
    _open[learner] = _Ways(flush, close, lock)
    thread = threading.Thread(
        target=_commit, args=(weakref.ref(learner), commit), name="minout commits", daemon=True
    )
    thread.start()


def _commit(reference: "weakref.ref[Any]", commit: Callable[[Any], bool]) -> None:
    is_open = True
    while is_open:
        time.sleep(INTERVAL)
        learner = reference()
        is_open = learner is not None and commit(learner)
        del learner  # this thread must not keep the learner alive


def _close_all() -> None:
    errors = []
    for learner, ways in list(_open.items()):
        try:
            ways.close(learner)
        except Exception as error:  # the others are closed all the same
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup("Not all learners could be closed.", errors)


atexit.register(_close_all)


def _before_fork() -> None:
    for learner, ways in list(_open.items()):
        if ways.lock.pause(PATIENCE):
            _paused.append(ways.lock)
            ways.flush(learner)


def _after_fork_in_parent() -> None:
    while _paused:
        _paused.pop().resume()


def _after_fork_in_child() -> None:
    _paused.clear()  # its locks are new


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
