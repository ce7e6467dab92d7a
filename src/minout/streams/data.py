"""Data sets: training rows and test rows with their labels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError

# Powers of two (hence not 255), so that every pixel is an exact binary fraction: sums of products
# of rows are then exact in float64, and results do not depend on the order of summation.
MNIST_LEVELS = 256
DIGITS_LEVELS = 16


class Data(NamedTuple):
    """A data set of images, split into a training and a test part.

    Attributes
    ----------
    name : str
        The name of the data set.
    rows : ndarray of shape (n, d), float64, C-contiguous
        The training rows; each is an image of `image_shape`, line by line.
    labels : ndarray of shape (n,), int64
        Their labels.
    test_rows : ndarray of shape (m, d)
        The test rows.
    test_labels : ndarray of shape (m,)
        Their labels.
    image_shape : tuple of int
        (height, width).
    """

    name: str
    rows: Floats
    labels: Ints
    test_rows: Floats
    test_labels: Ints
    image_shape: tuple[int, int]


def scaled(pixels: ArrayLike, levels: int) -> Floats:
    """Return integer pixels divided by `levels`, as new C-contiguous float64 rows."""
    return np.ascontiguousarray(np.divide(pixels, levels, dtype=np.float64))


def split(name: str, rows: Floats, labels: Ints, image_shape: tuple[int, int]) -> Data:
    """Split off the last fifth of each class as the test part.

    The rows of both parts keep their order.
    """
    learn = _first_four_fifths(labels)
    return Data(name, rows[learn], labels[learn], rows[~learn], labels[~learn], image_shape)


def checked(data: Data) -> Data:
    """Return `data` with the documented dtypes; raise an error if it is not valid.

    Arrays that are right already are not copied.
    """
    rows, labels = _part(data.rows, data.labels, "learn from")
    if len(rows) == 0:
        raise InvalidInputError(
            f"The data {data.name!r} hold no examples to learn from; give at least one."
        )
    test_rows, test_labels = _part(data.test_rows, data.test_labels, "test on")
    if test_rows.shape[1] != rows.shape[1]:
        raise InvalidInputError(
            f"The rows to test on have {test_rows.shape[1]} features, but the rows to learn from "
            f"have {rows.shape[1]}; give both the same features in the same order."
        )
    return data._replace(rows=rows, labels=labels, test_rows=test_rows, test_labels=test_labels)


def _first_four_fifths(labels: Ints) -> Bools:
    learn = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        learn[members[: 4 * len(members) // 5]] = True
    return learn


def _part(rows: ArrayLike, labels: ArrayLike, purpose: str) -> tuple[Floats, Ints]:
    rows, labels = np.asarray(rows), np.asarray(labels)
    if rows.ndim != 2 or labels.shape != rows.shape[:1]:
        raise InvalidInputError(
            f"The rows to {purpose} have shape {rows.shape} and their labels {labels.shape}; "
            "give rows of shape (n, d) and labels of shape (n,)."
        )
    return _numbers(rows, purpose), _whole_numbers(labels, purpose)


def _numbers(rows: NDArray[np.generic], purpose: str) -> Floats:
    if rows.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"The rows to {purpose} have dtype {rows.dtype}, but learning needs real numbers; "
            "convert them to float64."
        )
    floats: Floats = np.ascontiguousarray(rows, dtype=np.float64)
    if not np.isfinite(floats).all():
        raise InvalidInputError(
            f"The rows to {purpose} contain NaN or infinity; leave out or fill in those values."
        )
    return floats


def _whole_numbers(labels: NDArray[np.generic], purpose: str) -> Ints:
    if labels.dtype.kind not in "iu":
        raise InvalidInputError(
            f"The labels of the rows to {purpose} have dtype {labels.dtype}, but classes are "
            "named by whole numbers; convert them to int64."
        )
    return labels.astype(np.int64, copy=False)
