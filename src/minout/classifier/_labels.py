"""Labels as users write them, and as a learner keeps them: whole numbers or strings."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from minout._typing import Label
from minout.errors import InvalidInputError
from minout.inputs import savable, within_64_bits

DType = np.dtype[Any]

STRINGS = np.dtype("U")
OBJECTS = np.dtype("O")
INT64 = np.dtype(np.int64)
BOOLS = np.dtype(np.bool_)
BITS = 2**63
"""A label that is a number is smaller than this, as in the learner."""

_NUL = "A label must not hold the character NUL."


def kept(y: NDArray[Any], known: DType | None) -> tuple[list[Label], DType]:
    """Gives labels (n,) as a learner keeps them, and the dtype in which users get them back.

    That is the dtype of the first labels, `known`; where it cannot hold a later number, the next
    one that can. True is kept as 1 and 2.0 as 2. Strings and numbers do not mix.
    """
    labels, own = _plain(y)
    if known is None:
        return labels, _holding(labels, own)
    if (known.kind in "UO") != (own.kind in "UO"):
        kinds = {True: "strings", False: "whole numbers"}
        raise InvalidInputError(
            f"The label {y[0]!s} is of another type than before: "
            f"this classifier's labels are {kinds[known.kind in 'UO']}."
        )
    if known.kind in "UO" or _can_hold(known, labels):
        return labels, known
    wider = np.promote_types(known, own)
    if known.kind in "iu" and wider.kind == "f":
        wider = INT64  # float64 does not tell all of them apart
    return labels, _holding(labels, wider)


def given_back(labels: NDArray[Any] | list[Label], dtype: DType) -> NDArray[Any]:
    """Gives a learner's labels as the user wrote them."""
    array = np.asarray(labels)
    if dtype.kind == "U":
        return array if array.size else np.empty(0, dtype=dtype)
    return array.astype(dtype)


def as_written(y: Any) -> Any:
    """Gives a series as an array, and refuses a list that NumPy would rewrite on the way."""
    if isinstance(y, Sequence) and any(isinstance(each, str) for each in y):
        _of_objects(list(y))  # NumPy would make strings of everything
        if any("\0" in each for each in y):  # and cut this off at an end
            raise InvalidInputError(_NUL)
    written = y.to_numpy() if hasattr(y, "to_numpy") else y
    looked_at: Any = written if isinstance(written, Sequence) else ()
    if isinstance(written, np.ndarray) and written.dtype == OBJECTS:
        looked_at = written.flat
    if any(type(each).__name__ == "NAType" for each in looked_at):  # pandas' own
        raise InvalidInputError("y holds a label that is missing; fill or drop such rows.")
    return written


def _plain(y: NDArray[Any]) -> tuple[list[Label], DType]:
    if y.dtype.kind == "f":
        if not (np.abs(y.astype(np.longdouble)) < BITS).all():  # nor is NaN
            raise InvalidInputError("A label that is a number is finite and has at most 64 bits.")
        check_classification_targets(y)  # refuses what is not whole
        labels: list[Label] = [int(each) for each in y.tolist()]
        own = y.dtype
    elif y.dtype.kind == "O":
        labels, own = _of_objects(y.tolist())
    elif y.dtype.kind in "Uiub":
        own = STRINGS if y.dtype.kind == "U" else y.dtype
        labels = y.tolist() if y.dtype.kind != "b" else [int(each) for each in y]
    else:
        raise InvalidInputError(f"A label is a whole number or a string, not {y.dtype}.")
    for each in labels:
        if isinstance(each, str):
            if "\0" in savable(each, "label"):
                raise InvalidInputError(_NUL)
        else:
            within_64_bits(each, "label")
    return labels, own


def _of_objects(y: list[Any]) -> tuple[list[Label], DType]:
    if all(isinstance(each, str) for each in y):
        return [str(each) for each in y], OBJECTS
    if all(isinstance(each, bool | np.bool_) for each in y):
        return [int(each) for each in y], BOOLS
    whole = int | np.integer
    if all(isinstance(each, whole) and not isinstance(each, bool) for each in y):
        return [int(each) for each in y], INT64
    named = sorted({type(each).__name__ for each in y})
    raise InvalidInputError(
        f"Labels are all strings or all whole numbers; these are of type {' and '.join(named)}."
    )


def _holding(labels: list[Label], dtype: DType) -> DType:
    if dtype.kind not in "UO" and not _can_hold(dtype, labels):
        raise InvalidInputError(
            f"The labels are {dtype} and hold a number that {dtype} does not tell from its "
            "neighbours; pass labels as whole numbers or strings."
        )
    return dtype


def _can_hold(dtype: DType, labels: Iterable[Label]) -> bool:
    if dtype.kind == "b":
        low, high = 0, 1
    elif dtype.kind == "f":
        high = 2 ** (np.finfo(dtype).nmant + 1)
        low = -high
    else:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return all(low <= int(each) <= high for each in labels)
