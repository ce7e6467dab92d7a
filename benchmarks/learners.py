"""The learners that are measured: how to build them, teach and time them."""

import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Array, Ints
from benchmarks.inside import Id, step_summary
from benchmarks.parts import Progress, no_progress, worth_showing
from minout.features import Identity
from minout.learner import Learner
from minout.paper import GradientRule, PaperLearner

Auto = Literal["auto"]


class Pins(NamedTuple):
    """Settings of a learner. "auto" has a setting chosen from the data; a value pins it.

    `C` has scikit-learn's meaning. `whiten` measures distances by the within-class covariance,
    `lda_prior` starts from the linear discriminant, `standardize` divides each column by its
    standard deviation. With refresh="manual" only `consolidate()` renews what was chosen. A label
    has at most `regions` regions, and `expand` hat functions of each column are added. `keep` is
    the window, `memory` how rows are stored.
    """

    C: float | Auto = "auto"
    whiten: bool | Auto = "auto"
    lda_prior: bool | Auto = "auto"
    standardize: bool | Auto = "auto"
    refresh: Literal["auto", "manual"] = "auto"
    regions: int | Auto = "auto"
    expand: int | Auto | None = "auto"
    keep: Any = "all"
    memory: Any = "auto"


AUTOMATIC = Pins()
WHITENED = Pins(whiten=True, lda_prior=True)
"""What `consolidate()` chooses for all of MNIST from its training rows, pinned from the start."""
PINNED = Pins(C=500.0, whiten=True, lda_prior=True, standardize=False)
PLAIN = Pins(C=500.0, whiten=False, lda_prior=False, standardize=True)
MANUAL_REFRESH = Pins(refresh="manual")
STRAIGHT = Pins(regions=1, expand=None)
"""One region per label and no hat functions: the separators are planes."""


def new_learner(
    pins: Pins = AUTOMATIC, *, dtype: Literal["float32", "float64"] = "float32"
) -> Learner:
    """Return a new learner of the exact engine that stores its rows in `dtype`."""
    return Learner(**pins._asdict(), features=Identity(dtype))


def consolidated_learner(
    pins: Pins, rows: Array, labels: Ints, *, dtype: Literal["float32", "float64"] = "float32"
) -> Learner:
    """Return a consolidated learner of rows (n, d), without the refreshes of a stream.

    Those change nothing in a consolidated model, but take time.
    """
    learner = new_learner(pins._replace(refresh="manual"), dtype=dtype)
    learner.teach_many(rows, labels.tolist())
    learner.consolidate()
    return learner


def new_paper_learner(
    classes: Ints, *, seed: int, rule: GradientRule | None = None
) -> PaperLearner:
    """Return the paper's learner with conditional rehearsal."""
    return PaperLearner(classes, rule=GradientRule() if rule is None else rule, seed=seed)


class Steps(NamedTuple):
    """The steps of a stream, one per example: arrays (n,).

    `seconds` is the wall time of each `teach`, `moved` the number of separators that it moved.
    `changes` holds the new and the former misfits of every step that had some.
    """

    seconds: NDArray[np.float64]
    moved: Ints
    refreshed: NDArray[np.bool_]
    changes: list[tuple[tuple[Id, ...], tuple[Id, ...]]]


def teach(
    learner: Learner,
    rows: Array,
    labels: Ints,
    progress: Progress = no_progress,
    *,
    ids: Sequence[int] | None = None,
    what: str = "teaching",
) -> Steps:
    """Teach rows (n, d) one by one, in their order, and time each step."""
    n = len(labels)
    seconds, moved, refreshed = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    changes = []
    names: Sequence[Any] = [None] * n if ids is None else ids
    for i, (x, y, name) in enumerate(zip(rows, labels.tolist(), names, strict=True)):
        start = time.perf_counter()
        report = learner.teach(x, y, name)
        seconds[i] = time.perf_counter() - start
        step = step_summary(report)
        moved[i], refreshed[i] = step.moved, step.refreshed
        if step.new_misfits or step.former_misfits:
            changes.append((step.new_misfits, step.former_misfits))
        if worth_showing(i + 1, n):
            progress(what, i + 1, n)
    return Steps(seconds, moved, refreshed, changes)


def concatenate_steps(pieces: Sequence[Steps]) -> Steps:
    """Return the steps of consecutive pieces of a stream as one."""
    return Steps(
        np.concatenate([each.seconds for each in pieces]),
        np.concatenate([each.moved for each in pieces]),
        np.concatenate([each.refreshed for each in pieces]),
        [change for each in pieces for change in each.changes],
    )


def compile_kernels() -> None:
    """Compile every kernel, or load it from the cache, so that this is not timed later.

    Wide rows reach the bounds by blocks, which begin at 2,000 rows of more than 512 columns;
    narrow rows of overlapping classes reach the primal solver.
    """
    _exercise(new_learner(PINNED), 520, 2_200)
    for pins in (PINNED, PLAIN, AUTOMATIC):
        _exercise(new_learner(pins), 3, 200)
        _exercise(new_learner(pins, dtype="float64"), 3, 200)


def _exercise(learner: Learner, columns: int, count: int) -> None:
    labels = np.arange(count) % 2
    rows = np.random.default_rng(0).normal(size=(count, columns)) + 0.3 * labels[:, None]
    teach(learner, rows, labels)
    learner.forget(learner.ids[:3])
    learner.predict(rows)
    learner.consolidate()
    learner.suspects(1)
    learner.audit()
