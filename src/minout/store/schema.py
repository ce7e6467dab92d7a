"""The tables of a model's database, and what one transaction writes to them."""

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

DATABASE = "model.sqlite"
QUEUE = ".lock"
APPLICATION = 0x6D696E6F  # "mino"
FORMAT = 1
PAGE = 8_192
MODULUS = 2**62
SCHEMA = {
    "head": """CREATE TABLE head (
  one INTEGER PRIMARY KEY, version INTEGER NOT NULL, total INTEGER NOT NULL
) STRICT""",
    "examples": """CREATE TABLE examples (
  place INTEGER PRIMARY KEY, version INTEGER NOT NULL, id TEXT, label TEXT,
  region INTEGER NOT NULL, position INTEGER NOT NULL, weight REAL NOT NULL,
  time REAL NOT NULL, serial INTEGER NOT NULL, digest INTEGER NOT NULL, corrected TEXT,
  seal INTEGER NOT NULL
) STRICT""",
    "examples_by_version": "CREATE INDEX examples_by_version ON examples (version)",
    "rows": "CREATE TABLE rows (place INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT",
    "separators": """CREATE TABLE separators (
  key INTEGER PRIMARY KEY, value BLOB NOT NULL, seal INTEGER NOT NULL
) STRICT""",
    "images": """CREATE TABLE images (
  key INTEGER PRIMARY KEY, value BLOB NOT NULL, seal INTEGER NOT NULL
) STRICT""",
    "parts": """CREATE TABLE parts (
  key TEXT PRIMARY KEY, value BLOB NOT NULL, seal INTEGER NOT NULL
) STRICT""",
    "log": """CREATE TABLE log (
  number INTEGER PRIMARY KEY, time REAL NOT NULL, action TEXT NOT NULL, id TEXT,
  details TEXT NOT NULL
) STRICT""",
}
KEYED = ("separators", "images", "parts")
SEALED = ("examples", *KEYED)
Key = int | str


class ExampleRecord(NamedTuple):
    """The record of the example at a place, the number of a row; `id` is None if it is free.

    `id`, `label` and `corrected` (the earlier labels) are JSON. `position` orders the members of a
    region, `serial` is the order of teaching, and `digest` is a hash of the row.
    """

    place: int
    id: str | None
    label: str | None
    region: int
    position: int
    weight: float
    time: float
    serial: int
    digest: int
    corrected: str | None

    @classmethod
    def free(cls, place: int) -> "ExampleRecord":
        """Return the record of a place that is not in use."""
        return cls(place, None, None, 0, 0, 1.0, 0.0, 0, 0, None)

    def seal(self) -> int:
        """Return its checksum."""
        numbers = (self.place, *self[3:9])
        return example_seal(_NUMBERS.pack(*numbers), self.id, self.label, self.corrected)


class LogEntry(NamedTuple):
    """One change, for the log: when, what, the id of its example, and details as JSON."""

    time: float
    action: str
    id: str | None
    details: str


class Changes(NamedTuple):
    """What one transaction writes: records by key; None deletes a record.

    `end` is the number of places. `emptied` are tables all of whose earlier records are deleted.
    The ids `forgotten` and the labels `gone` (JSON) are deleted from the log.
    """

    end: int
    examples: Sequence[ExampleRecord] = ()
    rows: Iterable[tuple[int, bytes]] = ()
    separators: Mapping[Key, bytes | None] = {}
    images: Mapping[Key, bytes | None] = {}
    parts: Mapping[Key, bytes | None] = {}
    emptied: Sequence[str] = ()
    log: Sequence[LogEntry] = ()
    forgotten: Sequence[str] = ()
    gone: Sequence[str] = ()


def seal_of(table: str, key: Key, value: bytes) -> int:
    """Return the checksum of a record with a key and a value."""
    return zlib.crc32(value, zlib.crc32(f"{table}:{key}:".encode()))


def example_seal(
    numbers: bytes | memoryview, id: str | None, label: str | None, corrected: str | None
) -> int:
    """Return the checksum of an example: of its numbers, 8 bytes each, and its texts."""
    return zlib.crc32(f"{id}\n{label}\n{corrected}".encode(), zlib.crc32(numbers))


_NUMBERS = struct.Struct("<qqqddqq")
"""Place, region, position, weight, time, serial, digest."""
