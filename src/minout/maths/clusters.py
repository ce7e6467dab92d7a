"""Divide rows into clusters by k-means, from fixed starts: the same rows, the same clusters.

Sums run first to last, over columns and over rows. `native/clusters.hpp` computes the same bits.
"""

from collections.abc import Iterator

import numpy as np

from minout._typing import Floats, Ints

BLOCKS = 4  # so many blocks of rows have candidates for the first centres; the best result counts
CANDIDATES = 32
ROUNDS = 50


def centres(Z: Floats, k: int, weights: Floats | None = None) -> Floats:
    """Return the centres of at most k clusters of the rows of Z (n, d), none of them empty.

    The rows must be in an order that has nothing to do with their positions, because the first ones
    are candidates for the start. There are several starts, and the result with the least sum of
    squared distances counts. In means and sums rows count by their weights (n,), 1 by default.
    """
    weights = np.ones(len(Z)) if weights is None else weights
    if k == 1:
        return _mean(Z, weights)
    found = [_improved(Z, start, weights) for start in _starts(Z, k, weights)]
    return found[int(np.argmin([squares for _, squares in found]))][0]


def nearest(Z: Floats, centres: Floats) -> Ints:
    """Return the number of the nearest centre of each row; of equally near ones, the first."""
    return np.asarray((_own(centres) - 2.0 * _products(Z, centres)).argmin(axis=1))


def _mean(Z: Floats, weights: Floats) -> Floats:
    return np.asarray(_total(weights[:, None] * Z)[None] / _total(weights))


def _starts(Z: Floats, k: int, weights: Floats) -> Iterator[Floats]:
    # Rows far from each other; then, from each block of candidates, those that bring the rows
    # closest to their centres, one after the other.
    yield _far_apart(Z, k, weights)
    size = max(CANDIDATES, 4 * k)
    for block in range(BLOCKS if len(Z) > size else 1):
        rows = (np.arange(min(size, len(Z))) + block * size) % len(Z)
        apart, lowest, taken = _squares(Z, Z[rows]), np.full(len(Z), np.inf), []
        for _ in range(k):
            left = np.minimum(apart, lowest[:, None])
            taken.append(int(_total(weights[:, None] * left).argmin()))
            lowest = left[:, taken[-1]]
        yield Z[rows[taken]]


def _far_apart(Z: Floats, k: int, weights: Floats) -> Floats:
    # The row furthest from the mean, then always the one furthest from those taken.
    taken = [int(_squares(Z, _mean(Z, weights))[:, 0].argmax())]
    lowest = np.full(len(Z), np.inf)
    for _ in range(k - 1):
        lowest = np.minimum(lowest, _squares(Z, Z[taken[-1:]])[:, 0])
        taken.append(int(lowest.argmax()))
    return Z[taken]


def _improved(Z: Floats, start: Floats, weights: Floats) -> tuple[Floats, float]:
    # Lloyd's rounds: the nearest centre of each row, then the mean of the rows of each centre.
    # Centres without rows are dropped.
    means, before = start, None
    for _ in range(ROUNDS):
        found = nearest(Z, means)
        if before is not None and np.array_equal(found, before):
            break
        totals = np.bincount(found, weights, minlength=len(means))
        used = np.flatnonzero(totals)
        sums = np.zeros((len(means), Z.shape[1]))
        np.add.at(sums, found, weights[:, None] * Z)
        means = np.asarray(sums[used] / totals[used][:, None])
        before = found if len(used) == len(totals) else None  # otherwise they are renumbered
    return means, float(_total(weights * _squares(Z, means).min(axis=1)))


def _squares(Z: Floats, centres: Floats) -> Floats:
    own = _own(Z)[:, None] - 2.0 * _products(Z, centres)
    return np.asarray(np.maximum(own + _own(centres), 0.0))


def _products(Z: Floats, centres: Floats) -> Floats:
    out = np.zeros((len(Z), len(centres)))
    for column, theirs in zip(Z.T, centres.T, strict=True):
        out += column[:, None] * theirs
    return out


def _own(Z: Floats) -> Floats:
    return np.asarray(np.cumsum(Z * Z, axis=1)[:, -1])


def _total(values: Floats) -> Floats:
    return np.asarray(np.cumsum(values, axis=0)[-1])
