"""Forgeries of a model's database itself: types, schemas, headers of records and pages that lie.

Every kind takes metadata and arrays as `database_content.read` returns them, a folder to make, and
a random generator. Checksums are right.
"""

import sqlite3
import struct
from contextlib import closing

import numpy as np

from minout.store.schema import DATABASE, PAGE

from .database_content import building, connect, write

VALUES = [
    *(None, 0, 1, -1, 2**31, 2**62, 2**63 - 1, -(2**63), 0.5, -0.0, 1e300, float("inf"), -1e-300),
    *("", "x", "1", "null", '"x"', "[]", "[[1, 2]]", "{}", "[" * 99_999, "9" * 5_000, "\0", "é"),
    *(b"", b"\0", bytes(8), b"\xff" * 8, bytes(10_000), b"{}", b"\xff\xfe"),
]
LEAF = 0x0D


def another_value(about, arrays, folder, rng):
    """Put a value of any type into any column."""
    with building(folder, about, arrays) as connection:
        table = _one(TABLES, rng)
        names = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
        name, value = _one(names, rng), _one(VALUES, rng)
        where = "WHERE rowid = ?" if rng.random() < 0.7 else "WHERE rowid >= ?"
        try:
            connection.execute(
                f"UPDATE OR REPLACE {table} SET {name} = ? {where}",
                (value, _row(connection, table, rng)),
            )
        except sqlite3.IntegrityError:  # the number of a record must be one
            return None
    return f"{table}.{name} = {str(value)[:20]}"


TEXTS = [
    *("", "[", "{}", "[]", "3", "null", '"\\ud800"', "1e999", "NaN", "-1", '"x"', "9" * 4_000),
    *("[" * 9_000 + "]" * 9_000, '{"moved": [[1]]}', '{"checked": "x"}'),
]


def other_json(about, arrays, folder, rng):
    """Text that is no JSON, other JSON, or JSON that a parser cannot take."""
    columns = ["id", "label", "corrected"]
    table, column = _one(
        [
            *(("parts", "about"), ("parts", "notes"), ("log", "details"), ("log", "id")),
            *(("examples", each) for each in columns),
        ],
        rng,
    )
    text = _one(TEXTS, rng)
    with building(folder, about, arrays) as connection:
        if table == "parts":
            query = "UPDATE parts SET value = ? WHERE key = ?"
            connection.execute(query, (text.encode(), column))
        else:
            number = _row(connection, table, rng)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (text, number))
    return f"{column} = {text[:20]}"


HEADERS = [
    '[["a", "<f8", [0, 140737488355328, 140737488355328]]]',
    '[["a", "<f8", [1125899906842624]]]',
    '[["a", "<f8", [-1, -1]]]',
    '[["a", "<f8", [1.5]]]',
    '[["a", "<f8", [true]]]',
    '[["a", "<f8", []]]',
    '[["a", "<f8", "3"]]',
    '[["a", ["<f8"], [1]]]',
    '[["a", "|O", [1]]]',
    '[[["a"], "<f8", [0]]]',
    '[["a", "<f8", [0]], ["a", "<f8", [0]]]',
    '[["a", "<f8"]]',
    '{"a": 1}',
    "3",
    "[" * 9_000,
    "[" + ",".join(f'["{n}", "<f8", [0]]' for n in range(50_000)) + "]",
    "",
]


def lying_header(about, arrays, folder, rng):
    """Give a record of arrays a header that does not describe its bytes."""
    header = _one(HEADERS, rng)
    with building(folder, about, arrays) as connection:
        table = _one(["separators", "parts"], rng)
        query = f"SELECT rowid, value FROM {table} WHERE key NOT IN ('about', 'notes')"
        number, value = _one(connection.execute(query).fetchall(), rng)
        size = int.from_bytes(value[:8], "little")
        length = _one([len(header), len(header), 0, 2**63, 7], rng)
        new = length.to_bytes(8, "little") + header.encode() + value[8 + size :]
        connection.execute(f"UPDATE {table} SET value = ? WHERE rowid = ?", (new, number))
    return f"{table}: {header[:40]}"


def another_number(about, arrays, folder, rng):
    """Remove some records, add some, or give them other keys."""
    with building(folder, about, arrays) as connection:
        table = _one(TABLES[1:], rng)
        number = _row(connection, table, rng)
        key = {"parts": "key", "log": "number", "separators": "key", "images": "key"}.get(
            table, "place"
        )
        other = _one([-1, 10**6, 2**62, 2**63 - 1, -(2**63), number + 1], rng)
        names = [each[1] for each in connection.execute(f"PRAGMA table_info({table})")]
        same = ", ".join(name for name in names if name != key)
        statements = [
            f"DELETE FROM {table}",
            f"DELETE FROM {table} WHERE rowid = {number}",
            f"DELETE FROM {table} WHERE rowid > {number}",
            f"INSERT OR REPLACE INTO {table} ({key}, {same}) SELECT {other}, {same} FROM {table} "
            f"WHERE rowid = {number}",
            f"UPDATE OR REPLACE {table} SET {key} = {other} WHERE rowid = {number}",
        ]
        statement = _one(statements, rng)
        connection.execute(statement)
    return statement[:90]


