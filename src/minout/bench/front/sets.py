"""Tables as people bring them: scikit-learn's own, and made ones that go to extremes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints

TEST_SHARE = 0.25


class Split(NamedTuple):
    """Is rows to learn from, in label order, and rows to test on."""

    rows: NDArray[Any]
    labels: Ints
    test_rows: NDArray[Any]
    test_labels: Ints


def split(name: str, seed: int) -> Split:
    """Divides a table by a seed, a quarter of each class to test on."""
    from sklearn.model_selection import train_test_split

    X, y = SETS[name](np.random.default_rng(seed))
    rows, test_rows, labels, test_labels = train_test_split(
        X, y.astype(np.int64), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    order = np.argsort(labels, kind="stable")
    return Split(rows[order], labels[order], test_rows, test_labels)


def _shipped(name: str) -> Callable[[np.random.Generator], tuple[NDArray[Any], Ints]]:
    def load(_: np.random.Generator) -> tuple[NDArray[Any], Ints]:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return load


def _blobs(
    classes: int, each: int, columns: int, apart: float
) -> Callable[[np.random.Generator], tuple[NDArray[Any], Ints]]:
    def make(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
        labels = np.repeat(np.arange(classes), each)
        centres = apart * rng.normal(size=(classes, columns)) / np.sqrt(columns)
        return centres[labels] + rng.normal(size=(len(labels), columns)), labels

    return make


def _mixed_units(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
    # Columns in units from 0.001 to 10,000 with offsets as uneven, three constant ones among them.
    X, labels = _blobs(3, 200, 12, 5.0)(rng)
    sizes = np.logspace(-3.0, 4.0, 12)
    X = X * rng.permutation(sizes) + rng.permutation(sizes) * rng.choice([-1.0, 1.0], 12)
    constant = np.broadcast_to([0.0, 1.0, -1e4], (len(X), 3))
    return np.hstack([X[:, :6], constant, X[:, 6:]]), labels


def _one_column(rng: np.random.Generator) -> tuple[NDArray[Any], Ints]:
    labels = np.repeat(np.arange(2), 200)
    return (3.0 * labels + rng.normal(size=400))[:, None], labels


SETS: dict[str, Callable[[np.random.Generator], tuple[NDArray[Any], Ints]]] = {
    "iris": _shipped("iris"),
    "wine": _shipped("wine"),
    "breast cancer": _shipped("breast_cancer"),
    "digits": _shipped("digits"),
    "mixed units": _mixed_units,
    "one column": _one_column,
    "10,000 columns": _blobs(4, 60, 10_000, 24.0),
    "20 classes": _blobs(20, 60, 30, 7.0),
    "200 classes": _blobs(200, 16, 40, 9.0),
}
