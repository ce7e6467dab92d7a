"""Read the records of one state; each is checked against its checksum, the *seal*.

A *place* is the number of a stored row; the records of examples and rows have it as their key.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints
from minout.store.records import DamagedRecord
from minout.store.schema import SEALED, ExampleRecord, Key, example_seal, seal_of

LEAST_BYTES = 16
"""A lower bound of the bytes that an example takes in the file."""
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


class Reading:
    """The records of one state, while it is read.

    Its methods raise DamagedRecord if a record does not match its seal or is malformed. `limit` is
    the size of the file: records that have more bytes than this in all are damaged. `since` is the
    number of an earlier state: examples that have not changed since are not read.
    """

    def __init__(self, connection: sqlite3.Connection, limit: int, since: int) -> None:
        self._connection, self.limit, self.since = connection, limit, since

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
        columns = checked_examples(found)
        places = columns.numbers["place"]
        if not (places.min(initial=0) >= 0 and places.max(initial=-1) < end):
            raise DamagedRecord("examples")
        if not (np.diff(places) > 0).all() or (not self.since and len(found) != end):
            raise DamagedRecord("examples")
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
        room, last = self.limit, _BEFORE_ALL[table]
        cursor = self._connection.execute(f"SELECT key, value, seal FROM {table} ORDER BY key")
        while block := cursor.fetchmany(FEW):
            for key, value, seal in block:
                if not is_sealed(table, key, value, seal) or not last < key:
                    raise DamagedRecord(table)
                room -= len(value)
                if room < 0:
                    raise DamagedRecord(table)
                found[key], last = value, key
        return found

    def total(self) -> int:
        """Return the sum of the seals of all records."""
        queries = (f"SELECT sum(seal) FROM {table}" for table in SEALED)
        return sum(self._connection.execute(query).fetchone()[0] or 0 for query in queries)


_BEFORE_ALL: dict[str, Any] = {"separators": -1, "images": -1, "parts": ""}


def is_sealed(table: str, key: Any, value: Any, seal: Any) -> bool:
    """Return whether the values of a record with a key have the right types and the right seal."""
    kind = str if table == "parts" else int
    return type(key) is kind and type(value) is bytes and seal == seal_of(table, key, value)


def _length(records: list[Any]) -> int:
    # The characters of id, label and earlier labels.
    texts = (text for record in records for text in (record[1], record[2], record[-2]))
    try:
        return sum(map(len, filter(None, texts)))
    except TypeError:  # a number
        raise DamagedRecord("examples") from None


def checked_examples(records: Sequence[Any]) -> ExampleColumns:
    """Return records of examples, which end with their seals, as columns."""
    numbers = np.zeros(len(records), dtype=NUMBERS)
    if not records:
        return ExampleColumns(numbers, (), (), ())
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
    return ExampleColumns(numbers, *texts)


def _ranges(places: Ints) -> Iterator[tuple[int, int]]:
    # Ranges of places to read: near ones together, so that few queries skip few rows.
    breaks = np.flatnonzero(np.diff(places) > 4) + 1
    for part in np.split(places, breaks) if len(places) else ():
        yield int(part[0]), int(part[-1])