SCHEMAS = [
    "CREATE TRIGGER more AFTER INSERT ON log BEGIN DELETE FROM rows; END",
    "CREATE VIEW more AS SELECT * FROM rows",
    "CREATE TABLE more (a)",
    "DROP TABLE images",
    "DROP TABLE log",
    "DROP TABLE head",
    "DROP INDEX examples_by_version",
    "PRAGMA application_id=1",
    "PRAGMA user_version=2",
    "PRAGMA journal_mode=DELETE",
    "REPLACED rows: CREATE VIEW rows AS SELECT place, randomblob(9) AS row FROM examples",
    "REPLACED images: CREATE VIRTUAL TABLE images USING fts5(key, value, seal)",
    "REPLACED examples: hello",
    "ROOT rows",
    "ROOT parts",
]


def another_schema(about, arrays, folder, rng):
    """Have other tables, views, triggers or settings, or two tables on the same pages."""
    write(folder, about, arrays)
    statement = _one(SCHEMAS, rng)
    with closing(connect(folder)) as connection:
        for setting in ("writable_schema=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {setting}")
        kind, _, rest = statement.partition(" ")
        if kind == "REPLACED":
            name, _, text = rest.partition(": ")
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, name))
        elif kind == "ROOT":
            query = "UPDATE sqlite_master SET rootpage = ? WHERE name = ?"
            connection.execute(query, (int(rng.integers(0, 20)), rest))
        else:
            connection.execute(statement)
    return statement[:60]


def repeat_pages(about, arrays, folder, table, *, levels):
    """Make the root of a table an inner page all of whose children are the same page, and so on.

    The last of these pages is the leaf that the root was.
    """
    write(folder, about, arrays)
    with closing(connect(folder)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        root = 1 if table == "sqlite_master" else connection.execute(query, (table,)).fetchone()[0]
    file = folder / DATABASE
    content = file.read_bytes()
    count, start = len(content) // PAGE, 100 if root == 1 else 0
    page = content[(root - 1) * PAGE : root * PAGE]
    if page[start] != LEAF:  # a large table has an inner page already
        return
    pages = [_moved_leaf(page) if root == 1 else page]
    for _ in range(levels - 1):
        pages.append(_inner(count + len(pages), 0))
    new = page[:start] + _inner(count + len(pages), start)[start:]
    content = content[: (root - 1) * PAGE] + new + content[root * PAGE :] + b"".join(pages)
    sized = bytearray(content)
    sized[28:32] = struct.pack(">I", len(content) // PAGE)
    sized[92:96] = sized[24:28]
    file.write_bytes(bytes(sized))


def _inner(child, start, cells=300):
    # An inner page of a table whose children are all the same page.
    page, at = bytearray(PAGE), PAGE
    for n in range(cells):
        cell = struct.pack(">I", child) + bytes([n // 128 | 0x80, n % 128])
        at -= len(cell)
        page[at : at + len(cell)] = cell
        struct.pack_into(">H", page, start + 12 + 2 * n, at)
    struct.pack_into(">BHHHBI", page, start, 0x05, 0, cells, at, 0, child)
    return bytes(page)


def _moved_leaf(page):
    # The first page has the header of the file in front; cells stay where they are.
    out = bytearray(page)
    (count,) = struct.unpack_from(">H", page, 103)
    out[: 8 + 2 * count] = page[100 : 108 + 2 * count]
    return bytes(out)


TABLES = ("head", "examples", "rows", "separators", "images", "parts", "log")


def repeated_pages(about, arrays, folder, rng):
    """Have pages that belong to a table again and again, so that reading it would not end."""
    table, levels = _one([*TABLES[1:], "sqlite_master"], rng), int(_one([1, 4], rng))
    repeat_pages(about, arrays, folder, table, levels=levels)
    return f"{table}, {levels} levels"


def many_places(about, arrays, rng):
    """Say that there are more places than the file can have."""
    about["end"] = int(_one([10**6, 10**9, 2**40, 2**62, 2**63, 10**30], rng))
    return f"end = {about['end']}"


def wide_rows(about, arrays, rng):
    """Say that rows are wider than the file."""
    about["width"] = int(_one([10**5, 10**7, 2**40, 2**62, 10**30], rng))
    return f"width = {about['width']}"


def free_places(about, arrays, rng):
    """Have hundreds of places of wide rows that are not in use."""
    count, width = int(_one([200, 900], rng)), int(_one([8_000, 9_000], rng))
    for name in [each for each in arrays if each.startswith("examples.")]:
        arrays[name] = np.zeros(count, dtype=arrays[name].dtype)
    arrays |= {"examples.place": np.arange(count), "examples.weight": np.ones(count)}
    arrays |= {"rows": arrays["rows"][:0], "rows.place": arrays["rows.place"][:0]}
    for name in ("id", "label", "corrected"):
        about["text"][f"examples.{name}"] = [None]
    about |= {"end": count, "width": width}
    about["state"] |= {"labels": [], "widths": [width, width]}
    return f"{count} free places of {width}"


def _one(values, rng):
    return values[int(rng.integers(len(values)))]


def _row(connection, table, rng):
    numbers = [each for (each,) in connection.execute(f"SELECT rowid FROM {table}")]
    return _one(numbers, rng) if numbers else 1


KINDS = {
    each.__name__: each
    for each in (
        *(another_value, other_json, lying_header, another_number, another_schema, repeated_pages),
    )
}
BOMBS = {each.__name__: each for each in (many_places, wide_rows, free_places)}
"""Small folders that would take much memory, or time."""
