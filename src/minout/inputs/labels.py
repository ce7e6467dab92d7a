"""Convert labels between the dtype of the user and the int or str that a learner stores."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Label
from minout.errors import InvalidInputError
from minout.features import refuse_masked
from minout.inputs.arguments import checked_label

DType = np.dtype[Any]

STRINGS, OBJECTS = np.dtype("U"), np.dtype("O")
INT64, BOOLS = np.dtype(np.int64), np.dtype(np.bool_)


class LabelCodec(NamedTuple):
    """Convert labels to those that a learner stores, and back to the user's dtype.

    True is stored as 1 and 2.0 as 2. `dtype` is that of the first labels, or a wider one if a later
    number needs it; None before. `announced` are the `classes` of `partial_fit`.
    """

    dtype: DType | None = None
    announced: tuple[Label, ...] = ()

    def encode(self, y: NDArray[Any]) -> tuple[list[Label], "LabelCodec"]:
        """Return labels (n,) for the learner, and a codec that can decode all of them."""
        labels, own = _plain(y)
        known = own if self.dtype is None else self.dtype
        if (known.kind in "UO") != (own.kind in "UO"):
            kinds = {True: "strings", False: "whole numbers"}
            raise InvalidInputError(
                f"The label {y[0]!s} is of another type than before: "
                f"this classifier's labels are {kinds[known.kind in 'UO']}."
            )
        if known.kind in "UO" or (known == own and own.kind in "iub") or _can_hold(known, labels):
            return labels, self if known is self.dtype else self._replace(dtype=known)
        wider = np.promote_types(known, own)
        if known.kind in "iu" and wider.kind == "f":
            wider = INT64  # float64 cannot represent all of them
        if not _can_hold(wider, labels):
            raise InvalidInputError(
                f"The labels are {wider} and hold a number that {wider} does not tell from its "
                "neighbours; pass labels as whole numbers or strings."
            )
        return labels, self._replace(dtype=wider)

    def encode_one(self, y: Any) -> tuple[Label, "LabelCodec"]:
        """Return one label for the learner, and a codec that can decode it."""
        array = np.array([y], dtype=object if isinstance(y, str) else None)
        if array.ndim != 1:
            raise InvalidInputError(f"One label was expected, not {y!r}.")
        (label,), codec = self.encode(array)
        return label, codec

    def decode(self, labels: NDArray[Any] | list[Label]) -> NDArray[Any]:
        """Return labels of the learner in the user's dtype."""
        array, dtype = np.asarray(labels), self.dtype or INT64
        return array if dtype.kind == "U" and array.size else array.astype(dtype)

    def announce(self, classes: Any) -> "LabelCodec":
        """Return a codec that also knows these labels."""
        column = np.asarray(to_array(classes))
        if column.ndim != 1 or not len(column):
            raise InvalidInputError(f"`classes` is a list of labels, not of shape {column.shape}.")
        labels, codec = self.encode(column)
        return codec._replace(announced=tuple(sorted({*self.announced, *labels})))


def like_known(labels: Iterable[Label], known: Sequence[Label]) -> list[Label]:
    """Return labels of a file as a model knows them.

    They get the type of the known labels, or of the first one: 7 for "7" if they are int, "7" for
    7. "1" and "1.0" are one label; the spelling that comes first stays.

    >>> like_known(["7", "1.0", "8.0"], [1, 2])
    [7, 1, 8]
    >>> like_known(["1.0", "1", 2], [])
    ['1.0', '1.0', '2']
    """
    found, typed = [], type(known[0]) if known else None
    spelled = {_whole(label): label for label in known} | {label: label for label in known}
    for given in labels:
        label = str(given) if typed is str or isinstance(given, str) else given
        typed = typed or type(label)
        if typed is int and isinstance(label, str) and is_integer(_whole(label)):
            label = int(_whole(label))
        if label not in spelled:
            spelled[label] = spelled.setdefault(_whole(label), label)
        found.append(spelled[label])
    return found


def is_integer(text: str) -> bool:
    """Return whether a text is a whole number as Python writes it."""
    try:
        return text.removeprefix("-").isdecimal() and str(int(text)) == text
    except ValueError:  # more digits than Python converts
        return False


def _whole(label: Label) -> str:
    # A label as text, a whole number without decimals: "1" for "1.0".
    return re.sub(r"^([+-]?\d+)\.0+$", r"\1", str(label), flags=re.ASCII)


def to_array(y: Any) -> Any:
    """Return a series as an array; refuse a list whose values NumPy would convert."""
    refuse_masked(y, "y holds")
    if isinstance(y, Sequence) and any(isinstance(each, str) for each in y):
        _plain(np.array(list(y), dtype=object))  # NumPy would convert all of them to strings
    labels = y.to_numpy() if hasattr(y, "to_numpy") else y
    is_listed = isinstance(labels, Sequence) or getattr(labels, "dtype", None) == OBJECTS
    if is_listed and any(type(each).__name__ == "NAType" for each in labels):  # pandas.NA
        raise InvalidInputError("y holds a label that is missing; fill or drop such rows.")
    return labels


def with_unknown(labels: NDArray[Any], rejected: Bools, unknown: Any) -> NDArray[Any]:
    """Return labels with `unknown` in rejected rows; of dtype object if no other dtype fits.

    >>> with_unknown(np.array(["a", "b"]), np.array([False, True]), "neither")
    array(['a', 'neither'], dtype='<U7')
    """
    kind = labels.dtype.kind
    if kind == "U" and isinstance(unknown, str):
        labels = labels.astype(np.promote_types(labels.dtype, f"U{max(len(unknown), 1)}"))
    elif not _fits(labels.dtype, unknown):
        labels = labels.astype(object)
    labels[rejected] = unknown
    return labels


def _fits(dtype: DType, value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return dtype.kind == "b"
    if dtype.kind in "iu" and isinstance(value, int | np.integer):
        return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)
    return dtype.kind == "f" and isinstance(value, int | float | np.integer | np.floating)


def _plain(y: NDArray[Any]) -> tuple[list[Label], DType]:
    own, values = y.dtype, y.tolist()
    if own.kind == "O":
        own = _dtype_of_objects(values)
    if own.kind == "f":
        part = y[~np.isfinite(y) | (y != np.floor(y))]
        if len(part):
            raise InvalidInputError(
                f"Unknown label type: {float(part[0])!r} is not a whole number; pass strings or "
                "whole numbers."
            )
    if own.kind not in "UOiubf":
        raise InvalidInputError(f"A label is a whole number or a string, not {own}.")
    if own.kind in "bf":
        values = [int(each) for each in values]
    return [checked_label(each, ()) for each in values], STRINGS if own.kind == "U" else own


def _dtype_of_objects(y: list[Any]) -> DType:
    whole = int | np.integer
    if all(isinstance(each, str) for each in y):
        return OBJECTS
    if all(isinstance(each, bool | np.bool_) for each in y):
        return BOOLS
    if all(isinstance(each, whole) and not isinstance(each, bool) for each in y):
        return INT64
    named = sorted({type(each).__name__ for each in y})
    raise InvalidInputError(
        f"Labels are all strings or all whole numbers; these are of type {' and '.join(named)}."
    )


def _can_hold(dtype: DType, labels: Iterable[Label]) -> bool:
    if dtype.kind == "b":
        low, high = 0, 1
    elif dtype.kind == "f":
        high = 2 ** (np.finfo(dtype).nmant + 1)
        low = -high
    else:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return all(low <= int(each) <= high for each in labels)
