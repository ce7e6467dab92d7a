"""The examples that an update can disturb: the paper's three sets, and many neurons.

`clipped` is a boolean table, a row per stored example, a column per neuron of one unit.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from minout._typing import Bools


class Partition(NamedTuple):
    """The stored examples, by whether an update of one neuron can disturb them."""

    s1: Bools
    s2: Bools
    s3: Bools


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
