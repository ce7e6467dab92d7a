"""What only a benchmark may look at behind the learner's door: weights, and what rests on whom."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats
from minout.learner import Learner
from minout.learner._margin import Margin


class Difference(NamedTuple):
    """Is how far two models are apart, at the separator where they differ most.

    `weights` is ‖w - w'‖ / ‖w‖; `bias` is how far their activations at the origin of the first, the
    mean of its data, are apart, in units of the target margin.
    """

    weights: float
    bias: float


def difference(one: Learner, other: Learner) -> Difference:
    """Compares two consolidated learners of the same classes, whose separators have one order."""
    (W, b), (V, c) = _separators(one), _separators(other)
    moved = _margin(one).geometry.origin - _margin(other).geometry.origin
    weights = np.linalg.norm(W - V, axis=1) / np.linalg.norm(W, axis=1)
    bias = np.abs(b - (c + V @ moved))
    return Difference(float(weights.max(initial=0.0)), float(bias.max(initial=0.0)))


def supporters(learner: Learner) -> set[int | str]:
    """Names the examples that some separator rests on."""
    margin = _margin(learner)
    return {
        margin.ids[place]
        for pool in margin.pools
        for place in pool.places[pool.alpha > 0.0].tolist()
    }


def weight_bytes(learner: Learner) -> int:
    """Counts the bytes of the separators in use."""
    W, b = _separators(learner)
    return W.nbytes + b.nbytes


def chosen(learner: Learner) -> str:
    """Says what the learner chose from the data, in a few words."""
    shape, price, _ = learner.choice
    words = [name for name in ("columns", "metric", "prior") if getattr(shape, name)]
    return f"{' + '.join(words) or 'plain'}, λ {price:g}"


def _separators(learner: Learner) -> tuple[Floats, Floats]:
    margin = _margin(learner)
    pairs = len(margin.labels) * (len(margin.labels) - 1) // 2
    return margin.W[:pairs], margin.b[:pairs]


def _margin(learner: Learner) -> Margin:
    margin = learner._margin
    assert margin is not None
    return margin
