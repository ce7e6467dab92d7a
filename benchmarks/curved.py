"""Drawn tables whose classes no plane separates: moons, checkerboard, thresholds, XOR, clusters."""

from collections.abc import Callable

import numpy as np

from benchmarks.data import SETS, Array, Ints, Rng, Split, in_label_order, split_rows

WRONG = 0.05
"""Share of wrong labels of the checkerboard, the thresholds and the XOR, in the test rows too."""
LEARNED = 0.75
"""At most this share of a set that is not drawn anew is learned from."""
CELLS = 4
COLUMNS = 12
CLUSTERS = 4
DISTANCE = 6.0
"""Mean distance of two clusters, in standard deviations."""


def curved_split(name: str, rows: int, test_rows: int, rng: Rng) -> Split:
    """Draw rows of one of `CURVED` to learn from, in label order, and rows to test on."""
    X, labels = CURVED[name](rows + test_rows, rng)
    order = in_label_order(labels[:rows])
    return Split(X[:rows][order], labels[:rows][order], X[rows:], labels[rows:])


def split_any(name: str, rows: int, test_rows: int, rng: Rng) -> Split | None:
    """Draw rows of one of `CURVED`, or of `SETS`, where all other rows are for testing.

    None if that is more than three quarters of the set.
    """
    if name in CURVED:
        return curved_split(name, rows, test_rows, rng)
    X, y = SETS[name](rng)
    return split_rows(X, y.astype(np.int64), rows, rng) if rows <= LEARNED * len(y) else None


def clusters(count: int, rng: Rng, *, classes: int = 3) -> tuple[Array, Ints]:
    """Draw classes of four Gaussian clusters each, in 12 columns; `count` rows in random order."""
    centres = DISTANCE * rng.normal(size=(classes * CLUSTERS, COLUMNS)) / np.sqrt(2.0 * COLUMNS)
    cluster = rng.integers(0, len(centres), count)
    return centres[cluster] + rng.normal(size=(count, COLUMNS)), cluster % classes


def _moons(count: int, rng: Rng) -> tuple[Array, Ints]:
    from sklearn.datasets import make_moons

    X, y = make_moons(count, noise=0.25, random_state=int(rng.integers(2**31)))
    return X, y.astype(np.int64)


def _checkerboard(count: int, rng: Rng) -> tuple[Array, Ints]:
    X = rng.uniform(0.0, CELLS, (count, 2))
    return X, _some_wrong(np.floor(X).sum(axis=1) % 2 == 1, rng)


def _thresholds(count: int, rng: Rng) -> tuple[Array, Ints]:
    # Half of the columns add a number of their own where they lie between two thresholds.
    X = rng.normal(size=(count, COLUMNS))
    half = COLUMNS // 2
    middle, weights = rng.uniform(-0.7, 0.7, half), rng.uniform(0.5, 1.5, half)
    total = (np.abs(X[:, :half] - middle) < 0.7) @ weights
    scales = 10.0 ** rng.uniform(-2.0, 2.0, COLUMNS)
    return X * scales, _some_wrong(total > weights.sum() / 2.0, rng)


def _xor(count: int, rng: Rng) -> tuple[Array, Ints]:
    # The signs of two columns of six; the others are noise.
    X = rng.normal(size=(count, COLUMNS // 2))
    return X, _some_wrong(X[:, 0] * X[:, 1] > 0.0, rng)


def _some_wrong(is_one: Array, rng: Rng) -> Ints:
    return (is_one ^ (rng.random(len(is_one)) < WRONG)).astype(np.int64)


CURVED: dict[str, Callable[[int, Rng], tuple[Array, Ints]]] = {
    "moons": _moons,
    "checkerboard": _checkerboard,
    "thresholds": _thresholds,
    "XOR": _xor,
    "clusters": clusters,
}
