"""Equal examples taken together: one of each, with the sum of their weights."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints, Words


class Distinct(NamedTuple):
    """One of each set of equal examples, in the order of digests and labels.

    `first` (m,) is the number of one of them, `weights` (m,) the sum of their weights.
    """

    first: Ints
    weights: Floats


def distinct(digests: Words, labels: Ints, weights: Floats) -> Distinct:
    """Return one of the examples with each digest and label.

    The sums do not depend on the order of the examples.
    """
    order = np.lexsort((weights, labels, digests))
    digest, label = digests[order], labels[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (digest[1:] != digest[:-1]) | (label[1:] != label[:-1])
    starts = np.flatnonzero(is_first)
    if len(starts) == len(order):
        return Distinct(order, weights[order])
    return Distinct(order[starts], np.add.reduceat(weights[order], starts))
