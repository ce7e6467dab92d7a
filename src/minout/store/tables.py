"""The tables of a model's file, the views that people read, checksums, and arrays as bytes.

The checksum of a record is its *seal*. `meta` has the sum of all seals and the number of records,
so that a record that is missing, or left from an earlier state, is noticed. `version` counts the
commits; a record has the version of the commit that wrote it last, and `deleted` lists records
that are gone, so that a reader finds what changed since it last read.

Arrays are stored without pickle: a header of JSON, its length in front, and the arrays one after
the other. The header lists name, dtype and shape of each.
"""

import json
import math
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Ints, Words

APPLICATION = 0x6D696E6F  # "mino"
FORMAT = 4
MODULUS = 2**62  # the sum of all seals is modulo this
TELLS = "A model of minout, the exact online classifier; docs/format.md explains its tables."

SCHEMA = {
    "meta": """CREATE TABLE meta (
  about TEXT NOT NULL,
  version INTEGER NOT NULL,   -- counts commits
  total INTEGER NOT NULL,     -- the sum of all seals
  examples INTEGER NOT NULL,
  separators INTEGER NOT NULL,
  since INTEGER NOT NULL,     -- `deleted` has what was deleted after this version
  next_key INTEGER NOT NULL,
  next_id INTEGER NOT NULL,   -- the next automatic id
  taught INTEGER NOT NULL,    -- the next number in the order of teaching
  seal INTEGER NOT NULL
) STRICT""",
    "examples": """CREATE TABLE examples (
  key INTEGER PRIMARY KEY,    -- never used again for another example
  version INTEGER NOT NULL,
  id ANY NOT NULL,
  label ANY NOT NULL,
  weight REAL NOT NULL,
  time REAL NOT NULL,         -- when it was taught: seconds since 1970
  region INTEGER NOT NULL,    -- a label has one region or several
  serial INTEGER NOT NULL,    -- its number in the order of teaching
  digest BLOB NOT NULL,       -- a hash of its row
  misfit INTEGER NOT NULL,    -- 1: on the wrong side of a separator
  pending INTEGER NOT NULL,   -- 1: waits until a separator is computed again
  corrected TEXT,             -- the labels that it had before, as JSON
  seal INTEGER NOT NULL
) STRICT""",
    "examples_by_version": "CREATE INDEX examples_by_version ON examples (version)",
    "rows": "CREATE TABLE rows (key INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT",
    "separators": """CREATE TABLE separators (
  pair INTEGER PRIMARY KEY,   -- of the regions low < high: high (high - 1) / 2 + low
  version INTEGER NOT NULL,
  label_a ANY NOT NULL,       -- the label of region low, on the positive side
  label_b ANY NOT NULL,
  b REAL NOT NULL,
  w BLOB NOT NULL,            -- float64, little-endian: f(x) = w·(x - origin) + b
  support INTEGER NOT NULL,   -- the number of support vectors
  arrays BLOB NOT NULL,
  seal INTEGER NOT NULL
) STRICT""",
    "separators_by_version": "CREATE INDEX separators_by_version ON separators (version)",
    "frame": """CREATE TABLE frame (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  value ANY NOT NULL,         -- JSON as text, or arrays
  seal INTEGER NOT NULL
) STRICT""",
    "deleted": """CREATE TABLE deleted (
  kind TEXT NOT NULL,         -- the name of the table
  key INTEGER NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID""",
    "log": """CREATE TABLE log (
  number INTEGER PRIMARY KEY,
  time REAL NOT NULL,
  action TEXT NOT NULL,
  id ANY,
  details TEXT NOT NULL       -- JSON
) STRICT""",
    "log_by_id": "CREATE INDEX log_by_id ON log (id)",
    "labels": """CREATE VIEW labels AS
  SELECT label, count(*) AS examples, sum(misfit) AS misfits, sum(weight) AS weight
  FROM examples GROUP BY label""",
    "misfits": """CREATE VIEW misfits AS
  SELECT id, label, datetime(time, 'unixepoch') AS taught, weight, corrected
  FROM examples WHERE misfit ORDER BY key""",
    "moves": """CREATE VIEW moves AS
  SELECT number, datetime(time, 'unixepoch') AS at, action, log.id AS id,
    json_extract(pair.value, '$[0]') AS label_a, json_extract(pair.value, '$[1]') AS label_b
  FROM log, json_each(details, '$.moved') AS pair ORDER BY number""",
}

KINDS: dict[str, set[type]] = {"INTEGER": {int}, "REAL": {float}, "TEXT": {str}, "BLOB": {bytes}}
COLUMNS = {
    table: {
        name: KINDS.get(kind, {int, str, bytes}) | ({type(None)} if not rule else set())
        for name, kind, rule in re.findall(r"\n  (\w+) (\w+)( NOT| PRIMARY)?", SCHEMA[table])
        if name not in ("version", "seal")
    }
    for table in ("examples", "separators", "frame")
}
"""The columns that the seal of a record covers, and their types; the first one is the key."""
COUNTERS = ("next_key", "next_id", "taught")
"""What changes whenever an example is taught: it is in `meta`, so that a commit is small."""

