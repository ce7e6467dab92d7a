"""Check arguments once, at the boundary: rows of numbers, labels, ids, weights and times."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats, Id, Label
from minout.core import LARGEST_WEIGHT, LEAST_WEIGHT, LONGEST_LABEL
from minout.errors import InvalidInputError, plural
from minout.features import LARGEST as LARGEST_OF
from minout.features import check_array

T = TypeVar("T")

LARGEST = LARGEST_OF[np.dtype(np.float64)]
"""The largest absolute value for which sums of many inner products stay finite."""
_FLOAT64 = np.dtype(np.float64)
_WHOLE, _NUMBERS = (int, np.integer), (int, float, np.integer, np.floating)
_NO_NUMBERS, _ONE = (bool, np.timedelta64), (str, bytes, bytearray, memoryview)
LATEST = 1e14
"""The largest time, in seconds: beyond it less than 0.01 s can be told apart."""


def many_rows(
    X: ArrayLike,
    width: int | None,
    dtype: np.dtype[Any],
    *,
    fills: bool = False,
    is_read: bool = False,
) -> Floats:
    """Return X as new rows (n, d) of a dtype, without -0.0; with `fills` they may contain NaN.

    If they are only read, they may be X itself.
    """
    array = check_array(X, "x")
    if width is not None and array.shape[1] != width:
        raise InvalidInputError(
            f"x has {plural(array.shape[1], 'feature')}, but this learner was taught with {width}. "
            "Pass the same features in the same order."
        )
    if array.shape[1] == 0:
        raise InvalidInputError("x has no features; pass at least one number per row.")
    kind = dtype if array.dtype == dtype else _FLOAT64
    if array.dtype != kind or not (array.flags.c_contiguous and array.flags.aligned):
        array = np.array(array, dtype=kind, order="C")
    rows: Floats = array if is_read else array + 0.0  # without -0.0
    if fills and not is_read:
        rows[np.isnan(rows)] = np.nan  # the same bytes for every missing value
    _refuse_beyond(rows, LARGEST_OF[dtype], fills=fills)
    return rows if rows.dtype == dtype else plain_zeros(rows, dtype)


def plain_zeros(rows: NDArray[Any], dtype: np.dtype[Any]) -> Floats:
    """Return rows in which -0.0, also -1e-60 in single precision, has the bytes of 0.0."""
    return np.asarray(rows.astype(dtype, copy=False) + dtype.type(0.0))


def each_row(check: Callable[[Any], T], values: Iterable[Any]) -> list[T]:
    """Return what a check returns for the value of each row; an error names its row."""
    checked = []
    for row, value in enumerate(values):
        try:
            checked.append(check(value))
        except InvalidInputError as error:
            error.row = row
            raise
    return checked


def checked_label(y: Any, known: Sequence[Label]) -> Label:
    """Return a label as str or int; it must have the type of the known labels."""
    label = _name(y, "A label")
    if isinstance(label, str):
        if "\0" in label:
            raise InvalidInputError("A label must not contain the character NUL.")
        if len(label) > LONGEST_LABEL:
            raise InvalidInputError(
                f"A label has at most {LONGEST_LABEL:,} characters; this one has {len(label):,}."
            )
    if known and type(known[0]) is not type(label):
        kinds = {str: "strings", int: "whole numbers"}
        raise InvalidInputError(
            f"The label {label!r} is of another type than before: "
            f"this learner's labels are {kinds[type(known[0])]}."
        )
    return label


def checked_id(id: Any) -> Id:
    """Return an id as str or int."""
    return _name(id, "An id")


def checked_weight(weight: Any, what: str = "A weight") -> float:
    """Return a weight as a float within the limits; errors begin with what it is."""
    if not _is_number(weight):
        raise InvalidInputError(f"{what} is a number, not a {type(weight).__name__}.")
    if not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
        raise InvalidInputError(
            f"{what} is between {LEAST_WEIGHT:g} and {LARGEST_WEIGHT:g}, not {weight!r}."
        )
    return float(weight)


def checked_time(at: Any) -> float:
    """Return a time as seconds since 1970; a datetime without a time zone is local time."""
    given = at
    if isinstance(at, datetime):
        try:
            at = at.timestamp()
        except (OverflowError, ValueError):  # a local time before the first or after the last year
            at = np.nan
    elif isinstance(at, np.datetime64):
        at = (at - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    if not _is_number(at):
        raise InvalidInputError(
            f"`at` is a time in seconds since 1970 or a datetime, not a {type(at).__name__}."
        )
    if not -LATEST <= at <= LATEST:
        raise InvalidInputError(f"`at` is a time in seconds since 1970, not {given!r}.")
    return float(at)


def listed_weights(weights: Any) -> list[Any]:
    """Return a list of weights as a list; refuse a single one."""
    return _listed(weights, "weights", "a list with one weight per row")


def listed_times(at: Any, count: int) -> list[Any]:
    """Return one time per row: the one given for all rows, or those in a list."""
    if isinstance(at, datetime | np.generic) or not isinstance(at, Iterable):
        return [at] * count
    return _listed(at, "at", "one time, or a list with one time per row")


def listed_ids(ids: Any, expected: str = "a list with one id per row") -> list[Any]:
    """Return a list of ids as a list; refuse a single id, and bytes."""
    return _listed(ids, "ids", expected)


def listed_labels(y: Any) -> list[Any]:
    """Return a list of labels as a list; refuse a single label, and bytes."""
    return _listed(y, "y", "a list with one label per row")


def _refuse_beyond(rows: Floats, largest: float, *, fills: bool) -> None:
    """Refuse NaN, unless it is a missing value, infinity, and numbers that are too large."""
    if np.vdot(rows, rows) <= largest:  # so no square is larger; false for NaN
        return
    least, most = (np.fmin, np.fmax) if fills else (np.minimum, np.maximum)
    low, high = (float(each.reduce(rows, axis=None, initial=0.0)) for each in (least, most))
    if -largest <= low and high <= largest:
        return
    is_small = (np.abs(rows) <= largest) | (fills & np.isnan(rows))
    row = int(np.flatnonzero(~is_small.all(axis=1))[0])
    if np.isfinite(rows[~is_small]).all():
        raise InvalidInputError(
            f"x holds a number beyond {largest:g}; scale the features first.", row
        )
    what = "infinity" if fills else "NaN or infinity"
    raise InvalidInputError(f"x holds {what}; fill or drop such values first.", row)


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, _NO_NUMBERS)


def _name(value: Any, what: str) -> str | int:
    """Return a label or an id as a str that UTF-8 can hold, or an int of 64 bits."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInputError(
                f"{what} is text that UTF-8 can hold; {value!r} has half a character."
            ) from None
        return str(value)
    if isinstance(value, _WHOLE) and not isinstance(value, bool):
        number = int(value)
        if not -(2**63) < number < 2**63:
            shown = str(number) if number.bit_length() < 100 else "this one"  # it may be very long
            raise InvalidInputError(f"{what} that is a number has 64 bits; {shown} has more.")
        return number
    raise InvalidInputError(f"{what} is a whole number or a string, not a {type(value).__name__}.")


def _listed(values: Any, name: str, expected: str) -> list[Any]:
    is_one = isinstance(values, _ONE)
    if is_one or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise InvalidInputError(f"`{name}` is {expected}, but got {type(values).__name__}.")
    return list(values)
