"""What a caller hands to a feature map, checked once at the door."""

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout.errors import InvalidInputError

LARGEST: dict[np.dtype[Any], float] = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e15}
"""The size up to which inner products of rows, and sums of many of them, stay finite."""


def rows_of_numbers(X: ArrayLike) -> NDArray[Any]:
    """Gives X as an array (n, d) of finite numbers, not copied, or says what is wrong with it."""
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
    if not math.isfinite(extent(array)):
        raise InvalidInputError("X holds NaN or infinity; fill or drop such values first.")
    return array


def as_stored(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Gives finite rows as a fresh array of `dtype`, or refuses numbers that are too large."""
    if extent(rows) > LARGEST[dtype]:
        raise InvalidInputError(
            f"A number beyond {LARGEST[dtype]:g} is too large for rows of {dtype}; "
            "scale the features first."
        )
    return np.array(rows, dtype=dtype, order="C")


def extent(array: NDArray[Any]) -> float:
    """Finds the largest absolute value, without a copy; NaN if there is one, 0 if empty."""
    if array.size == 0:
        return 0.0
    return float(np.maximum(-float(array.min()), float(array.max())))


def storable(dtype: Any) -> np.dtype[Any]:
    """Gives the dtype that is meant, if it is one in which a learner stores rows."""
    try:
        meant: np.dtype[Any] | None = (
            None if dtype is None else np.dtype(dtype)
        )  # to NumPy, None is float64
    except TypeError:
        meant = None
    if meant is None or meant not in LARGEST:
        raise InvalidInputError(f'dtype is {dtype!r}; rows are stored as "float32" or "float64".')
    return meant


def whole(name: str, value: object, least: int, most: float = math.inf) -> int:
    """Gives a whole number between two bounds as an int."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if least <= number <= most:
            return number
    bounds = f"from {least} on" if most == math.inf else f"from {least} to {most}"
    raise InvalidInputError(f"{name} is {value!r}; give a whole number {bounds}.")


def positive(name: str, value: object) -> float:
    """Gives a finite number above 0 as a float."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not 0.0 < number < math.inf:
        raise InvalidInputError(f"{name} is {value!r}; give a finite number above 0.")
    return number
