"""Copies of a file that are damaged, or changed by somebody who makes all checksums right."""

import json
import sqlite3
import struct
from contextlib import closing

import numpy as np

from minout.store.tables import (
    COLUMNS,
    MODULUS,
    Meta,
    decode_arrays,
    encode_arrays,
    sealed,
)

PAGE = 4_096  # SQLite's own

BLOCK = 512
ODD = [
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31,
    2**62,
    2**63 - 1,
    1e300,
    float("nan"),
    "",
    "x",
    [],
    {},
    [[1]],
]
"""Values that take the place of others."""


# Damage: bytes are lost, changed, moved or added; checksums do not follow


def truncated(content, rng):
    """Cut the end off."""
    return content[: int(rng.integers(len(content)))]


def flipped(content, rng):
    """Flip one bit, or some."""
    out = bytearray(content)
    for place in rng.integers(len(out), size=int(rng.choice([1, 1, 1, 4]))).tolist():
        out[place] ^= 1 << int(rng.integers(8))
    return bytes(out)


def overwritten(content, rng):
    """Overwrite some bytes with random ones."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 64))
    return content[:start] + rng.bytes(length) + content[start + length :]


def swapped(content, rng):
    """Exchange two blocks of a disk, or pages of the database."""
    size = one_of([PAGE, BLOCK], rng)
    blocks = [content[at : at + size] for at in range(0, len(content), size)]
    a, b = rng.integers(len(blocks), size=2).tolist()
    blocks[a], blocks[b] = blocks[b], blocks[a]
    return b"".join(blocks)


def zeroed(content, rng):
    """Fill a block with zeros, as a file system does after a crash."""
    size = one_of([PAGE, BLOCK], rng)
    start = size * int(rng.integers(len(content) // size))
    return content[:start] + bytes(size) + content[start + size :]


def cut_out(content, rng):
    """Leave out some bytes in the middle."""
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 2 * BLOCK))
    return content[:start] + content[start + length :]


def foreign(content, rng):
    """Replace the file by one of another kind."""
    others = [b"hello", b"SQLite format 3\0" + bytes(4080), b"PK\x03\x04" + rng.bytes(200)]
    return one_of([*others, rng.bytes(50) + content], rng)


DAMAGES = (truncated, flipped, overwritten, swapped, zeroed, cut_out, foreign)


# Forgery: values that no model has, with right checksums


def another_value(connection, rng):
    """Put an odd value into some column of some record, whatever its type."""
    table = one_of([*COLUMNS, "rows", "log", "meta", "deleted"], rng)
    cursor = connection.execute(
        f"SELECT rowid, * FROM {table}" if has_rowid(table) else f"SELECT * FROM {table}"
    )
    names = [each[0] for each in cursor.description]
    rows = cursor.fetchall()
    if not rows:
        return None
    row, name = one_of(rows, rng), one_of([each for each in names if each != "rowid"], rng)
    odd = one_of([each for each in ODD if not isinstance(each, (list, dict))], rng)
    odd = one_of([odd, b"", b"x" * 24, rng.bytes(40)], rng)
    connection.execute(
        f"UPDATE OR REPLACE {table} SET {name} = ? WHERE {names[0]} = ?", (odd, row[0])
    )
    return f"{table}.{name} = {odd!r}"


def has_rowid(table):
    """Return whether the records of a table are numbered."""
    return table not in ("deleted",)


def other_json(connection, rng):
    """Put an odd value somewhere into what the file says in JSON."""
    name = one_of(["about", "about", "about", "schema", "features", "notes"], rng)
    ((text,),) = connection.execute("SELECT value FROM frame WHERE name = ?", (name,))
    whole = json.loads(text)
    parent, key, at = None, None, whole
    while isinstance(at, (dict, list)) and len(at) and (parent is None or rng.random() < 0.8):
        parent, key = at, one_of(list(at) if isinstance(at, dict) else list(range(len(at))), rng)
        at = at[key]
    odd = one_of(ODD, rng)
    if parent is None:
        whole = odd
    else:
        parent[key] = odd
    connection.execute("UPDATE frame SET value = ? WHERE name = ?", (json.dumps(whole), name))
    return f"{name}: {key} = {odd!r}"


def other_arrays(connection, rng):
    """Change one array of a part or of a separator: numbers, shape, dtype or name."""
    if rng.random() < 0.5:
        rows = connection.execute("SELECT name, value FROM frame WHERE typeof(value) = 'blob'")
        table, column, key = "frame", "value", "name"
    else:
        rows = connection.execute("SELECT pair, arrays FROM separators")
        table, column, key = "separators", "arrays", "pair"
    number, value = one_of(rows.fetchall(), rng)
    arrays = decode_arrays(value)
    if not arrays:
        return None
    name = one_of(list(arrays), rng)
    array = arrays[name].copy()
    kind = one_of(["value", "value", "longer", "shorter", "dtype", "axis", "gone", "name"], rng)
    if kind == "value" and array.size:
        odd = one_of([0, -1, 1, 99, 2**40, 1e300, np.nan, np.inf], rng)
        with np.errstate(all="ignore"):
            array.reshape(-1)[int(rng.integers(array.size))] = np.array(odd).astype(array.dtype)
    elif kind == "longer":
        array = np.concatenate([array, array])
    elif kind == "shorter":
        array = array.reshape(-1)[:-1]
    elif kind == "dtype":
        array = array.astype(one_of(["float32", "int64", "uint8"], rng))
    elif kind == "axis":
        array = array[None]
    arrays = {each: array if each == name else was for each, was in arrays.items()}
    if kind in ("gone", "name"):
        moved = arrays.pop(name)
        arrays |= {"other": moved} if kind == "name" else {}
    query = f"UPDATE {table} SET {column} = ? WHERE {key} = ?"
    connection.execute(query, (encode_arrays(arrays), number))
    return f"{table} {number}: {kind} of {name}"


def another_number(connection, rng):
    """Delete, repeat or renumber a record."""
    table = one_of(["examples", "rows", "separators", "frame"], rng)
    key = {"separators": "pair", "frame": "name"}.get(table, "key")
    keys = [each for (each,) in connection.execute(f"SELECT {key} FROM {table}")]
    one = one_of(keys, rng)
    if table == "frame" or rng.random() < 0.5:
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (one,))
        return f"{table} without {one}"
    to = one_of([one + 1, 999, 2**62, -1], rng)
    connection.execute(f"UPDATE OR REPLACE {table} SET {key} = ? WHERE {key} = ?", (to, one))
    return f"{table}: {one} is {to}"


def large_claims(connection, rng):
    """Say that there is much more than the file can hold."""
    ((text,),) = connection.execute("SELECT value FROM frame WHERE name = 'about'")
    about, many = json.loads(text), int(one_of([10**5, 10**7, 2**40, 2**61], rng))
    what = one_of(["width", "labels", "widths", "hats", "taught"], rng)
    if what == "labels":
        about["labels"] = [f"c{n}" for n in range(min(many, 20_000))]
        about["schedule"]["prior_at"] = [5] * len(about["labels"])
    elif what == "widths":
        about |= {"width": many, "widths": [many, many]}
    elif what == "hats":
        about["choice"]["hats"] = about["settings"]["expand"] = many
    elif what == "taught":
        connection.execute("UPDATE meta SET taught = ?, next_key = ?", (many, many))
    else:
        about[what] = many
    connection.execute("UPDATE frame SET value = ? WHERE name = 'about'", (json.dumps(about),))
    return f"{what} = {many}"


FORGERIES = (
    another_value,
    other_json,
    other_json,
    other_arrays,
    other_arrays,
    another_number,
    large_claims,
)


def forge(path, rng):
    """Change a file in some way, with right checksums; return how, or None if it cannot be."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        try:
            what = one_of(FORGERIES, rng)(connection, rng)
        except sqlite3.IntegrityError:  # a table that is STRICT takes no such value
            what = None
        connection.execute("ROLLBACK" if what is None else "COMMIT")
        if what is not None and rng.random() < 0.95:
            reseal(connection)
    return what


