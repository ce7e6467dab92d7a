"""Read the records of one state; each is checked against its checksum, its seal."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Ints
from minout.store.records import DamagedRecord
from minout.store.schema import KEYED, MODULUS, ExampleRecord, Key, is_example, seal_of

LEAST_BYTES = 16
"""An example takes more bytes than this in the file."""
STEPS, LEAST_STEPS, STEPS_PER_BYTE = 10_000, 1_000_000, 10
"""How many steps SQLite takes between two questions whether it may go on, and how many it may take
for a file of no bytes and for each byte; a record takes at most some hundred steps."""
FEW = 1_000
"""How many records are read at a time."""


class KnownState:
    """The newest state that a connection knows: its number, and the seals of all records."""

    def __init__(self, version: int = 0, total: int = 0) -> None:
        self.version, self.total = version, total
        self.examples: Ints = np.zeros(0, dtype=np.int64)
        self.keyed: dict[str, dict[Key, int]] = {table: {} for table in KEYED}

    def follow(self, update: "Update") -> None:
        """Take over what was written, in place; twice is the same as once."""
        self.resize(update.end)
        for place, seal in update.examples.items():
            self.examples[place] = seal
        for table, seals in update.keyed.items():
            for key, new in seals.items():
                if new is None:
                    self.keyed[table].pop(key, None)
                else:
                    self.keyed[table][key] = new
        self.version, self.total = update.version, update.total

    def resize(self, end: int) -> None:
        """Have one seal for each of so many places, in place."""
        if end > len(self.examples):
            more = np.zeros(max(end, 2 * len(self.examples)), dtype=np.int64)
            more[: len(self.examples)] = self.examples
            self.examples = more
        self.examples[end:] = 0

    def seals_from(self, end: int) -> int:
        """Return the sum of the seals of examples from a place on."""
        return int(self.examples[end:].sum())


class Update(NamedTuple):
    """What a transaction changes in what is known: new seals, None for deleted records."""

    version: int
    total: int
    end: int
    examples: dict[int, int]
    keyed: dict[str, dict[Key, int | None]]


class Reading:
    """The records of one state, while it is read.

    Its methods raise DamagedRecord if a record does not match its seal or is not as it must be.
    `limit` is the size of the file: what is read cannot have more bytes.
    """

    def __init__(self, connection: sqlite3.Connection, limit: int, known: KnownState) -> None:
        self._connection, self.limit = connection, limit
        self.since = known.version
        self._seals, self._keyed = known.examples, KnownState().keyed

    def examples(self, end: int) -> list[ExampleRecord]:
        """Return the examples that changed since the known state, by place; there are `end`."""
        if not 0 <= end * LEAST_BYTES <= self.limit:
            raise DamagedRecord("examples")
        seals = np.zeros(end, dtype=np.int64)
        known = min(end, len(self._seals))
        seals[:known] = self._seals[:known]
        where = "WHERE version > ? ORDER BY place" if self.since else "ORDER BY place"
        query = f"SELECT {', '.join(ExampleRecord._fields)}, seal FROM examples {where}"
        found, last = [], -1
        for *fields, seal in self._each(query, (self.since,) if self.since else ()):
            record = ExampleRecord(*fields)
            if not is_example(record) or not last < record.place < end or record.seal() != seal:
                raise DamagedRecord("examples")
            last, seals[record.place] = record.place, seal
            found.append(record)
        if not self.since and len(found) != end:
            raise DamagedRecord("examples")
        self._seals = seals
        return found

    def rows(self, places: Ints, width: int, put: Callable[[int, bytes], None]) -> None:
        """Call a function with place and bytes of the rows at some ascending places.

        A row has `width` bytes. Together they cannot have more bytes than the file.
        """
        if len(places) * width > self.limit:
            raise DamagedRecord("rows")
        if not len(places):
            return
        wanted = set(places.tolist())
        query = "SELECT place, row FROM rows WHERE place BETWEEN ? AND ? ORDER BY place"
        last, found = -1, 0
        for first, until in _ranges(places):
            for place, row in self._each(query, (first, until)):
                if not isinstance(place, int) or place <= last:
                    raise DamagedRecord("rows")
                last = place
                if place in wanted:
                    if not isinstance(row, bytes) or len(row) != width:
                        raise DamagedRecord("rows")
                    put(place, row)
                    found += 1
        if found != len(wanted):
            raise DamagedRecord("rows")

    def keyed(self, table: str) -> dict[Key, bytes]:
        """Return all records of a table by key, in the order of the keys."""
        found: dict[Key, bytes] = {}
        seals: dict[Key, int] = {}
        room, kind, last = self.limit, str if table == "parts" else int, _BEFORE_ALL[table]
        for key, value, seal in self._each(f"SELECT key, value, seal FROM {table} ORDER BY key"):
            if type(key) is not kind or type(value) is not bytes or type(seal) is not int:
                raise DamagedRecord(table)
            room -= len(value)
            if room < 0 or not last < key:
                raise DamagedRecord(table)
            if seal_of(table, key, value) != seal:
                raise DamagedRecord(table)
            found[key], seals[key], last = value, seal, key
        self._keyed[table] = seals
        return found

    def total(self) -> int:
        """Return the sum of all seals that were read."""
        keyed = sum(sum(seals.values()) for seals in self._keyed.values())
        return (int(self._seals.sum()) + keyed) % MODULUS

    def known(self, version: int, total: int) -> KnownState:
        """Return what is known once all has been read."""
        found = KnownState(version, total)
        found.examples, found.keyed = self._seals, self._keyed
        return found

    def _each(self, query: str, arguments: tuple[int, ...] = ()) -> Iterator[Any]:
        cursor = self._connection.execute(query, arguments)
        while block := cursor.fetchmany(FEW):
            yield from block


@contextmanager
def bounded_work(connection: sqlite3.Connection, size: int) -> Iterator[None]:
    """Interrupt queries that take many more steps than a file of this size needs.

    In a forged file a page may belong to a table many times, so that a query would not end.
    """
    left = [(LEAST_STEPS + STEPS_PER_BYTE * size) // STEPS]

    def is_too_long() -> bool:
        left[0] -= 1
        return left[0] < 0

    connection.set_progress_handler(is_too_long, STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


def ascending(rows: Iterable[Sequence[Any]]) -> Iterator[Any]:
    """Yield records; raise DamagedRecord unless their first values are ascending numbers."""
    last = -(2**64)
    for row in rows:
        if type(row[0]) is not int or row[0] <= last:
            raise DamagedRecord("order")
        last = row[0]
        yield row


_BEFORE_ALL: dict[str, Any] = {"separators": -1, "images": -1, "parts": ""}


def _ranges(places: Ints) -> Iterator[tuple[int, int]]:
    # Ranges of places to read: near ones together, so that few queries skip few rows.
    breaks = np.flatnonzero(np.diff(places) > 4) + 1
    for part in np.split(places, breaks):
        yield int(part[0]), int(part[-1])
