"""Check the arguments of feature maps."""

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
_MASKED_TYPES = frozenset({np.ma.MaskedArray, type(np.ma.masked)})


def check_rows(X: ArrayLike) -> NDArray[Any]:
    """Return X as an array (n, d) of finite numbers, without a copy."""
    refuse_masked(X)
    expected = "Expected rows of numbers, shape (rows, features)"
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InvalidInputError(f"{expected}, but the rows differ in length.") from error
    if array.dtype.kind not in "fiub":
        raise InvalidInputError(f"{expected}, but got an array of {array.dtype}.")
    if array.ndim != 2:
        raise InvalidInputError(f"{expected}, but got shape {array.shape}.")
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
    """Refuse a masked array, or a list that holds one, if any of its values is masked.

    NumPy would ignore the mask and use the masked numbers.
    """
    if _is_masked(values):
        raise InvalidInputError(f"{holder} masked values; fill them in or drop their rows first.")


def _is_masked(values: Any) -> bool:
    if isinstance(values, np.ma.MaskedArray):
        return bool(np.ma.is_masked(values))
    if not isinstance(values, list | tuple):
        return False
    if not _MASKED_TYPES.isdisjoint(map(type, values)):
        return any(map(_is_masked, values))
    return any(_is_masked(each) for each in values if isinstance(each, list | tuple))


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
