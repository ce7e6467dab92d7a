"""What a caller hands in, checked and copied once at the door."""

import numpy as np
from numpy.typing import ArrayLike

from minout._typing import Floats
from minout.errors import InvalidInputError

LARGEST = 1e100
"""The size up to which inner products, and sums of many of them, stay finite."""


def one_row(x: ArrayLike, features: int | None) -> Floats:
    """Gives x as a fresh float64 row (d,), or says what is wrong with it."""
    return _checked(x, features, dimensions=1, shape="one row of numbers, shape (features,)")


def many_rows(X: ArrayLike, features: int | None) -> Floats:
    """Gives X as fresh float64 rows (n, d), or says what is wrong with them."""
    return _checked(X, features, dimensions=2, shape="rows of numbers, shape (rows, features)")


def _checked(given: ArrayLike, features: int | None, dimensions: int, shape: str) -> Floats:
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidInputError(f"Expected {shape}, but the rows differ in length.") from error
    if array.dtype.kind not in "fiub":
        raise InvalidInputError(f"Expected {shape}, but got an array of {array.dtype}.")
    if array.ndim != dimensions:
        raise InvalidInputError(f"Expected {shape}, but got shape {array.shape}.")
    width = array.shape[-1]
    if features is not None and width != features:
        raise InvalidInputError(
            f"x has {width} features, but this learner was taught with {features}. "
            "Pass the same features in the same order."
        )
    if width == 0:
        raise InvalidInputError("x has no features; pass at least one number per row.")
    rows = np.array(array, dtype=np.float64, order="C")
    if not np.isfinite(rows).all():
        raise InvalidInputError("x holds NaN or infinity; fill or drop such values first.")
    if rows.size and np.abs(rows).max() > LARGEST:
        raise InvalidInputError(f"x holds a number beyond {LARGEST:g}; scale the features first.")
    return rows
