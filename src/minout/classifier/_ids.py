"""The user's own ids of a call, checked before anything is taught."""

from typing import Any

import numpy as np

from minout.errors import InvalidInputError
from minout.learner.certificate import Id


def checked_ids(ids: Any, count: int) -> list[Id] | None:
    """Gives one id per row as str or int, each once; None if the learner is to number them."""
    if ids is None:
        return None
    if isinstance(ids, str) or not hasattr(ids, "__len__"):
        raise InvalidInputError(f"`ids` is a list with one id per row, not {ids!r}.")
    listed = [_checked(each) for each in ids]
    if len(listed) != count:
        raise InvalidInputError(f"There are {count} rows, but {len(listed)} ids; pass one per row.")
    seen: set[Id] = set()
    for each in listed:
        if each in seen:
            raise InvalidInputError(f"The id {each!r} comes twice; each example has its own.")
        seen.add(each)
    return listed


def _checked(id: Any) -> Id:
    if isinstance(id, str):
        return str(id)
    if isinstance(id, int | np.integer) and not isinstance(id, bool):
        return int(id)
    raise InvalidInputError(f"An id is a whole number or a string, not a {type(id).__name__}.")
