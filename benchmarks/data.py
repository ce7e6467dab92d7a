"""Data sets that need no files: synthetic ones and scikit-learn's, split, and label order."""

from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int64]
Rng = np.random.Generator

TEST_SHARE = 0.25
COLUMNS = 20
BAYES_ERROR = 0.1

NEIGHBOURS = 10
"""Classes of one group in `embedding_vectors`; they are easily confused."""
NEAR, FAR = 5.25, 14.0
"""Mean distance of two classes of one group and of two groups, in standard deviations."""
SCALES = 0.3
"""Standard deviation of the logarithm of a class's own scale."""
OWN_DIRECTIONS, OWN_SPREAD = 10, 3.0
"""Directions in which a class has a spread of its own, and its size in standard deviations."""


class Split(NamedTuple):
    """Rows (n, d) to learn from, in label order, and rows to test on."""

    rows: Array
    labels: Ints
    test_rows: Array
    test_labels: Ints


def in_label_order(labels: Ints, *, descending: bool = False) -> Ints:
    """Return the row numbers sorted by label; equal labels keep their order."""
    return np.argsort(-labels if descending else labels, kind="stable")


def split_set(name: str, seed: int, *, test_share: float = TEST_SHARE) -> Split:
    """Split one of `SETS` by a seed: a quarter of each class, or another share, is for testing."""
    from sklearn.model_selection import train_test_split

    X, y = SETS[name](np.random.default_rng(seed))
    rows, test_rows, labels, test_labels = train_test_split(
        X, y.astype(np.int64), test_size=test_share, stratify=y, random_state=seed
    )
    order = in_label_order(labels)
    return Split(rows[order], labels[order], test_rows, test_labels)


def split_rows(X: Array, labels: Ints, size: int, rng: Rng) -> Split:
    """Draw `size` rows to learn from, each class in proportion; all others are for testing."""
    from sklearn.model_selection import train_test_split

    rows, test_rows, own, test_labels = train_test_split(
        X, labels, train_size=size, stratify=labels, random_state=int(rng.integers(2**31))
    )
    order = in_label_order(own)
    return Split(rows[order], own[order], test_rows, test_labels)


def two_gaussians(rows: int, test_rows: int, rng: Rng) -> Split:
    """Draw two overlapping Gaussian classes in 20 columns with very different scales.

    Before scaling, the classes have unit variance and means 2·Φ⁻¹(0.9) apart in a random
    direction, so the Bayes error is 10 %. The scales run from 0.001 to 10,000; the offsets have
    the same sizes in another order and random signs.
    """
    n = rows + test_rows
    labels = rng.integers(0, 2, n)
    direction = rng.normal(size=COLUMNS)
    direction /= np.linalg.norm(direction)
    half = NormalDist().inv_cdf(1.0 - BAYES_ERROR)
    X = rng.normal(size=(n, COLUMNS)) + half * (2.0 * labels[:, None] - 1.0) * direction
    sizes = np.logspace(-3.0, 4.0, COLUMNS)
    scales = rng.permutation(sizes)
    offsets = rng.permutation(sizes) * rng.choice([-1.0, 1.0], COLUMNS)
    return _split_at(X * scales + offsets, labels, np.arange(n) < rows)


def encoder_vectors(
    classes: int, examples: int, held_out: int, *, dimensions: int, spread: float, rng: Rng
) -> Split:
    """Draw vectors like a neural encoder's: unit length, float32, around a centre per class.

    `examples` and `held_out` are per class; `spread` is the length of the noise around a centre
    of length 1.
    """
    each = examples + held_out
    labels = np.repeat(np.arange(classes), each)
    centres = _unit_length(rng.normal(size=(classes, dimensions)))
    noise = rng.normal(size=(len(labels), dimensions)) * (spread / np.sqrt(dimensions))
    X = _unit_length(centres[labels] + noise).astype(np.float32)
    return _split_at(X, labels, np.tile(np.arange(each) < examples, classes))


