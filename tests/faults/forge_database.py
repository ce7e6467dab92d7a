"""Forgeries of a model's database itself: types, schemas, headers of records and pages that lie.

Every kind takes metadata and arrays as `database_content.read` returns them, a folder to make, and
a random generator. Checksums are right.
"""

import json
import sqlite3
import struct
from contextlib import closing

import numpy as np

from minout.store import decode_arrays, encode_arrays
from minout.store.schema import DATABASE, PAGE

from .database_content import building, connect, write

VALUES = [
    *(None, 0, 1, -1, 2**31, 2**62, 2**63 - 1, -(2**63), 0.5, -0.0, 1e300, float("inf"), -1e-300),
    *("", "x", "1", "null", '"x"', "[]", "[[1, 2]]", "{}", "[" * 99_999, "9" * 5_000, "\0", "é"),
    *(b"", b"\0", bytes(8), b"\xff" * 8, bytes(10_000), b"{}", b"\xff\xfe"),
]
LEAF = 0x0D
TABLES = ("head", "examples", "rows", "separators", "images", "parts", "log")


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


def another_head(about, arrays, folder, rng):
    """Have no head, two, or one with absurd numbers."""
    versions = [0, -1, 1, 2**61, 2**62 - 1, 2**62, 2**63 - 1, -(2**63)]
    statements = [
        "DELETE FROM head",
        "INSERT INTO head SELECT 2, version, total, writer FROM head",
        "UPDATE head SET one = 7",
        *(f"UPDATE head SET version = {each}" for each in versions),
        *(f"UPDATE examples SET version = {each}" for each in versions),
    ]
    statement = _one(statements, rng)
    with building(folder, about, arrays) as connection:
        connection.execute(statement)
    return statement


TEXTS = [
    *(
        "",
        "[",
        "{}",
        "[]",
        "3",
        "null",
        "true",
        '"\\ud800"',
        '"a\\u0000"',
        "1e999",
        "NaN",
        "\ufeff1",
    ),
    *("[" * 900 + "]" * 900, "[" * 9_000 + "]" * 9_000, '{"a":' * 9_000 + "1" + "}" * 9_000),
    *(
        "9" * 4_000,
        "9" * 400_000,
        "-1",
        "0.5",
        '"x"',
        "[" + "[]," * 300_000 + "[]]",
        '"' + "x" * 10**6,
    ),
    *('{"moved": 3}', '{"moved": [[1]]}', '{"moved": [[[1], 2]]}', '{"checked": "x"}', " 1", "01"),
]


def other_json(about, arrays, folder, rng):
    """Text that is no JSON, other JSON, or JSON that a parser cannot take."""
    with building(folder, about, arrays) as connection:
        table, column = _one(
            [
                *(("parts", "about"), ("parts", "about"), ("parts", "notes"), ("examples", "id")),
                *(
                    ("examples", "label"),
                    ("examples", "corrected"),
                    ("log", "details"),
                    ("log", "id"),
                ),
            ],
            rng,
        )
        text = _one(TEXTS, rng)
        if table == "parts":
            if rng.random() < 0.5:  # among the rest
                whole = json.dumps({key: each for key, each in about.items() if key != "text"})
                text = f'{whole[:-1]}, "more": {text}}}'
            value = text.encode(_one(["utf-8", "utf-8", "utf-16"], rng))
            connection.execute("UPDATE parts SET value = ? WHERE key = ?", (value, column))
        else:
            number = _row(connection, table, rng)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (text, number))
    return f"{column} = {text[:20]}"


