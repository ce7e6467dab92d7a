"""Check rows of numbers and the settings of feature maps."""

import math
from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout.errors import InvalidInputError

LARGEST: dict[np.dtype[Any], float] = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e15}
"""The largest absolute value for which sums of many inner products stay finite."""
NARROW = 1024
"""A sparse matrix of at most so many columns may be made dense."""


def check_array(X: ArrayLike, name: str, axes: int = 2) -> NDArray[Any]:
    """Return X as an array of numbers with so many axes, without a copy; `name` is its name."""
    if type(X) is np.ndarray and X.ndim == axes and X.dtype.kind in "fiub":
        return X
    refuse_masked(X, f"{name} holds")
    one, many = "one row of numbers, shape (features,)", "rows of numbers, shape (rows, features)"
    expected = one if axes == 1 else many
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InvalidInputError(f"Expected {expected}, but the rows differ in length.") from error
    if array.dtype.kind not in "fiub":
        raise InvalidInputError(f"Expected {expected}, but got an array of {array.dtype}.")
    if axes == 1 and array.ndim == 2 and len(array) == 1:
        array = array[0]
    if array.ndim != axes:
        raise InvalidInputError(f"Expected {expected}, but got shape {array.shape}.")
    return array


def check_rows(X: ArrayLike) -> NDArray[Any]:
    """Return X as an array (n, d) of finite numbers, without a copy."""
    array = check_array(X, "X")
    if array.shape[1] == 0:
        raise InvalidInputError("X has no features; pass at least one number per row.")
    if not math.isfinite(largest_absolute(array)):
        raise InvalidInputError("X holds NaN or infinity; fill or drop such values first.")
    return array


def is_sparse(X: Any) -> bool:
    """Return whether X is one of SciPy's sparse arrays or matrices."""
    return hasattr(X, "tocsr")


def dense_if_narrow(X: Any) -> Any:
    """Return X; as an array, if it is sparse. Refuse a sparse matrix of many columns."""
    if not is_sparse(X):
        return X
    if X.shape[-1] > NARROW:
        raise InvalidInputError(
            f"X is sparse and has {X.shape[-1]:,} columns; with more than {NARROW:,}, pass "
            'features="projection".'
        )
    return X.toarray()


def batch_size(X: Any) -> int | None:
    """Return the number of examples in a batch; None if it has no length."""
    if is_sparse(X):
        return int(X.shape[0])
    return len(X) if isinstance(X, Sized) else None


def refuse_masked(values: Any, holder: str = "X holds") -> None:
    """Refuse an array with masked values: NumPy would use the numbers behind the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(f"{holder} masked values; fill them in or drop their rows first.")


def to_dtype(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a copy of finite rows in `dtype`; refuse numbers that are too large for it."""
    if largest_absolute(rows) > LARGEST[dtype]:
        raise InvalidInputError(
            f"A number beyond {LARGEST[dtype]:g} is too large for rows of {dtype}; "
            "scale the features first."
        )
    return np.array(rows, dtype=dtype, order="C")


def largest_absolute(array: NDArray[Any]) -> float:
    """Return the largest absolute value, without a copy; NaN if there is one, 0 if empty."""
    if array.size == 0:
        return 0.0
    return float(np.maximum(-float(array.min()), float(array.max())))


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """Return float32 or float64 as a dtype; refuse others."""
    for known in LARGEST:
        if dtype is not None and known == dtype:  # NumPy takes None for float64
            return known
    raise InvalidInputError(f'dtype is {dtype!r}; pass "float32" or "float64".')


def check_int(name: str, value: object, least: int, most: float = math.inf) -> int:
    """Return a whole number between two bounds as an int."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if least <= number <= most:
            return number
    bounds = f"from {least} on" if most == math.inf else f"from {least} to {most}"
    raise InvalidInputError(f"{name} is {value!r}; pass a whole number {bounds}.")
