"""The log of changes in a model's file. Entries have no checksum, so nothing is trusted."""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from minout._typing import Id, Label
from minout.store.tables import MODULUS, DamagedRecord, decoded, expect

LENGTH = 10_000  # how many entries are kept
MOST_NAMED = 100  # at most so many pairs of labels are named in one entry
EARLIEST, LATEST = -6e10, 2.5e11  # times that a calendar has: from the year 69 to the year 9892


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
        "store" or "repair".
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


def entry_of(change: Any) -> Entry:
    """Return the entry for a change (`steps.Change`) that is made now; it has no number yet."""
    certificate = change.certificate
    details: dict[str, Any] = {
        "checked": certificate.checked,
        "misfits": len(certificate.misfits),
        "cleared": len(certificate.cleared),
        "forgotten": len(certificate.forgotten),
    }
    if change.log_ids:
        details["forgotten_ids"] = list(certificate.forgotten)
    refresh = getattr(change.result, "refresh", None)
    if refresh is not None:
        details["refresh_seconds"] = round(refresh.seconds, 3)
    moved = certificate.moved[:MOST_NAMED]
    return Entry(0, time.time(), change.action, change.id, moved, len(certificate.moved), details)


def add_entries(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    """Add entries, and delete the oldest if there are too many."""
    if not entries:
        return
    last = connection.execute("SELECT max(number) FROM log").fetchone()[0] or 0
    expect(0 <= last < MODULUS, "log")
    query = "INSERT INTO log (time, action, id, details) VALUES (?, ?, ?, ?)"
    for _, at, action, id, moved, moved_in_all, details in entries:
        text = json.dumps({"moved": moved, "moved_in_all": moved_in_all, **details})
        connection.execute(query, (at, action, id, text))
    connection.execute("DELETE FROM log WHERE number <= ?", (last + len(entries) - LENGTH,))


def unname_other_labels(connection: sqlite3.Connection) -> None:
    """Replace labels that no example has, or had, by null in the pairs that entries name."""
    query = (
        "SELECT label FROM examples UNION "
        "SELECT value FROM examples, json_each(corrected) WHERE corrected IS NOT NULL"
    )
    known, changed = {None, *(label for (label,) in connection.execute(query))}, []
    for number, text in ascending(connection.execute("SELECT number, details FROM log")):
        details = _checked_details(text)
        pairs = details.get("moved", [])
        named = [[each if each in known else None for each in pair] for pair in pairs]
        if named != pairs:
            changed.append((json.dumps({**details, "moved": named}), number))
    connection.executemany("UPDATE log SET details = ? WHERE number = ?", changed)


def read_entries(connection: sqlite3.Connection, after: int) -> list[Entry]:
    """Return the entries with higher numbers than `after`; raise DamagedRecord if one is none."""
    query = "SELECT number, time, action, id, details FROM log WHERE number > ? ORDER BY number"
    found = ascending(connection.execute(query, (after,)))
    return [checked_entry(*each) for each in islice(found, LENGTH)]


def ascending(rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """Yield records; raise DamagedRecord unless their first values are ascending numbers."""
    last = -(2**64)
    for row in rows:
        expect(type(row[0]) is int and row[0] > last, "order")
        last = row[0]
        yield row


def checked_entry(number: Any, at: Any, action: Any, id: Any, text: Any) -> Entry:
    """Return an entry; raise DamagedRecord if one of its values is malformed."""
    expect(type(number) is int and 0 < number < MODULUS, "log")
    expect(type(at) is float and EARLIEST <= at <= LATEST and type(action) is str, "log")
    expect(id is None or _is_name(id), "log")
    details = _checked_details(text)
    moved = tuple((a, b) for a, b in details.pop("moved", []))
    in_all = details.pop("moved_in_all", len(moved))
    return Entry(number, at, action, id, moved, in_all, details)


def _checked_details(text: Any) -> dict[str, Any]:
    details = decoded(text)
    if not isinstance(details, dict):
        raise DamagedRecord("log")
    pairs, ids = details.get("moved", []), details.get("forgotten_ids", [])
    expect(
        isinstance(pairs, list) and len(pairs) <= MOST_NAMED and all(map(_is_pair, pairs)), "log"
    )
    expect(isinstance(ids, list) and all(map(_is_name, ids)), "log")
    numbers = [each for key, each in details.items() if key not in ("moved", "forgotten_ids")]
    expect(all(type(each) in (int, float) and 0 <= each < MODULUS for each in numbers), "log")
    return details


def _is_name(value: object) -> bool:
    return type(value) in (int, str)


def _is_pair(value: object) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(each is None or _is_name(each) for each in value)  # type: ignore[attr-defined]
