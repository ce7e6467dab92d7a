"""Read the records of one state; each is checked against its checksum, the *seal*.

A *place* is the number of a stored row; the records of examples and rows have it as their key.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints
from minout.store.records import DamagedRecord
from minout.store.schema import KEYED, MODULUS, ExampleRecord, Key, example_seal, seal_of

LEAST_BYTES = 16
"""A lower bound of the bytes that an example takes in the file."""
STEPS, LEAST_STEPS, STEPS_PER_BYTE = 10_000, 1_000_000, 10
"""How many steps SQLite takes between two questions whether it may go on, and how many it may take
for a file of no bytes and for each byte; a record takes at most some hundred steps."""
FEW = 1_000
"""How many records are read at a time."""
NUMBERS = np.dtype(
    [(name, "<i8") for name in ("place", "region", "position")]
    + [(name, "<f8") for name in ("weight", "time")]
    + [(name, "<i8") for name in ("serial", "digest")]
)
"""The numbers of an example's record."""


class ExampleColumns(NamedTuple):
    """Records of examples, in columns: their numbers, and id, label and earlier labels as JSON."""

    numbers: NDArray[Any]
    ids: tuple[str | None, ...]
    labels: tuple[str | None, ...]
    corrected: tuple[str | None, ...]


class KnownState:
    """The newest state that a connection knows: its number, and the seals of all records."""

    def __init__(self, version: int = 0, total: int = 0) -> None:
        self.version, self.total = version, total
        self.examples: Ints = np.zeros(0, dtype=np.int64)
        self.keyed: dict[str, dict[Key, int]] = {table: {} for table in KEYED}

    def follow(self, update: "Update") -> None:
        """Follow a transaction that was committed, in place; idempotent."""
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
        """Have seals for the places below `end`, and clear those of others, in place."""
        if end > len(self.examples):
            more = np.zeros(max(end, 2 * len(self.examples)), dtype=np.int64)
            more[: len(self.examples)] = self.examples
            self.examples = more
        self.examples[end:] = 0

    def seals_from(self, end: int) -> int:
        """Return the sum of the seals of examples at places from `end` on."""
        return int(self.examples[end:].sum())


class Update(NamedTuple):
    """What a transaction changes in a `KnownState`: new seals, None for deleted records."""

    version: int
    total: int
    end: int
    examples: dict[int, int]
    keyed: dict[str, dict[Key, int | None]]


class Reading:
    """The records of one state, while it is read.

    Its methods raise DamagedRecord if a record does not match its seal or is malformed. `limit` is
    the size of the file: records that have more bytes than this in all are damaged.
    """

    def __init__(self, connection: sqlite3.Connection, limit: int, known: KnownState) -> None:
        self._connection, self.limit = connection, limit
        self.since = known.version
        self._seals, self._keyed = known.examples, KnownState().keyed

    def examples(self, end: int) -> ExampleColumns:
        """Return the examples that changed since the known state; there are `end` places."""
        if not 0 <= end * LEAST_BYTES <= self.limit:
            raise DamagedRecord("examples")
        where = "WHERE version > ? ORDER BY place" if self.since else "ORDER BY place"
        query = f"SELECT {', '.join(ExampleRecord._fields)}, seal FROM examples {where}"
        arguments = (self.since,) if self.since else ()
        found, room, cursor = [], self.limit, self._connection.execute(query, arguments)
        while block := cursor.fetchmany(FEW):
            room -= _length(block)  # in a forged file, several records may share one text
            found += block
            if room < 0 or len(found) > end:
                raise DamagedRecord("examples")
        columns, seals = _columns(found)
        places = columns.numbers["place"]
        if not (places.min(initial=0) >= 0 and places.max(initial=-1) < end):
            raise DamagedRecord("examples")
        if not (np.diff(places) > 0).all() or (not self.since and len(found) != end):
            raise DamagedRecord("examples")
        all_seals = np.zeros(end, dtype=np.int64)
        known = min(end, len(self._seals))
        all_seals[:known] = self._seals[:known]
        all_seals[places] = seals
        self._seals = all_seals
        return columns

    def rows(self, places: Ints, width: int) -> Iterator[tuple[Ints, bytes]]:
        """Yield the rows at some ascending places, in blocks: places, and bytes concatenated.

        A row has `width` bytes.
        """
        if len(places) * width > self.limit:
            raise DamagedRecord("rows")
        query = "SELECT place, row FROM rows WHERE place BETWEEN ? AND ? ORDER BY place"
        is_wanted = np.zeros(int(places.max(initial=-1)) + 1, dtype=bool)
        is_wanted[places] = True
        found = 0
        for first, until in _ranges(places):
            cursor = self._connection.execute(query, (first, until))
            while block := cursor.fetchmany(FEW):
                if not all(first <= place <= until for place, _ in block):
                    raise DamagedRecord("rows")
                wanted = [each for each in block if is_wanted[each[0]]]
                numbers, values = zip(*wanted, strict=True) if wanted else ((), ())
                if set(map(type, values)) - {bytes} or set(map(len, values)) - {width}:
                    raise DamagedRecord("rows")
                found += len(wanted)
                yield np.array(numbers, dtype=np.int64), b"".join(values)
        if found != len(places):
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
        """Return the known state once all records have been read."""
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


def _length(records: list[Any]) -> int:
    # The characters of id, label and earlier labels.
    texts = (text for record in records for text in (record[1], record[2], record[-2]))
    try:
        return sum(map(len, filter(None, texts)))
    except TypeError:  # a number
        raise DamagedRecord("examples") from None


def _columns(records: list[Any]) -> tuple[ExampleColumns, list[int]]:
    # Records with their seals, each checked, as columns.
    numbers = np.zeros(len(records), dtype=NUMBERS)
    if not records:
        return ExampleColumns(numbers, (), (), ()), []
    *fields, seals = zip(*records, strict=True)
    columns = dict(zip(ExampleRecord._fields, fields, strict=True))
    texts = [columns.pop(name) for name in ("id", "label", "corrected")]
    if any(set(map(type, each)) - {str, type(None)} for each in texts):
        raise DamagedRecord("examples")
    for name, values in columns.items():
        kind = float if NUMBERS[name].kind == "f" else int
        if set(map(type, values)) != {kind}:
            raise DamagedRecord("examples")
        numbers[name] = values
    packed, size = memoryview(numbers.tobytes()), NUMBERS.itemsize
    starts = range(0, len(packed), size)
    for start, seal, *text in zip(starts, seals, *texts, strict=True):
        if example_seal(packed[start : start + size], *text) != seal:
            raise DamagedRecord("examples")
    return ExampleColumns(numbers, *texts), list(seals)


def _ranges(places: Ints) -> Iterator[tuple[int, int]]:
    # Ranges of places to read: near ones together, so that few queries skip few rows.
    breaks = np.flatnonzero(np.diff(places) > 4) + 1
    for part in np.split(places, breaks) if len(places) else ():
        yield int(part[0]), int(part[-1])