HEADERS = [
    '[["a", "<f8", [0, 140737488355328, 140737488355328]]]',
    '[["a", "<f8", [0, 9223372036854775807]]]',
    '[["a", "<f8", [1125899906842624]]]',
    '[["a", "<f8", [4294967296, 4294967296]]]',
    '[["a", "<f8", [-1]]]',
    '[["a", "<f8", [-1, -1]]]',
    '[["a", "<f8", [1.5]]]',
    '[["a", "<f8", [true]]]',
    '[["a", "<f8", [0, 1, 2, 3, 4, 5]]]',
    '[["a", "<f8", "3"]]',
    '[["a", ["<f8"], [1]]]',
    '[["a", {"a": 1}, [1]]]',
    '[["a", null, [1]]]',
    '[["a", "|O", [1]]]',
    '[["a", "|V1000000000", [1]]]',
    '[["a", "<U1000000000", [0]]]',
    '[[["a"], "<f8", [0]]]',
    '[["a", "<f8", [0]], ["a", "<f8", [0]]]',
    '[["a", "<f8"]]',
    '{"a": 1}',
    "3",
    "[" * 9_000,
    "[" + '["a", "<f8", [0]],' * 50_000 + "3]",
    "[" + ",".join(f'["{n}", "<f8", [0]]' for n in range(50_000)) + "]",
    "",
]


def lying_header(about, arrays, folder, rng):
    """Give a record of arrays a header that does not describe its bytes."""
    text = _one(HEADERS, rng)
    with building(folder, about, arrays) as connection:
        table, number, value = _record(connection, rng)
        size, header = int.from_bytes(value[:8], "little"), text
        if rng.random() < 0.3:  # one of the arrays only
            entries = json.loads(value[8 : 8 + size])
            name = entries[int(rng.integers(len(entries)))]
            name[int(rng.integers(1, 3))] = _one(
                [[], [], [0, 2**47, 2**47], "|O", ["<f8"], [2**40], None], rng
            )
            header = json.dumps(entries)
        length = _one([len(header), len(header), len(header), 0, 2**63, 2**64 - 1, 7], rng)
        new = length.to_bytes(8, "little") + header.encode() + value[8 + size :]
        _put(connection, table, number, new)
    return f"{table}: {header[:40]}"


def another_part(about, arrays, folder, rng):
    """Put arrays of one record into another, or a record under another name."""
    with building(folder, about, arrays) as connection:
        if rng.random() < 0.3:
            names = ["", "more", "SUMS", "hats", "far", "memory", "scatter", "about ", "\0", "é"]
            name = _one(names, rng)
            value = encode_arrays({"K": np.ones(3)}) if rng.random() < 0.5 else b""
            connection.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, 0)", (name, value))
            return name
        table, number, value = _record(connection, rng)
        from_table, _, other = _record(connection, rng)
        arrays, more = decode_arrays(value), decode_arrays(other)
        name = _one([*more, "factor.0", "factor.0.order", "newton.0.u", "unknown"], rng)
        extra = more.get(name, np.ones(4))
        _put(connection, table, number, encode_arrays({**arrays, name: extra}))
    return f"{name} of {from_table} in {table}"


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
    "CREATE TRIGGER more AFTER UPDATE ON head BEGIN DELETE FROM examples; END",
    "CREATE VIEW more AS SELECT * FROM rows",
    "CREATE TABLE more (a)",
    "CREATE INDEX more ON log (time)",
    "CREATE UNIQUE INDEX more ON examples (place, region)",
    "CREATE TABLE sequence (a INTEGER PRIMARY KEY AUTOINCREMENT)",
    "ANALYZE",
    "DROP TABLE images",
    "DROP TABLE log",
    "DROP TABLE head",
    "DROP INDEX examples_by_version",
    "ALTER TABLE rows RENAME TO Rows2",
    "ALTER TABLE log ADD COLUMN more",
    "PRAGMA application_id=0",
    "PRAGMA application_id=1",
    "PRAGMA user_version=0",
    "PRAGMA user_version=-1",
    "PRAGMA user_version=2",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA page_size=512; PRAGMA journal_mode=DELETE; VACUUM",
    "PRAGMA page_size=65536; PRAGMA journal_mode=DELETE; VACUUM",
    "PRAGMA journal_mode=DELETE; PRAGMA auto_vacuum=1; VACUUM",
    "VACUUM",
    "REPLACED rows: CREATE VIEW rows AS SELECT place, randomblob(9) AS row FROM examples",
    "REPLACED log: CREATE TABLE log (number INTEGER PRIMARY KEY)",
    "REPLACED head: CREATE TABLE head (one, version, total, writer)",
    "REPLACED images: CREATE VIRTUAL TABLE images USING fts5(key, value, seal)",
    "REPLACED examples: hello",
    "ROOT rows",
    "ROOT images",
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
            for each in statement.split("; ") if "PRAGMA" in statement else [statement]:
                connection.execute(each)
    return statement[:60]


