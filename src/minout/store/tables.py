"""The tables of a model's file, the views that people read, and the checksum of a record.

The checksum of a record is its *seal*. `meta` has the sum of all seals and the number of records,
so that a record that is missing, or left from an earlier state, is noticed. `version` counts the
commits; a record has the version of the commit that wrote it last, and `deleted` lists records
that are gone, so that a reader finds what changed since it last read.
"""

import json
import zlib
from typing import Any

APPLICATION = 0x6D696E6F  # "mino"
FORMAT = 2
MODULUS = 2**62  # the sum of all seals is modulo this
TELLS = "A model of minout, the exact online classifier; docs/format.md explains its tables."

SCHEMA = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    "examples": """CREATE TABLE examples (
  key INTEGER PRIMARY KEY,    -- never used again for another example
  version INTEGER NOT NULL,
  id ANY NOT NULL,
  label ANY NOT NULL,
  region INTEGER NOT NULL,
  weight REAL NOT NULL,
  time REAL NOT NULL,         -- when it was taught: seconds since 1970
  serial INTEGER NOT NULL,    -- the order of teaching
  digest BLOB NOT NULL,       -- a hash of the numbers in the row
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
) STRICT, WITHOUT ROWID""",
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
  FROM examples WHERE misfit ORDER BY serial""",
    "moves": """CREATE VIEW moves AS
  SELECT number, datetime(time, 'unixepoch') AS at, action, log.id AS id,
    json_extract(pair.value, '$[0]') AS label_a, json_extract(pair.value, '$[1]') AS label_b
  FROM log, json_each(details, '$.moved') AS pair ORDER BY number""",
}
SEALED = ("examples", "separators", "frame")  # the tables whose records have seals

EXAMPLE = (
    *("key", "id", "label", "region", "weight", "time", "serial", "digest"),
    *("misfit", "pending", "corrected"),
)
"""The columns of an example that its seal covers, in this order."""
SEPARATOR = ("pair", "label_a", "label_b", "b", "w", "support", "arrays")
PART = ("name", "value")


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
    """Return the checksum of a record's values: CRC-32 of what Python prints, and of all bytes."""
    if bytes not in map(type, values):
        return zlib.crc32(repr(values).encode("utf-8", "surrogatepass"))
    plain = tuple(each for each in values if type(each) is not bytes)
    seal = zlib.crc32(repr(plain).encode("utf-8", "surrogatepass"))
    for each in values:
        if type(each) is bytes:
            seal = zlib.crc32(each, seal)
    return seal