def embedding_vectors(
    classes: int, examples: int, held_out: int, *, dimensions: int, differing: bool, rng: Rng
) -> Split:
    """Draw float32 vectors with the spectrum of text embeddings, in groups of similar classes.

    The eigenvalues of the within-class covariance decay like those of text embeddings, in
    proportion to (j + 5)^-0.7, j = 0, 1, …, in a random rotation. Centres have the same spectrum:
    measured by this covariance, two classes of one group of ten are 5.25 standard deviations apart
    on average, two groups 14. The labels of a group are spread over all labels.

    With `differing`, each class has a scale of its own (log-normal, with a deviation of 0.3) and
    a further spread of 3 standard deviations in ten random directions of its own, so that linear
    discriminant analysis (LDA) is not optimal; rows have unit length. Without it, the covariance
    of all classes is exactly one and LDA is optimal. Rows are then divided by one number, their
    root mean square length, because unit lengths would make the covariances differ.

    Parameters
    ----------
    classes, examples, held_out : int
        Number of classes; vectors of each to learn from and to test on.
    dimensions : int
        Columns.
    differing : bool
        Whether each class has a covariance of its own.
    rng : numpy.random.Generator
        The source of all randomness.
    """
    each = examples + held_out
    to_columns = _embedding_spectrum(dimensions, rng)
    group = rng.permutation(classes) // NEIGHBOURS
    centres = FAR * rng.normal(size=(group.max() + 1, dimensions))[group]
    centres = (centres + NEAR * rng.normal(size=centres.shape)) / np.sqrt(2.0 * dimensions)
    X = np.empty((classes * each, dimensions), dtype=np.float32)
    for c, centre in enumerate(centres):
        Z = rng.normal(size=(each, dimensions))
        if differing:
            Z = _own_covariance(Z, rng)
        X[c * each : (c + 1) * each] = (centre + Z) @ to_columns
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    X /= lengths if differing else np.sqrt(np.square(lengths, dtype=np.float64).mean())
    labels = np.repeat(np.arange(classes), each)
    return _split_at(X, labels, np.tile(np.arange(each) < examples, classes))


def _embedding_spectrum(dimensions: int, rng: Rng) -> Array:
    # Maps uncorrelated numbers of variance 1 to columns.
    rotation = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
    return np.asarray((np.arange(dimensions)[:, None] + 5.0) ** (-0.7 / 2.0) * rotation)


def _own_covariance(Z: Array, rng: Rng) -> Array:
    # Z has variance 1 in every direction.
    n, dimensions = Z.shape
    count = min(OWN_DIRECTIONS, dimensions)
    directions = np.linalg.qr(rng.normal(size=(dimensions, count)))[0]
    own = OWN_SPREAD * rng.normal(size=(n, count)) @ directions.T
    return np.asarray(np.exp(SCALES * rng.normal()) * (Z + own))


def gaussian_table(
    columns: int, rows: int, *, classes: int, distance: float, rng: Rng
) -> tuple[Array, Ints]:
    """Draw Gaussian classes in label order, in columns with scales from 0.001 to 1,000.

    Before scaling, two class means are `distance` standard deviations apart on average.
    """
    labels = np.sort(rng.integers(0, classes, rows))
    means = rng.normal(size=(classes, columns)) * distance / np.sqrt(2.0 * columns)
    scales = 10.0 ** rng.uniform(-3.0, 3.0, columns)
    return (means[labels] + rng.normal(size=(rows, columns))) * scales, labels


Loader = Callable[[Rng], tuple[Array, Ints]]


def _sklearn(name: str) -> Loader:
    def load(_: Rng) -> tuple[Array, Ints]:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return load


def _blobs(classes: int, each: int, columns: int, distance: float) -> Loader:
    def draw(rng: Rng) -> tuple[Array, Ints]:
        labels = np.repeat(np.arange(classes), each)
        centres = distance * rng.normal(size=(classes, columns)) / np.sqrt(columns)
        return centres[labels] + rng.normal(size=(len(labels), columns)), labels

    return draw


def _mixed_units(rng: Rng) -> tuple[Array, Ints]:
    # Scales from 0.001 to 10,000, offsets of the same sizes, and three constant columns.
    X, labels = _blobs(3, 200, 12, 5.0)(rng)
    sizes = np.logspace(-3.0, 4.0, 12)
    X = X * rng.permutation(sizes) + rng.permutation(sizes) * rng.choice([-1.0, 1.0], 12)
    constant = np.broadcast_to([0.0, 1.0, -1e4], (len(X), 3))
    return np.hstack([X[:, :6], constant, X[:, 6:]]), labels


def _one_column(rng: Rng) -> tuple[Array, Ints]:
    labels = np.repeat(np.arange(2), 200)
    return (3.0 * labels + rng.normal(size=400))[:, None], labels


SETS: dict[str, Loader] = {
    "iris": _sklearn("iris"),
    "wine": _sklearn("wine"),
    "breast cancer": _sklearn("breast_cancer"),
    "digits": _sklearn("digits"),
    "mixed units": _mixed_units,
    "one column": _one_column,
    "10,000 columns": _blobs(4, 60, 10_000, 24.0),
    "20 classes": _blobs(20, 60, 30, 7.0),
    "200 classes": _blobs(200, 16, 40, 9.0),
}


def _unit_length(X: Array) -> Array:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _split_at(X: Array, labels: Ints, learn: NDArray[np.bool_]) -> Split:
    order = in_label_order(labels[learn])
    return Split(X[learn][order], labels[learn][order], X[~learn], labels[~learn])
