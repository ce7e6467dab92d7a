"""Check arguments once, at the boundary: rows of numbers, labels, ids, weights and times."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats, Id, Label
from minout.engine import LARGEST_WEIGHT, LEAST_WEIGHT, LONGEST_LABEL
from minout.errors import InvalidInputError
from minout.features import refuse_masked

T = TypeVar("T")

LARGEST = 1e100
"""The largest absolute value for which sums of many inner products stay finite."""
LATEST = 1e14
"""The largest time, in seconds: beyond it less than 0.01 s can be told apart."""
LARGEST_SINGLE = 1e15
"""The same for float32."""


def one_row(
    x: ArrayLike, features: int | None, dtype: Any = np.float64, *, fills: bool = False
) -> Floats:
    """Return x as a new float64 row (d,); as float32, if it is and that is the dtype.

    With `fills` it may contain NaN.
    """
    shape = "one row of numbers, shape (features,)"
    return _checked(x, features, dtype, shape, dimensions=1, fills=fills)


def many_rows(
    X: ArrayLike, features: int | None, dtype: Any = np.float64, *, fills: bool = False
) -> Floats:
    """Return X as new float64 rows (n, d); as float32, if they are and that is the dtype.

    With `fills` they may contain NaN.
    """
    shape = "rows of numbers, shape (rows, features)"
    return _checked(X, features, dtype, shape, dimensions=2, fills=fills)


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


def checked_label(y: Label, known: Sequence[Label]) -> Label:
    """Return a label as str or int; it must have the type of the known labels."""
    label: Label
    if isinstance(y, str):
        label = savable(str(y), "label")
        if "\0" in label:
            raise InvalidInputError("A label must not contain the character NUL.")
        if len(label) > LONGEST_LABEL:
            raise InvalidInputError(
                f"A label has at most {LONGEST_LABEL:,} characters; this one has {len(label):,}."
            )
    elif isinstance(y, int | np.integer) and not isinstance(y, bool):
        label = within_64_bits(int(y), "label")
    else:
        raise InvalidInputError(f"A label is a whole number or a string, not a {type(y).__name__}.")
    if known and type(known[0]) is not type(label):
        kinds = {str: "strings", int: "whole numbers"}
        raise InvalidInputError(
            f"The label {label!r} is of another type than before: "
            f"this learner's labels are {kinds[type(known[0])]}."
        )
    return label


def checked_id(id: Id) -> Id:
    """Return an id as str or int."""
    if isinstance(id, str):
        return savable(str(id), "id")
    if isinstance(id, int | np.integer) and not isinstance(id, bool):
        return within_64_bits(int(id), "id")
    raise InvalidInputError(f"An id is a whole number or a string, not a {type(id).__name__}.")


def checked_weight(weight: Any, what: str = "A weight") -> float:
    """Return a weight as a float within the limits; errors begin with what it is."""
    is_number = isinstance(weight, int | float | np.integer | np.floating)
    if not is_number or isinstance(weight, bool | np.timedelta64):
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
    is_number = isinstance(at, int | float | np.integer | np.floating)
    if not is_number or isinstance(at, bool | np.timedelta64):
        raise InvalidInputError(
            f"`at` is a time in seconds since 1970 or a datetime, not a {type(at).__name__}."
        )
    if not -LATEST <= at <= LATEST:
        raise InvalidInputError(f"`at` is a time in seconds since 1970, not {given!r}.")
    return float(at)


def listed_weights(weights: Any) -> list[Any]:
    """Return a list of weights as a list; refuse a single one."""
    return _listed(weights, "weights", "a list with one weight per row")


def listed_times(at: Any, count: int, now: float) -> list[Any]:
    """Return one time per row: now, the one given for all rows, or those in a list."""
    if at is None:
        return [now] * count
    if isinstance(at, datetime | np.generic) or not isinstance(at, Iterable):
        return [at] * count
    return _listed(at, "at", "one time, or a list with one time per row")


def listed_ids(ids: Any, expected: str = "a list with one id per row") -> list[Any]:
    """Return a list of ids as a list; refuse a single id, and bytes."""
    return _listed(ids, "ids", expected)


def listed_labels(y: Any) -> list[Any]:
    """Return a list of labels as a list; refuse a single label, and bytes."""
    return _listed(y, "y", "a list with one label per row")


def savable(text: str, what: str) -> str:
    """Return a string that can be encoded in UTF-8; refuse others."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            article = "An" if what == "id" else "A"
            raise InvalidInputError(
                f"{article} {what} is text that UTF-8 can hold; {text!r} has half a character."
            ) from None
    return text


def within_64_bits(number: int, what: str) -> int:
    """Return an integer of at most 64 bits; refuse others."""
    if not -(2**63) < number < 2**63:
        shown = (
            str(number) if number.bit_length() < 100 else "this one"
        )  # otherwise the message is too long
        article = "An" if what == "id" else "A"
        raise InvalidInputError(f"{article} {what} that is a number has 64 bits; {shown} has more.")
    return number


def _listed(values: Any, name: str, expected: str) -> list[Any]:
    if (
        isinstance(values, str | bytes | bytearray | memoryview)
        or not isinstance(values, Iterable)
        or getattr(values, "ndim", 1) == 0
    ):
        raise InvalidInputError(f"`{name}` is {expected}, but got {type(values).__name__}.")
    return list(values)


def _checked(
    given: ArrayLike,
    features: int | None,
    dtype: Any,
    shape: str,
    *,
    dimensions: int,
    fills: bool = False,
) -> Floats:
    refuse_masked(given, "x holds")
    if hasattr(given, "toarray"):  # SciPy's sparse arrays and matrices
        raise InvalidInputError("x is sparse; pass a dense array (x.toarray()).")
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
    wanted = np.dtype(dtype if array.dtype == dtype else np.float64)
    rows: Floats = np.add(array, wanted.type(0.0), dtype=wanted, order="C")  # a copy, without -0.0
    if fills:
        rows[np.isnan(rows)] = np.nan  # the same bytes for every missing value
    refuse_beyond(rows, LARGEST, fills=fills)
    return rows


def refuse_beyond(rows: Floats, largest: float, *, fills: bool) -> None:
    """Refuse rows that hold NaN, unless it is a missing value, infinity, or a number too large."""
    if _within(rows, largest, fills=fills):
        return
    is_number = np.isfinite(rows) | (fills & np.isnan(rows))
    is_fit = is_number & ~(np.abs(rows) > largest)
    row = None if rows.ndim == 1 else int(np.flatnonzero(~is_fit.all(axis=1))[0])
    if not is_number.all():
        what = "infinity" if fills else "NaN or infinity"
        raise InvalidInputError(f"x holds {what}; fill or drop such values first.", row)
    raise InvalidInputError(f"x holds a number beyond {largest:g}; scale the features first.", row)


def plain_zeros(rows: NDArray[Any], dtype: np.dtype[Any]) -> Floats:
    """Return rows in which -0.0, also -1e-60 in single precision, has the bytes of 0.0."""
    return np.asarray(rows.astype(dtype, copy=False) + dtype.type(0.0))


def _within(rows: Floats, largest: float, *, fills: bool = False) -> bool:
    # False for NaN, too, unless there may be missing values; no array of absolute values is made.
    least, most = (np.fmin, np.fmax) if fills else (np.minimum, np.maximum)
    low = float(least.reduce(rows, axis=None, initial=0.0))
    high = float(most.reduce(rows, axis=None, initial=0.0))
    return -largest <= low and high <= largest
