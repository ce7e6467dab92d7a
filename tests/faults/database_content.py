"""The content of a model's database as metadata and arrays, and back, with right checksums.

Metadata are the parts `about` and `notes`, and `text`: the values of columns that hold text,
decoded if they are JSON. Arrays are columns of numbers (`examples.region`), the rows, the images,
and the arrays of records (`separators.3.W`, `parts.metric.K`). `examples.digest` is what is to be
added to the digest of the row that is written, so that a changed row has the right one.
"""

import copy
import json
import sqlite3
import struct
from collections import defaultdict
from contextlib import closing, contextmanager, suppress

import numpy as np

from minout import kernels
from minout.store import decode_arrays, encode_arrays
from minout.store.schema import (
    APPLICATION,
    DATABASE,
    FORMAT,
    MODULUS,
    PAGE,
    SCHEMA,
    ExampleRecord,
    seal_of,
)

NUMBERS = {
    "head": {"version": int},
    "examples": {
        **{"place": int, "version": int, "region": int, "position": int},
        **{"weight": float, "time": float, "serial": int},
    },
    "rows": {"place": int},
    "separators": {"key": int},
    "images": {"key": int},
    "log": {"number": int, "time": float},
}
TEXT = {"examples": ("id", "label", "corrected"), "log": ("id", "details")}
PLAIN = ("action",)


def connect(folder):
    """Open a database as a forger does: nothing is checked."""
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.execute("PRAGMA synchronous=OFF")
    return connection


def read(folder):
    """Return metadata and arrays of the database of a folder."""
    with closing(connect(folder)) as connection:
        return _read(connection)


def _read(connection):
    def column(table, name):
        found = connection.execute(f"SELECT {name} FROM {table} ORDER BY rowid")
        return [value for (value,) in found]

    parts = dict(connection.execute("SELECT key, value FROM parts"))
    about = json.loads(parts.pop("about")) | {"notes": json.loads(parts.pop("notes"))}
    about["text"] = {
        f"{table}.{name}": [_decoded(name, each) for each in column(table, name)]
        for table, names in {**TEXT, "log": ("action", *TEXT["log"])}.items()
        for name in names
    }
    arrays = {
        f"{table}.{name}": np.array(column(table, name), dtype=kind)
        for table, names in NUMBERS.items()
        for name, kind in names.items()
    }
    arrays["examples.digest"] = np.zeros(len(arrays["examples.place"]), dtype=np.int64)
    rows = b"".join(column("rows", "row"))
    arrays["rows"] = np.frombuffer(rows, about["dtype"]).reshape(-1, about["width"])
    images = column("images", "value")
    decoded = about["state"].get("memory", about)["dtype"]
    kind = np.float64 if "far" in parts else decoded
    arrays["images"] = np.frombuffer(b"".join(images), kind).reshape(len(images), -1)
    for key, value in connection.execute("SELECT key, value FROM separators ORDER BY key"):
        arrays |= {f"separators.{key}.{name}": each for name, each in decode_arrays(value).items()}
    for key, value in parts.items():
        arrays |= {f"parts.{key}.{name}": each for name, each in decode_arrays(value).items()}
    return about, arrays


def _decoded(name, value):
    return value if name in PLAIN or value is None else json.loads(value)


def write(folder, about, arrays):
    """Make a folder with this content; raise ValueError if a database cannot hold it."""
    with building(folder, about, arrays):
        pass