def reseal(connection):
    """Make all seals right, the sum of them, and the counts of records."""
    total = 0
    for table, columns in COLUMNS.items():
        for record in connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall():
            seal = sealed(*record)
            total += seal
            query = f"UPDATE {table} SET seal = ? WHERE {next(iter(columns))} = ?"
            connection.execute(query, (seal, record[0]))
    for key in ("examples", "separators"):
        connection.execute(f"UPDATE meta SET {key} = (SELECT count(*) FROM {key})")
    connection.execute("UPDATE meta SET total = ?", (total % MODULUS,))
    for rowid, *numbers in connection.execute(f"SELECT rowid, {', '.join(Meta._fields)} FROM meta"):
        connection.execute("UPDATE meta SET seal = ? WHERE rowid = ?", (sealed(*numbers), rowid))


def repeat_pages(path, table):
    """Make the root of a table an inner page all of whose children are the same page, and so on."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        root = 1 if table == "sqlite_master" else connection.execute(query, (table,)).fetchone()[0]
    content = path.read_bytes()
    count, start = len(content) // PAGE, 100 if root == 1 else 0
    page = content[(root - 1) * PAGE : root * PAGE]
    pages = [page]
    for _ in range(3):
        pages.append(_inner(count + len(pages), 0))
    new = page[:start] + _inner(count + len(pages), start)[start:]
    content = content[: (root - 1) * PAGE] + new + content[root * PAGE :] + b"".join(pages)
    sized = bytearray(content)
    sized[28:32] = struct.pack(">I", len(content) // PAGE)
    sized[92:96] = sized[24:28]
    path.write_bytes(bytes(sized))


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


def one_of(values, rng):
    """Draw one of some values, as it is."""
    return values[int(rng.integers(len(values)))]


def edited_json(path, name, change):
    """Change a part that is JSON, in place, with right checksums."""
    with closing(sqlite3.connect(path)) as connection:
        ((text,),) = connection.execute("SELECT value FROM frame WHERE name = ?", (name,))
        value = json.loads(text)
        change(value)
        connection.execute("UPDATE frame SET value = ? WHERE name = ?", (json.dumps(value), name))
        reseal(connection)
        connection.commit()


def edited_arrays(path, where, change):
    """Change the arrays of a part, or of the separator with a number or the first with an array."""
    with closing(sqlite3.connect(path)) as connection:
        table, key, column = "frame", "name", "value"
        if where in (0, "bounds"):
            table, key, column = "separators", "pair", "arrays"
        for number, value in connection.execute(f"SELECT {key}, {column} FROM {table}").fetchall():
            arrays = decode_arrays(value) if isinstance(value, bytes) else {}
            if number == where or np.size(arrays.get(where, ())):
                change(arrays)
                query = f"UPDATE {table} SET {column} = ? WHERE {key} = ?"
                connection.execute(query, (encode_arrays(arrays), number))
                break
        reseal(connection)
        connection.commit()
