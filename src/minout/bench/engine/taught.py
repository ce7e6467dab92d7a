"""A stream taught one example at a time, each step timed."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.bench.engine.tell import Tell, is_time, to_nobody
from minout.features import Identity
from minout.learner import Learner
from minout.rules import MarginRule

Ids = tuple[int | str, ...]


class Taught(NamedTuple):
    """Tells of each example, (n,): the wall time of its `teach`, and what that did.

    `moved` counts separators; `changes` holds the ids that became exceptions, and those that
    ceased to be, for each step that had such.
    """

    seconds: Floats
    moved: Ints
    refreshed: Bools
    changes: list[tuple[Ids, Ids]]


WITH_METRIC = MarginRule(metric=True, prior=True)
"""What `consolidate()` chooses for all of MNIST, from its training rows, held on to all along."""


def new_learner(rule: MarginRule | None = None) -> Learner:
    """Makes the learner that every part measures: the defaults, and rows kept as float32."""
    return Learner(rule=rule, features=Identity("float32"))


def teach(
    learner: Learner,
    rows: NDArray[Any],
    labels: Ints,
    tell: Tell = to_nobody,
    *,
    ids: Sequence[int] | None = None,
    what: str = "teaching",
) -> Taught:
    """Teaches rows (n, d) in their order."""
    n = len(labels)
    seconds, moved, refreshed = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    changes = []
    names = [None] * n if ids is None else ids
    for i, (x, y, name) in enumerate(zip(rows, labels.tolist(), names, strict=True)):
        start = time.perf_counter()
        report = learner.teach(x, y, name)
        seconds[i] = time.perf_counter() - start
        certificate = report.certificate
        assert certificate is not None
        moved[i] = len(certificate.moved)
        refreshed[i] = report.refresh is not None
        if certificate.exceptions or certificate.cleared:
            changes.append((certificate.exceptions, certificate.cleared))
        if is_time(i + 1, n):
            tell(what, i + 1, n)
    return Taught(seconds, moved, refreshed, changes)


def joined(pieces: Sequence[Taught]) -> Taught:
    """Makes one of pieces that were taught one after the other."""
    return Taught(
        np.concatenate([each.seconds for each in pieces]),
        np.concatenate([each.moved for each in pieces]),
        np.concatenate([each.refreshed for each in pieces]),
        [change for each in pieces for change in each.changes],
    )


def warm_up() -> None:
    """Compiles every kernel, or loads what was compiled before: not part of what is timed.

    Wide rows reach the bounds by blocks, which begin at 2,000 rows of more than 512 numbers; narrow
    ones that overlap reach the primal solver.
    """
    pinned = MarginRule(metric=True, prior=True, columns=False, price=1e-3)
    plain = MarginRule(metric=False, prior=False, columns=True, price=1e-3)
    _go_through(new_learner(pinned), 520, 2_200)
    for rule in (pinned, plain, MarginRule()):
        _go_through(new_learner(rule), 3, 200)
        _go_through(Learner(rule=rule), 3, 200)


def _go_through(learner: Learner, width: int, count: int) -> None:
    labels = np.arange(count) % 2
    rows = np.random.default_rng(0).normal(size=(count, width)) + 0.3 * labels[:, None]
    teach(learner, rows, labels)
    learner.forget(learner.ids[:3])
    learner.predict(rows)
    learner.consolidate()
    learner.suspects(1)
    learner.audit()
