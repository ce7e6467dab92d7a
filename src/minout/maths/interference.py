"""The examples that an update can disturb: the paper's three sets, and many neurons.

`clipped` is a boolean table, a row per stored example, a column per neuron of one unit.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints

HARD_CLIP = 0.0
"""A neuron of a clipped minout unit is clipped where a ≤ 0."""

SIGMOID_CLIP = float(np.log(0.1 / 0.9))
"""σ(a) < 0.1 where a < log(0.1 / 0.9); the paper's threshold, moved before the sigmoid."""


class Partition(NamedTuple):
    """The stored examples, by whether an update of one neuron can disturb them."""

    s1: Bools
    s2: Bools
    s3: Bools


def clipped(a: Floats, threshold: float = HARD_CLIP) -> Bools:
    """Return which neurons of a minout unit are clipped."""
    return np.asarray(a <= threshold)


def clipped_above(a: Floats) -> Bools:
    """Return which neurons of a clipped maxout unit are clipped: the mirror, z_j = 0."""
    return np.asarray(a >= 0.0)


def partition(clipped: Bools, neuron: int) -> Partition:
    """Return S1 (no neuron clipped), S2 (only `neuron`), S3 (some other one), as masks of rows."""
    undisturbed = ~interfered(clipped, [neuron])
    own = clipped[:, neuron]
    return Partition(s1=~undisturbed & ~own, s2=~undisturbed & own, s3=undisturbed)


def interfered(clipped: Bools, neurons: Iterable[int]) -> Bools:
    """Return which rows an update of a set J of neurons can disturb: those with clipped(x) ⊆ J.

    Any other x has a clipped neuron outside J, so h(x) = 0 before and after. For J = {j} this is
    S1 ∪ S2, the paper's Ŝ.
    """
    outside = np.ones(clipped.shape[1], dtype=bool)
    outside[list(neurons)] = False
    return np.logical_not(clipped[:, outside].any(axis=1))


def interfered_if_fixed(winners: Ints, new: Ints) -> Bools:
    """Return the rows that a new example disturbs if the choice G of neurons is fixed.

    `winners` (n, m) holds G_i(x) of the stored rows, `new` (m,) that of the new one. The paper
    writes "for all i"; sharing one neuron in any unit is enough, so it is "for some i".
    """
    return np.asarray((winners == new).any(axis=1))
