"""Labels and ids as callers write them, checked at the door."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError
from minout.learner.certificate import Id, Label


def checked_label(y: Label, known: Sequence[Label]) -> Label:
    """Gives a label as str or int, if it is of the type of those that are known."""
    label: Label
    if isinstance(y, str):
        label = str(y)
        if "\0" in label:
            raise InvalidInputError("A label must not hold the character NUL.")
    elif isinstance(y, int | np.integer) and not isinstance(y, bool):
        label = int(y)
        if abs(label) >= 2**63:
            raise InvalidInputError(f"A label that is a number has 64 bits; {y} has more.")
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
        return str(id)
    if isinstance(id, int | np.integer) and not isinstance(id, bool):
        return int(id)
    raise InvalidInputError(f"An id is a whole number or a string, not a {type(id).__name__}.")


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