def another_header(about, arrays, folder, rng):
    """Change the header of the file: sizes, versions, encoding, the list of free pages."""
    write(folder, about, arrays)
    file = folder / DATABASE
    content = bytearray(file.read_bytes())
    at = int(
        _one([16, 18, 19, 20, 21, 24, 28, 32, 36, 40, 44, 47, 52, 56, 59, 60, 64, 68, 92], rng)
    )
    value = int(_one([0, 1, 2, 3, 9, 127, 255], rng))
    content[at : at + int(rng.integers(1, 5))] = bytes([value])[:1] * int(rng.integers(1, 5))
    file.write_bytes(bytes(content)[: len(content) // PAGE * PAGE])
    return f"byte {at} = {value}"


def repeated_pages(about, arrays, folder, rng):
    """Have pages that belong to a table again and again, so that reading it would not end."""
    table = _one(["examples", "rows", "separators", "images", "parts", "log", "sqlite_master"], rng)
    levels, is_cycle = int(_one([1, 3, 4], rng)), bool(rng.random() < 0.3)
    repeat_pages(about, arrays, folder, table, levels=levels, is_cycle=is_cycle)
    return f"{table}, {levels} levels{' and a cycle' * is_cycle}"


def repeat_pages(about, arrays, folder, table, *, levels, is_cycle=False):
    """Make the root of a table an inner page all of whose children are the same page, and so on.

    The last of these pages is the leaf that the root was; in a cycle, the root itself.
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
    top = root if is_cycle else count + len(pages)
    new = page[:start] + _inner(top, start)[start:]
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


KINDS = {
    each.__name__: each
    for each in (
        *(another_value, another_head, other_json, lying_header, another_part, another_number),
        *(another_schema, another_header, repeated_pages),
    )
}


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


def long_log(about, arrays, rng):
    """Have more entries in the log than it keeps, or long ones."""
    count = 15_000 if rng.random() < 0.5 else 50
    arrays |= {"log.number": np.arange(1, count + 1), "log.time": np.ones(count)}
    about["text"] |= {"log.action": ["teach"], "log.id": [None]}
    about["text"]["log.details"] = [{"moved": [["a", "b"]] * (1 if count > 50 else 10_000)}]
    return f"{count} entries"


BOMBS = {each.__name__: each for each in (many_places, wide_rows, free_places, long_log)}
"""Small folders that would take much memory, or time."""


def _one(values, rng):
    return values[int(rng.integers(len(values)))]


def _row(connection, table, rng):
    numbers = [each for (each,) in connection.execute(f"SELECT rowid FROM {table}")]
    return _one(numbers, rng) if numbers else 1


def _record(connection, rng):
    # A record of arrays: its table, number and bytes.
    table = _one(["separators", "parts", "parts"], rng)
    query = "SELECT rowid, value FROM {} WHERE {}"
    found = connection.execute(
        query.format(table, "key NOT IN ('about', 'notes')" if table == "parts" else "1")
    ).fetchall()
    return (table, *_one(found, rng)) if found else _record(connection, rng)


def _put(connection, table, number, value):
    connection.execute(f"UPDATE {table} SET value = ? WHERE rowid = ?", (value, number))
