"""Commit the changes of learners in the background, also when no further change comes."""

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

INTERVAL = 0.1
"""Seconds between two looks whether a commit is due."""

_open: "weakref.WeakKeyDictionary[Any, Callable[[Any], None]]" = weakref.WeakKeyDictionary()


def keep_committing(
    learner: Any, commit: Callable[[Any], bool], close: Callable[[Any], None]
) -> None:
    """Commit the changes of a learner when they are due, and at the end of the program.

    `commit` commits what is due and returns whether the learner is still open.
    """
    _open[learner] = close
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
        del learner  # a learner that nobody else uses is not to be kept


def _close_all() -> None:
    for learner, close in list(_open.items()):
        close(learner)


atexit.register(_close_all)
