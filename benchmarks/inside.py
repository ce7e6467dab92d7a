"""The only module that looks inside a learner: through `Learner.inspect`, and at single pools.

When the engine changes, this file follows; no other file of the benchmarks has to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import seconds_of
from minout.engine import Audit, Choice, Inspection, StepReport, frame, separators
from minout.engine.images import Images
from minout.engine.pool import Pool, Problem
from minout.kernels import one_blas_thread
from minout.learner import Learner
from minout.maths import Geometry, Prior

Id = int | str


class Difference(NamedTuple):
    """The largest differences between two models, over all separators.

    `weights` is ‖w - w'‖ / ‖w‖. `bias` is the difference of the activations at the first model's
    origin, the mean of its data, in units of the target margin.
    """

    weights: float
    bias: float


def difference(one: Learner, other: Learner) -> Difference:
    """Compare two consolidated learners of the same classes."""
    first, second = one.inspect(), other.inspect()
    (W, b), (V, c) = _weights(first), _weights(second)
    weights = np.linalg.norm(W - V, axis=1) / np.linalg.norm(W, axis=1)
    bias = np.abs(b - (c + V @ (first.origin - second.origin)))
    return Difference(float(weights.max(initial=0.0)), float(bias.max(initial=0.0)))


def support_ids(learner: Learner) -> set[Id]:
    """Return the ids of the examples that are a support vector of some separator."""
    return {
        example_id
        for separator in learner.inspect().separators.values()
        for example_id, alpha in zip(separator.ids, separator.alpha, strict=True)
        if alpha > 0.0
    }


class StoredSeparators(NamedTuple):
    """How many separators a learner stores, and the bytes of their weights and biases."""

    count: int
    bytes: int


def stored_separators(learner: Learner) -> StoredSeparators:
    """Count the separators that a learner stores with weights of their own."""
    weights = [each.w for each in learner.inspect().separators.values()]
    return StoredSeparators(len(weights), sum(w.nbytes + w.itemsize for w in weights))


def separator_weights(learner: Learner) -> NDArray[np.float64]:
    """Return the weights of all separators: (separators, d)."""
    return _weights(learner.inspect())[0]


def chosen(learner: Learner) -> str:
    """Describe the settings that the learner chose from the data, in a few words."""
    choice = learner.choice
    words = [name for name in ("standardize", "whiten", "lda_prior") if getattr(choice, name)]
    return f"{' + '.join(words) or 'plain'}, C {choice.C:g}"


class Form(NamedTuple):
    """How many regions a label has at most, and how many hat functions (hats) each column."""

    regions: int
    hats: int

    def __str__(self) -> str:
        return f"{self.regions} × {self.hats}"


def form(learner: Learner) -> Form:
    """Return the form of the learner's model."""
    return Form(learner.choice.regions, learner.choice.hats)


@contextmanager
def timed_choices() -> Iterator[list[float]]:
    """Collect the seconds of every choice of settings by cross-validation."""
    choose, seconds = frame.choose, list[float]()

    def timed(*arguments: Any) -> Choice:
        start = perf_counter()
        choice = choose(*arguments)
        seconds.append(perf_counter() - start)
        return choice

    frame.choose = timed
    try:
        yield seconds
    finally:
        frame.choose = choose


def misfits(source: Learner | Audit) -> set[Id]:
    """Return the ids that a learner lists as misfits, or that an audit found to be misfits."""
    return set(source.misfits)


@contextmanager
def settling_at_once() -> Iterator[None]:
    """Let no example wait: every separator in which a margin is low is settled at once."""
    shares = separators.PENDING_SHARE, separators.FITTED_SHARE
    separators.PENDING_SHARE = separators.FITTED_SHARE = 0.0
    try:
        yield
    finally:
        separators.PENDING_SHARE, separators.FITTED_SHARE = shares


class PoolSolve(NamedTuple):
    """A pool that was solved again, and the seconds of this and of the same from scratch.

    `inside` rows have α > 0; `changed` counts those that had not before, and those that had.
    """

    inside: int
    changed: int
    seconds: float
    scratch_seconds: float


class LargePool:
    """The first `members` rows of a table, solved for w; the others may join."""

    def __init__(
        self, table: NDArray[np.float32], signs: NDArray[np.float64], members: int
    ) -> None:
        d = table.shape[1]
        geometry = Geometry(np.zeros(d), np.full(d, 1.0 / d), np.full(d, float(d)))
        ones, images = np.ones(len(table)), Images(geometry, table.dtype)
        self._problem = Problem(table, ones, geometry, images, 0.5)
        self._signs = signs
        self._pool = self._joined(self._empty(), np.arange(members))
        self._pool.solve(self._problem)
        w, b = self._pool.weights(self._problem)
        margins = signs * (table @ w + b)
        self._low = members + np.flatnonzero(margins[members:] < 0.5)

    @one_blas_thread()
    def solve(self, joined: int) -> PoolSolve:
        """Let some rows with a low margin join, and solve."""
        pool, places = self._pool.fork(), self._low[:joined]
        before = self._joined(pool, places).alpha > 0.0
        seconds = seconds_of(pool.solve, self._problem)
        after = pool.alpha > 0.0
        scratch = self._joined(self._empty(), pool.places)
        scratch_seconds = seconds_of(scratch.solve, self._problem)
        changed = int((before != after).sum())
        return PoolSolve(int(after.sum()), changed, seconds, scratch_seconds)

    def _empty(self) -> Pool:
        return Pool(Prior(np.zeros(self._problem.table.shape[1]), 0.0))

    def _joined(self, pool: Pool, places: NDArray[np.int64]) -> Pool:
        pool.join(places, self._signs[places])
        return pool


class StepSummary(NamedTuple):
    """What one step changed: separators moved, ids that became or ceased to be misfits."""

    moved: int
    refreshed: bool
    new_misfits: tuple[Id, ...]
    former_misfits: tuple[Id, ...]


def step_summary(report: StepReport) -> StepSummary:
    """Summarise the report of one `teach`."""
    certificate = report.certificate
    return StepSummary(
        len(certificate.moved),
        report.refresh is not None,
        certificate.misfits,
        certificate.cleared,
    )


def _weights(inside: Inspection) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    separators = inside.separators.values()
    W = np.array([each.w for each in separators]).reshape(-1, len(inside.origin))
    return W, np.array([each.b for each in separators])
