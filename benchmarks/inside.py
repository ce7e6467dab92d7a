"""The only module that looks inside a learner, through `Learner.inspect`.

When the engine changes, this file follows; no other file of the benchmarks has to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout.engine import Audit, Inspection, StepReport, separators
from minout.learner import Learner

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


def weight_bytes(learner: Learner) -> int:
    """Return the size of all separators in bytes."""
    W, b = _weights(learner.inspect())
    return W.nbytes + b.nbytes


def separator_weights(learner: Learner) -> NDArray[np.float64]:
    """Return the weights of all separators: (separators, d)."""
    return _weights(learner.inspect())[0]


def chosen(learner: Learner) -> str:
    """Describe the settings that the learner chose from the data, in a few words."""
    choice = learner.choice
    words = [name for name in ("standardize", "whiten", "lda_prior") if getattr(choice, name)]
    return f"{' + '.join(words) or 'plain'}, C {choice.C:g}"


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
