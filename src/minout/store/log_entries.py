"""Entries of a model's log as they are read: they have no seal, and nothing in them is trusted."""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from minout.store.records import DamagedRecord

EARLIEST, LATEST = -6e10, 2.5e11
"""Times that a calendar has: from the year 69 to the year 9892."""
MOST = 2**62
MOST_NAMED = 100
"""At most so many pairs of labels are named in one entry."""
COUNTS = ("moved_in_all", "checked", "misfits", "cleared", "forgotten")


class ReadEntry(NamedTuple):
    """An entry of the log after its values were checked: `id` and `details` are no longer JSON."""

    number: int
    time: float
    action: str
    id: Any
    details: dict[str, Any]


def checked_entry(number: Any, time: Any, action: Any, id: Any, details: Any) -> ReadEntry:
    """Return an entry of the log; raise DamagedRecord if one of its values is malformed."""
    if type(number) is not int or not 0 < number < MOST:
        raise DamagedRecord("number")
    if type(time) is not float or not EARLIEST <= time <= LATEST or type(action) is not str:
        raise DamagedRecord("entry")
    name = None if id is None else _decoded(id)
    if id is not None and not _is_name(name):
        raise DamagedRecord("id")
    return ReadEntry(number, time, action, name, checked_details(details))


def checked_details(text: Any) -> dict[str, Any]:
    """Return the details of an entry; raise DamagedRecord if one of them is malformed."""
    details = _decoded(text)
    if not isinstance(details, dict):
        raise DamagedRecord("details")
    pairs = details.get("moved", [])
    if not isinstance(pairs, list) or len(pairs) > MOST_NAMED or not all(map(_is_pair, pairs)):
        raise DamagedRecord("moved")
    if any(type(details.get(name, 0)) is not int for name in COUNTS):
        raise DamagedRecord("details")
    if not all(0 <= details.get(name, 0) < MOST for name in COUNTS):
        raise DamagedRecord("details")
    ids, seconds = details.get("forgotten_ids", []), details.get("refresh_seconds", 0.0)
    if not isinstance(ids, list) or not all(map(_is_name, ids)):
        raise DamagedRecord("forgotten_ids")
    if type(seconds) not in (int, float) or not 0.0 <= seconds < math.inf:
        raise DamagedRecord("refresh_seconds")
    return details


def is_readable(entry: Sequence[Any]) -> bool:
    """Return whether the values of an entry, with its number, are as they must be."""
    try:
        checked_entry(*entry)
    except DamagedRecord:
        return False
    return True


def _decoded(text: Any) -> Any:
    if type(text) is not str:
        raise DamagedRecord("JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedRecord("JSON") from None


def _is_name(value: object) -> bool:
    return type(value) in (int, str)


def _is_pair(value: object) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(each is None or _is_name(each) for each in value)  # type: ignore[attr-defined]