Arrays = dict[str, NDArray[Any]]
DTYPES = frozenset({"<f8", "<f4", "<i8", "<u8", "|i1", "|u1", "|b1"})
FACTORS: Words = np.random.default_rng(0).integers(2**63, size=16, dtype=np.uint64) * 2 + 1
"""Odd numbers by which the values of a record are multiplied in its seal."""
LENGTH = 8  # the number of bytes of the header's length
LONGEST_HEADER = 10_000


class Meta(NamedTuple):
    """The numbers of a state: see `SCHEMA`."""

    version: int = 0
    total: int = 0
    examples: int = 0
    separators: int = 0
    since: int = 0
    next_key: int = 0
    next_id: int = 0
    taught: int = 0


class DamagedRecord(ValueError):  # noqa: N818, it is never shown to a user
    """A record that minout did not write, or that was damaged since."""


def expect(condition: bool, name: str) -> None:
    """Raise DamagedRecord, about what is named, unless a condition holds."""
    if not condition:
        raise DamagedRecord(name)


def decoded(text: Any) -> Any:
    """Return the value of JSON; raise DamagedRecord if it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise DamagedRecord("JSON") from None


def sealed(*values: Any) -> int:
    """Return the checksum of a record: the upper half of a sum of products, modulo 2**64."""
    total, words = 0, map(_word, values)
    for word, factor in zip(words, FACTORS.tolist(), strict=False):
        total += (word ^ word >> 31) * factor
    return total >> 32 & 0xFFFFFFFF


def _seals(columns: Sequence[Sequence[Any]]) -> Ints:
    # The same for many records, column by column.
    words = np.column_stack([_words(column) for column in columns])
    words ^= words >> np.uint64(31)
    total = (words * FACTORS[: len(columns)]).sum(axis=1, dtype=np.uint64)
    return np.asarray((total >> np.uint64(32)).astype(np.int64))


def _word(value: Any) -> int:
    # A number of 64 bits for a value.
    if type(value) is int:
        return value & 2**64 - 1
    if type(value) is float:
        return int.from_bytes(struct.pack("<d", value), "little")
    if type(value) is bytes:
        return zlib.crc32(value)
    return zlib.crc32(repr(value).encode("utf-8", "surrogatepass"), 1)


def _words(column: Sequence[Any]) -> Words:
    kinds = {*map(type, column)}
    if kinds in ({int}, {float}):
        return np.array(column, np.int64 if kinds == {int} else np.float64).view(np.uint64)
    if kinds == {bytes}:
        return np.fromiter(map(zlib.crc32, column), np.uint64, len(column))
    words = {each: _word(each) for each in {*column}}
    return np.fromiter(map(words.__getitem__, column), np.uint64, len(column))


def checked(table: str, columns: Sequence[Sequence[Any]]) -> int:
    """Return the sum of the seals of records, which are given by columns, the seals last.

    Raises DamagedRecord unless minout may have written them: their types are those of their
    columns, and their seals right.
    """
    *values, seals = columns
    for column, kinds in zip(values, COLUMNS[table].values(), strict=True):
        expect({*map(type, column)} <= kinds, table)
    expect([*seals] == _seals(values).tolist(), table)
    return sum(seals)


def packed_row(row: bytes) -> bytes:
    """Return the bytes of a row as they are stored: compressed if half of them are 0."""
    packed = zlib.compress(row, 1) if 2 * row.count(0) > len(row) else row
    return packed if len(packed) < len(row) else row


def unpacked_row(stored: bytes, most: int = 0) -> bytes:
    """Return the bytes of a row, or a few more than `most`; what zlib did not write is as it is."""
    expanding = zlib.decompressobj()
    try:
        row = expanding.decompress(stored, most and most + 1)
    except zlib.error:
        return stored
    return row if expanding.eof and not expanding.unused_data else stored


def encode_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays as bytes."""
    header = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    text = json.dumps(header).encode()
    bodies = [array.tobytes() for array in arrays.values()]
    return b"".join([len(text).to_bytes(LENGTH, "little"), text, *bodies])


def decode_arrays(value: bytes) -> Arrays:
    """Return the arrays of a record, as copies; raise DamagedRecord if the bytes are malformed.

    Sizes are compared with the number of bytes before any memory is taken.
    """
    try:
        end = LENGTH + int.from_bytes(value[:LENGTH], "little")
        expect(end <= min(len(value), LENGTH + LONGEST_HEADER), "length")
        found: Arrays = {}
        for name, dtype, shape in json.loads(value[LENGTH:end]):
            expect(all(type(n) is int and n >= 0 for n in shape) and dtype in DTYPES, "shape")
            expect(type(name) is str and name not in found, "name")
            kind, start, count = np.dtype(dtype), end, math.prod(shape)
            end += count * kind.itemsize
            expect(end <= len(value), name)
            flat = np.frombuffer(value, kind, count, start)
            expect(dtype != "|b1" or bool((flat.view(np.uint8) <= 1).all()), name)
            found[name] = flat.reshape(shape).copy()  # too many numbers without a byte: ValueError
        expect(end == len(value), "length")
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRecord("arrays") from error
    return found
