"""Divide rows into clusters by k-means, from fixed starts: the same rows, the same clusters."""

from collections.abc import Iterator

import numpy as np

from minout._typing import Floats, Ints

BLOCKS = 4
"""So many blocks of rows have candidates for the first centres; the best result counts."""
CANDIDATES = 32
ROUNDS = 50


def centres(Z: Floats, k: int) -> Floats:
    """Return the centres of at most k clusters of the rows of Z (n, d), none of them empty.

    The rows must be in an order that has nothing to do with their positions, because the first ones
    are candidates for the start. There are several starts, and the result with the least sum of
    squared distances counts.
    """
    if k == 1:
        return np.asarray(Z.mean(axis=0, keepdims=True))
    found = [_improved(Z, start) for start in _starts(Z, k)]
    return found[int(np.argmin([squares for _, squares in found]))][0]


def nearest(Z: Floats, centres: Floats) -> Ints:
    """Return the number of the nearest centre of each row; of equally near ones, the first."""
    theirs = np.einsum("ij,ij->i", centres, centres)
    return np.asarray((theirs - 2.0 * (Z @ centres.T)).argmin(axis=1))


def _starts(Z: Floats, k: int) -> Iterator[Floats]:
    # Rows far from each other; then, from each block of candidates, those that bring the rows
    # closest to their centres, one after the other.
    yield _far_apart(Z, k)
    size = max(CANDIDATES, 4 * k)
    for block in range(BLOCKS if len(Z) > size else 1):
        rows = (np.arange(min(size, len(Z))) + block * size) % len(Z)
        apart, lowest, taken = _squares(Z, Z[rows]), np.full(len(Z), np.inf), []
        for _ in range(k):
            left = np.minimum(apart, lowest[:, None])
            taken.append(int(left.sum(axis=0).argmin()))
            lowest = left[:, taken[-1]]
        yield Z[rows[taken]]


def _far_apart(Z: Floats, k: int) -> Floats:
    # The row furthest from the mean, then always the one furthest from those taken.
    taken = [int(_squares(Z, Z.mean(axis=0, keepdims=True))[:, 0].argmax())]
    lowest = np.full(len(Z), np.inf)
    for _ in range(k - 1):
        lowest = np.minimum(lowest, _squares(Z, Z[taken[-1:]])[:, 0])
        taken.append(int(lowest.argmax()))
    return Z[taken]


def _improved(Z: Floats, start: Floats) -> tuple[Floats, float]:
    # Lloyd's rounds: the nearest centre of each row, then the mean of the rows of each centre.
    # Centres without rows are dropped.
    means, before = start, None
    for _ in range(ROUNDS):
        found = nearest(Z, means)
        if before is not None and np.array_equal(found, before):
            break
        counts = np.bincount(found, minlength=len(means))
        used = np.flatnonzero(counts)
        member = (found[:, None] == used).astype(np.float64)
        means = np.asarray((member.T @ Z) / counts[used][:, None])
        before = found if len(used) == len(counts) else None  # otherwise they are renumbered
    return means, float(_squares(Z, means).min(axis=1).sum())


def _squares(Z: Floats, centres: Floats) -> Floats:
    own, theirs = np.einsum("ij,ij->i", Z, Z), np.einsum("ij,ij->i", centres, centres)
    return np.asarray(np.maximum(own[:, None] - 2.0 * (Z @ centres.T) + theirs, 0.0))
