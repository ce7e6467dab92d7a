"""The log of changes in a model's database. Entries have no checksum, so nothing is trusted."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from minout._typing import Id, Label
from minout.store.records import DamagedRecord
from minout.store.schema import LogEntry

LENGTH = 10_000
"""How many entries are kept."""
MOST_NAMED = 100
"""At most so many pairs of labels are named in one entry."""
MOST = 2**62
EARLIEST, LATEST = -6e10, 2.5e11
"""Times that a calendar has: from the year 69 to the year 9892."""


class Entry(NamedTuple):
    """One entry of a model's log of changes.

    Attributes
    ----------
    number : int
        Its number; later entries have higher ones.
    time : float
        When the change was made, in seconds since 1970.
    action : str
        "teach", "correct", "forget", "keep" (another window), "settle", "consolidate", "widen",
        "store" (`Learner.store_in`) or "repair".
    id : int, str or None
        The example that was taught or corrected; None if there is none, or if it was forgotten.
    moved : tuple of (label, label)
        The separators that moved, 100 at most; None stands for a label that was forgotten.
    moved_in_all : int
        How many separators moved.
    details : dict
        How many margins were `checked`, how many examples became `misfits`, were `cleared`
        (no longer misfits) or `forgotten`; `refresh_seconds` if the change included a refresh
        (scale and separators were computed again); `forgotten_ids` if `forget` was called with
        `log_ids`.
    """

    number: int
    time: float
    action: str
    id: Id | None
    moved: tuple[tuple[Label | None, Label | None], ...]
    moved_in_all: int
    details: dict[str, Any]


def read_entries(connection: sqlite3.Connection, after: int) -> list[Entry]:
    """Return the entries with higher numbers than `after`; raise DamagedRecord if one is none."""
    query = "SELECT number, time, action, id, details FROM log WHERE number > ? ORDER BY number"
    found = ascending(connection.execute(query, (after,)))
    return [checked_entry(*each) for each in islice(found, LENGTH)]


def add_entries(connection: sqlite3.Connection, entries: Sequence[LogEntry]) -> None:
    """Add entries, and delete the oldest if there are too many."""
    last = connection.execute("SELECT max(number) FROM log").fetchone()[0] or 0
    if not 0 <= last < MOST:
        raise DamagedRecord("log")
    query = "INSERT INTO log (time, action, id, details) VALUES (?, ?, ?, ?)"
    connection.executemany(query, entries)
    oldest = last + len(entries) - LENGTH
    connection.execute("DELETE FROM log WHERE number <= ?", (oldest,))


def unname_ids(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Remove ids (JSON) from the entries about their examples."""
    gone = set(ids)
    known = ascending(connection.execute("SELECT number, id FROM log"))
    numbers = [(number,) for number, id in known if id in gone]
    connection.executemany("UPDATE log SET id = NULL WHERE number = ?", numbers)


def unname_labels(connection: sqlite3.Connection, is_gone: Callable[[str], bool]) -> None:
    """Replace some labels (JSON) by null in the pairs of labels that entries name."""
    changed = []
    for number, text in ascending(connection.execute("SELECT number, details FROM log")):
        details = _checked_details(text)
        pairs = details.get("moved", [])
        named = [[None if is_gone(json.dumps(each)) else each for each in p] for p in pairs]
        if named != pairs:
            changed.append((json.dumps({**details, "moved": named}), number))
    connection.executemany("UPDATE log SET details = ? WHERE number = ?", changed)


def ascending(rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """Yield records; raise DamagedRecord unless their first values are ascending numbers."""
    last = -(2**64)
    for row in rows:
        if type(row[0]) is not int or row[0] <= last:
            raise DamagedRecord("order")
        last = row[0]
        yield row


def checked_entry(number: Any, time: Any, action: Any, id: Any, text: Any) -> Entry:
    """Return an entry; raise DamagedRecord if one of its values is malformed."""
    name = None if id is None else _decoded(id)
    _expect(type(number) is int and 0 < number < MOST)
    _expect(type(time) is float and EARLIEST <= time <= LATEST and type(action) is str)
    _expect(id is None or _is_name(name))
    details = _checked_details(text)
    moved = tuple((a, b) for a, b in details.pop("moved", []))
    in_all = details.pop("moved_in_all", len(moved))
    return Entry(number, time, action, name, moved, in_all, details)


def _checked_details(text: Any) -> dict[str, Any]:
    details = _decoded(text)
    _expect(isinstance(details, dict))
    assert isinstance(details, dict)
    pairs, ids = details.get("moved", []), details.get("forgotten_ids", [])
    _expect(isinstance(pairs, list) and len(pairs) <= MOST_NAMED and all(map(_is_pair, pairs)))
    _expect(isinstance(ids, list) and all(map(_is_name, ids)))
    numbers = [each for key, each in details.items() if key not in ("moved", "forgotten_ids")]
    _expect(all(type(each) in (int, float) and 0 <= each < MOST for each in numbers))
    return details


def _decoded(text: Any) -> Any:
    _expect(type(text) is str)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedRecord("JSON") from None


def _is_name(value: object) -> bool:
    return type(value) in (int, str)


def _is_pair(value: object) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(each is None or _is_name(each) for each in value)  # type: ignore[attr-defined]


def _expect(condition: bool) -> None:
    if not condition:
        raise DamagedRecord("log")