@contextmanager
def building(folder, about, arrays):
    """Make a folder with this content; the `with` statement may change the database before it ends.

    In it, columns take values of any type. At its end, seals and the sum of seals are made right.
    """
    folder.mkdir()
    with closing(connect(folder)) as connection:
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={FORMAT}")
        connection.execute("BEGIN")
        for statement in SCHEMA.values():
            connection.execute(statement.replace(" STRICT", "").replace(" NOT NULL", ""))
        try:
            _fill(connection, copy.deepcopy(about), arrays)
            yield connection
        except (OverflowError, TypeError, IndexError, sqlite3.IntegrityError) as error:
            raise ValueError("no database can hold it") from error
        reseal(connection)
        connection.execute("PRAGMA writable_schema=ON")
        for name, statement in SCHEMA.items():
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (statement, name))
        connection.execute("COMMIT")
    with closing(connect(folder)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _fill(connection, about, arrays):
    text, notes = about.pop("text", {}), about.pop("notes", None)
    put = connection.executemany
    put("INSERT INTO head VALUES (1, ?, 0)", _columns(text, arrays, "head", ("version",)))
    names = ("place", "version", "id", "label", "region", "position", "weight", "time", "serial")
    examples = _columns(text, arrays, "examples", (*names, "corrected"))
    digests = _digests(about, arrays)
    off = np.resize(arrays.get("examples.digest", 0), len(examples)).astype(np.int64).tolist()
    whole = [
        (*each[:-1], _signed(digests.get(each[0], 0) + more), each[-1], 0)
        for each, more in zip(examples, off, strict=True)
    ]
    marks = ", ".join("?" * 12)
    put(f"INSERT OR REPLACE INTO examples VALUES ({marks})", whole)
    put("INSERT OR REPLACE INTO rows VALUES (?, ?)", _values(arrays, "rows.place", "rows"))
    images = _values(arrays, "images.key", "images")
    put("INSERT OR REPLACE INTO images VALUES (?, ?, 0)", images)
    records = _records(arrays, "separators").values()
    keys = np.reshape(arrays.get("separators.key", ()), -1).tolist()
    put("INSERT OR REPLACE INTO separators VALUES (?, ?, 0)", zip(keys, records, strict=False))
    parts = _records(arrays, "parts")
    parts |= {"about": json.dumps(about).encode(), "notes": json.dumps(notes).encode()}
    put("INSERT INTO parts VALUES (?, ?, 0)", parts.items())
    log = _columns(text, arrays, "log", ("number", "time", "action", "id", "details"))
    put("INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?, ?)", log)


def _columns(text, arrays, table, names):
    # The records of a table; a column that is missing is NULL, and texts are repeated if need be.
    numbers = {name: arrays[f"{table}.{name}"] for name in names if f"{table}.{name}" in arrays}
    count = max((each.size for each in numbers.values()), default=0)
    found = []
    for name in names:
        if name in numbers:
            values = np.reshape(numbers[name], -1).tolist()[:count]
            found.append([*values, *[None] * (count - len(values))])
        elif name in NUMBERS[table]:
            found.append([None] * count)
        else:
            found.append(_texts(text, f"{table}.{name}", count))
    return list(zip(*found, strict=True))


def _texts(text, name, count):
    values = text.get(name) if isinstance(text, dict) else text
    values = values if isinstance(values, list) and values else [values]
    return [_encoded(name, values[n % len(values)]) for n in range(count)]


def _encoded(name, value):
    is_plain = name.endswith(PLAIN) and isinstance(value, str)
    return value if value is None or is_plain else json.dumps(value)


def _values(arrays, keys, values):
    keys = np.reshape(arrays.get(keys, ()), -1).tolist()
    listed = np.atleast_1d(arrays.get(values, np.empty(0)))
    values = [np.ascontiguousarray(each).tobytes() for each in listed]
    return list(zip(keys, values, strict=False))


def _digests(about, arrays):
    found = {}
    for place, row in _values(arrays, "rows.place", "rows"):
        size = {"float32": 4, "uint8": 1}.get(str(about.get("dtype")), 8)
        words = np.frombuffer(row[: len(row) // size * size], f"u{size}").copy()
        found[place] = int(np.uint64(kernels.digest(words)).view(np.int64))
    return found


def _records(arrays, table):
    found = defaultdict(dict)
    for name, array in arrays.items():
        kind, _, rest = name.partition(".")
        key, dot, inner = rest.partition(".")
        if kind == table and dot:
            found[key][inner] = array
    return {key: encode_arrays(each) for key, each in found.items()}


def _signed(number):
    return (number + 2**63) % 2**64 - 2**63


def reseal(connection):
    """Make all seals right, and the sum of them."""
    total, fields = 0, ", ".join(ExampleRecord._fields)
    for number, *values in connection.execute(f"SELECT rowid, {fields} FROM examples").fetchall():
        seal = 0
        with suppress(struct.error, TypeError):  # values of other types
            seal = ExampleRecord(*values).seal()
        total += seal
        connection.execute("UPDATE examples SET seal = ? WHERE rowid = ?", (seal, number))
    for table in ("separators", "images", "parts"):
        query = f"SELECT rowid, key, value FROM {table}"
        for number, key, value in connection.execute(query).fetchall():
            seal = seal_of(table, key, value) if isinstance(value, bytes) else 0
            total += seal
            connection.execute(f"UPDATE {table} SET seal = ? WHERE rowid = ?", (seal, number))
    connection.execute("UPDATE head SET total = ?", (total % MODULUS,))
