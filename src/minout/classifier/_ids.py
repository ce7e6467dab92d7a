"""The user's own ids of a call, checked before anything is taught."""

from typing import Any

from minout._typing import Id
from minout.errors import InvalidInputError
from minout.inputs import checked_id, listed_ids


def checked_ids(ids: Any, count: int) -> list[Id] | None:
    """Gives one id per row as str or int, each once; None if the learner is to number them."""
    if ids is None:
        return None
    listed = [checked_id(each) for each in listed_ids(ids)]
    if len(listed) != count:
        raise InvalidInputError(f"There are {count} rows, but {len(listed)} ids; pass one per row.")
    seen: set[Id] = set()
    for each in listed:
        if each in seen:
            raise InvalidInputError(f"The id {each!r} comes twice; each example has its own.")
        seen.add(each)
    return listed
