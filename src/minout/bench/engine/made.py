"""Sets of rows made to a shape: an overlapping table, and vectors like an encoder's."""

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints

COLUMNS = 20
OVERLAP = 0.1
"""The share of rows on the wrong side of the best separator: the Bayes error."""


class Made(NamedTuple):
    """Is rows (n, d) to learn from in label order, and rows to test on."""

    rows: NDArray[Any]
    labels: Ints
    test_rows: NDArray[Any]
    test_labels: Ints


def overlapping(rows: int, test_rows: int, rng: np.random.Generator) -> Made:
    """Draws two Gaussian classes in 20 columns whose scales run from 0.001 to 10,000.

    Offsets are as uneven: of those sizes too, in another order and with either sign. Before
    scaling, the classes have unit variance and means 2·Φ⁻¹(0.9) apart in a random direction.
    """
    n = rows + test_rows
    labels = rng.integers(0, 2, n)
    direction = rng.normal(size=COLUMNS)
    direction /= np.linalg.norm(direction)
    half = NormalDist().inv_cdf(1.0 - OVERLAP)
    X = rng.normal(size=(n, COLUMNS)) + half * (2.0 * labels[:, None] - 1.0) * direction
    sizes = np.logspace(-3.0, 4.0, COLUMNS)
    scales = rng.permutation(sizes)
    offsets = rng.permutation(sizes) * rng.choice([-1.0, 1.0], COLUMNS)
    return _split(X * scales + offsets, labels, np.arange(n) < rows)


def encoded(
    classes: int,
    examples: int,
    held_out: int,
    dimensions: int,
    spread: float,
    rng: np.random.Generator,
) -> Made:
    """Draws vectors of unit length, float32, around a unit centre for each class."""
    each = examples + held_out
    labels = np.repeat(np.arange(classes), each)
    centres = _unit(rng.normal(size=(classes, dimensions)))
    noise = rng.normal(size=(len(labels), dimensions)) * (spread / np.sqrt(dimensions))
    X = _unit(centres[labels] + noise).astype(np.float32)
    return _split(X, labels, np.tile(np.arange(each) < examples, classes))


def _unit(X: Floats) -> Floats:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _split(X: NDArray[Any], labels: Ints, learn: NDArray[np.bool_]) -> Made:
    order = np.argsort(labels[learn], kind="stable")
    return Made(X[learn][order], labels[learn][order], X[~learn], labels[~learn])
