"""Labels and ids as callers write them, checked at the door."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError
from minout.learner.certificate import Id, Label


def checked_label(y: Label, known: Sequence[Label]) -> Label:
    """Gives a label as str or int, if it is of the type of those that are known."""
    label: Label
    if isinstance(y, str):
        label = savable(str(y), "label")
        if "\0" in label:
            raise InvalidInputError("A label must not hold the character NUL.")
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
    """Gives an id as str or int."""
    if isinstance(id, str):
        return savable(str(id), "id")
    if isinstance(id, int | np.integer) and not isinstance(id, bool):
        return within_64_bits(int(id), "id")
    raise InvalidInputError(f"An id is a whole number or a string, not a {type(id).__name__}.")


def listed_ids(ids: Any, expected: str = "a list with one id per row") -> list[Any]:
    """Gives a list of ids as a list; one id alone, and bytes, are none."""
    if (
        isinstance(ids, str | bytes | bytearray | memoryview)
        or not isinstance(ids, Iterable)
        or getattr(ids, "ndim", 1) == 0
    ):
        raise InvalidInputError(f"`ids` is {expected}, but got {type(ids).__name__}.")
    return list(ids)


def savable(text: str, what: str) -> str:
    """Gives a string back, if a file can hold it."""
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
    """Gives a whole number back, if it has at most 64 bits."""
    if not -(2**63) < number < 2**63:
        shown = str(number) if number.bit_length() < 100 else "this one"  # or it fills a page
        article = "An" if what == "id" else "A"
        raise InvalidInputError(f"{article} {what} that is a number has 64 bits; {shown} has more.")
    return number


def checked_classes(classes: Sequence[Label] | NDArray[Any]) -> NDArray[Any]:
    """Gives a list of all labels as an array that nobody can write to."""
    try:
        array = np.array(classes)
    except ValueError as error:
        raise InvalidInputError("`classes` must be a list of labels, not of lists.") from error
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError("`classes` must be a list of at least one label.")
    if array.dtype.kind not in "iuU" or len({isinstance(each, str) for each in classes}) > 1:
        raise InvalidInputError("`classes` must be all whole numbers or all strings.")
    if len(np.unique(array)) < array.size:
        raise InvalidInputError("`classes` names a label twice.")
    array.flags.writeable = False
    return array
