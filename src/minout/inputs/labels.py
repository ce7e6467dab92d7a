"""Convert labels between the dtype of the user and the int or str that a learner stores."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Label
from minout.errors import InvalidInputError
from minout.features import refuse_masked
from minout.inputs.arguments import savable, within_64_bits

DType = np.dtype[Any]

STRINGS = np.dtype("U")
OBJECTS = np.dtype("O")
INT64 = np.dtype(np.int64)
BOOLS = np.dtype(np.bool_)
BITS = 2**63
"""A label that is a number is smaller than this, as in the learner."""

_NUL = "A label must not contain the character NUL."


class LabelCodec(NamedTuple):
    """Convert labels to those that a learner stores, and back to the user's dtype.

    Attributes
    ----------
    dtype : dtype
        The dtype in which users get labels back.
    announced : tuple of int or str
        Labels given as `classes` of `partial_fit`, whether they have examples or not.
    """

    dtype: DType
    announced: tuple[Label, ...] = ()

    @classmethod
    def first(cls, y: NDArray[Any]) -> "LabelCodec":
        """Return the codec for labels of this dtype."""
        return cls(encode_labels(y, None)[1])

    def encode(self, y: NDArray[Any]) -> tuple[list[Label], "LabelCodec"]:
        """Return labels for the learner, and a codec that can decode all of them."""
        labels, dtype = encode_labels(y, self.dtype)
        return labels, self._replace(dtype=dtype)

    def encode_one(self, y: Any) -> tuple[Label, "LabelCodec"]:
        """Return one label for the learner, and a codec that can decode it."""
        array = np.empty(1, dtype=object) if isinstance(y, str) else np.asarray([y])
        if isinstance(y, str):
            array[0] = y
        if array.ndim != 1:
            raise InvalidInputError(f"One label was expected, not {y!r}.")
        (label,), codec = self.encode(array)
        return label, codec

    def decode(self, labels: NDArray[Any] | list[Label]) -> NDArray[Any]:
        """Return labels of the learner in the user's dtype."""
        return decode_labels(labels, self.dtype)

    def announce(self, classes: Any) -> "LabelCodec":
        """Return a codec that also knows these labels."""
        try:
            column = np.asarray(to_array(classes))
        except ValueError as error:
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError(
                "`classes` is a list of labels, but its rows differ in length."
            ) from error
        if column.ndim != 1:
            raise InvalidInputError(
                f"`classes` is a list of labels, but has the shape {column.shape}."
            )
        if not len(column):
            raise InvalidInputError("`classes` is empty; leave it out or name a label.")
        labels, codec = self.encode(column)
        return codec._replace(announced=tuple(sorted({*self.announced, *labels})))

    def all_labels(self, seen: NDArray[Any]) -> list[Label]:
        """Return the labels seen and announced, sorted, as the learner stores them."""
        return sorted({*seen.tolist(), *self.announced})


def encode_labels(y: NDArray[Any], known: DType | None) -> tuple[list[Label], DType]:
    """Return labels (n,) as a learner stores them, and the dtype to decode them to.

    That is the dtype of the first labels, `known`, or a wider one if a later number needs it.
    True is stored as 1 and 2.0 as 2. Strings and numbers do not mix.
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
        wider = INT64  # float64 cannot represent all of them
    return labels, _holding(labels, wider)


def decode_labels(labels: NDArray[Any] | list[Label], dtype: DType) -> NDArray[Any]:
    """Return labels of a learner in the user's dtype."""
    array = np.asarray(labels)
    if dtype.kind == "U":
        return array if array.size else np.empty(0, dtype=dtype)
    return array.astype(dtype)


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
        _of_objects(list(y))  # NumPy would convert all of them to strings
        if any("\0" in each for each in y):  # NumPy strips trailing NULs
            raise InvalidInputError(_NUL)
    labels = y.to_numpy() if hasattr(y, "to_numpy") else y
    checked: Any = labels if isinstance(labels, Sequence) else ()
    if isinstance(labels, np.ndarray) and labels.dtype == OBJECTS:
        checked = labels.flat
    if any(type(each).__name__ == "NAType" for each in checked):  # pandas.NA
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
    if y.dtype.kind == "f":
        if not (np.abs(y.astype(np.longdouble)) < BITS).all():  # false for NaN too
            raise InvalidInputError("A label that is a number is finite and has at most 64 bits.")
        part = y[y != np.floor(y)]
        if len(part):
            raise InvalidInputError(
                f"Unknown label type: {float(part[0])!r} is not a whole number; pass strings or "
                "whole numbers."
            )
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
