"""Forgeries of the one-file form itself: zip entries and npy headers that lie.

Every kind takes the metadata and arrays of a model, a path to write to, and a random generator.
The seal is right for the model's own members.
"""

import hashlib
import io
import json
import struct
import warnings
import zipfile
import zlib
from functools import lru_cache

import numpy as np

from minout.store import write_archive

MEGABYTE = 1_000_000
MANY = 50


def overlapping(about, arrays, path, rng):
    """Members that lie inside each other: each byte of the file counts many times."""
    inner, rest = _nested()
    plain = _contents(about, arrays)
    out, directory = io.BytesIO(), io.BytesIO()
    offset = 0
    for name, content in plain:
        directory.write(_central(f"{name}.npy", content, offset))
        out.write(_local(f"{name}.npy", content) + content)
        offset = out.tell()
    out.write(rest)
    for name, content in reversed(inner):
        directory.write(_central(f"{name}.npy", content, offset))
        offset += len(_local(f"{name}.npy", content)) + 128
    _finish(path, out, directory, len(plain) + len(inner))


@lru_cache(maxsize=1)
def _nested():
    # From the innermost out: names and contents of members, and the bytes that hold all of them.
    inner, rest = [], bytes(MEGABYTE)
    for n in range(MANY):
        content = _header(f"({len(rest)},)", "|u1") + rest
        inner.append((f"x{n}", content))
        rest = _local(f"x{n}.npy", content) + content
    return inner, rest


def shared(about, arrays, path, rng):
    """Two entries of the directory that name the same member."""
    plain = _contents(about, arrays)
    out, directory, offsets = io.BytesIO(), io.BytesIO(), {}
    for name, content in plain:
        offsets[name] = out.tell()
        out.write(_local(f"{name}.npy", content) + content)
        directory.write(_central(f"{name}.npy", content, offsets[name]))
    name, content = plain[int(rng.integers(len(plain)))]
    for _ in range(5):
        directory.write(_central(f"{name}.npy", content, offsets[name]))
    _finish(path, out, directory, len(plain) + 5)


HEADERS = [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1125899906842624,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (True,), }",
    "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 99 + ")" * 99 + ", }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1," * 60 + "), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '|V1000000000', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<U1000000000', 'fortran_order': False, 'shape': (0,), }",
    "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'shape': (1,), }",
    "-" * 9000 + "1",
    "[" * 3000,
    "__import__('os').abort()",
    "",
]


def lying_header(about, arrays, path, rng):
    """A member whose npy header does not describe its bytes."""
    plain = dict(_contents(about, arrays))
    name = str(rng.choice(list(plain)))
    text = HEADERS[int(rng.integers(len(HEADERS)))].encode().ljust(117) + b"\n"
    version = int(rng.choice([1, 1, 1, 2, 3, 9]))
    size = struct.pack("<H", len(text)) if version == 1 else struct.pack("<I", len(text))
    if rng.random() < 0.1:
        size = b"\xff" * len(size)
    data = plain[name][128:]
    plain[name] = b"\x93NUMPY" + bytes([version, 0]) + size + text + data
    _write(path, plain.items())


def pickled(about, arrays, path, rng):
    """A member that would run code if it were unpickled."""

    class Bomb:
        def __reduce__(self):
            return (eval, ("__import__('os')._exit(77)",))

    plain = dict(_contents(about, arrays))
    out = io.BytesIO()
    np.lib.format.write_array(out, np.array([Bomb()], dtype=object), allow_pickle=True)
    plain[str(rng.choice(list(plain)))] = out.getvalue()
    _write(path, plain.items())


def deflated(about, arrays, path, rng):
    """Compressed members; one of them is many times as large as the file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _contents(about, arrays):
            archive.writestr(f"{name}.npy", content)
        entry = zipfile.ZipInfo("more.npy")
        entry.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(entry, "w") as member:
            member.write(_header(f"({MANY * MEGABYTE},)", "|u1"))
            for _ in range(MANY):
                member.write(bytes(MEGABYTE))


def many_members(about, arrays, path, rng):
    """Thousands of small members."""
    more = {f"factor.{n}.x": np.zeros(0) for n in range(10 * MANY)}
    write_archive(path, about, {**arrays, **more}, "The model")


def duplicated(about, arrays, path, rng):
    """A member that is there twice, once with other content."""
    plain = _contents(about, arrays)
    name, content = plain[int(rng.integers(len(plain)))]
    other = content[:-8] + bytes(8)
    place = int(rng.integers(2)) * len(plain)
    plain.insert(place, (name, other))
    _write(path, plain)


def renamed(about, arrays, path, rng):
    """Members whose names are paths, empty, or no npy."""
    plain = _contents(about, arrays)
    names = ["../../x.npy", "/x.npy", ".npy", "x", "rows.npy/", "rows.NPY", "r\0ows.npy", "ä.npy"]
    which = int(rng.integers(len(plain)))
    entries = [(f"{name}.npy", content) for name, content in plain]
    entries[which] = (str(rng.choice(names)), entries[which][1])
    _write_entries(path, entries)


def other_json(about, arrays, path, rng):
    """Metadata that is no JSON, or JSON that a parser cannot take."""
    deep = int(rng.choice([900, 5_000, 200_000]))
    text = json.dumps(about)
    texts = [
        "[" * deep + "]" * deep,
        '{"a":' * deep + "1" + "}" * deep,
        text[:-1] + ', "more": ' + "[" * deep + "]" * deep + "}",
        text[:-1] + ', "more": ' + "9" * 4_000 + "}",
        text[:-1] + ', "more": ' + "9" * 400_000 + "}",
        text[:-1] + ', "more": 1e' + "9" * 4_000 + "}",
        text[:-1] + ', "more": [' + "[]," * 300_000 + "[]]}",
        text[:-1] + ', "format": "minout model"}',
        text[:-1] + ', "state": {}}',
        text[:-1] + ', "version": 1e999}',
        text[:-1] + ', "version": ' + "9" * 4_000 + "}",
        text[:-1] + ', "version": true}',
        text[:-1] + ', "version": -5}',
        text[:-1] + ', "version": [2]}',
        text[:-1] + ', "version": null}',
        text[:-1] + ', "format": ["minout model"]}',
        "null",
        "3",
        '"minout model"',
        text + text,
        "\ufeff" + text,
        text.replace("e", "\\u0065"),
        "",
    ]
    content = texts[int(rng.integers(len(texts)))].encode(str(rng.choice(["utf-8", "utf-16"])))
    write_with(path, content, arrays)


def write_with(path, text, arrays):
    """Write a file with a right seal and any bytes as metadata."""
    members = {name: _npy(array) for name, array in arrays.items()}
    members["about"] = _npy(np.frombuffer(text, dtype=np.uint8))
    members["seal"] = _npy(_sealed(members))
    _write(path, members.items())


def wrong_sizes(about, arrays, path, rng):
    """Local headers or entries of the directory with sizes, offsets or flags that lie."""
    out, directory, plain = io.BytesIO(), io.BytesIO(), _contents(about, arrays)
    which, where = int(rng.integers(len(plain))), int(rng.integers(6))
    size = int(rng.choice([0, 1, 2**31, 2**32 - 2, 2**32 - 1]))
    for n, (name, content) in enumerate(plain):
        offset = out.tell()
        local, central = _local(f"{name}.npy", content), _central(f"{name}.npy", content, offset)
        if n == which:
            if where == 0:
                local = local[:18] + struct.pack("<II", size, size) + local[26:]
            elif where == 1:
                central = central[:20] + struct.pack("<II", size, size) + central[28:]
            elif where == 2:
                central = central[:42] + struct.pack("<I", size) + central[46:]
            elif where == 3:
                local = local[:6] + struct.pack("<H", size & 0xFFFF) + local[8:]
            elif where == 4:
                local = local[:26] + struct.pack("<HH", size & 0xFFFF, 0) + local[30:]
            else:
                central = central[:8] + struct.pack("<H", 1) + central[10:]
        out.write(local + content)
        directory.write(central)
    _finish(path, out, directory, len(plain))


def no_seal(about, arrays, path, rng):
    """A seal that is missing, short, of another dtype, or that of something else."""
    members = {name: _npy(array) for name, array in arrays.items()}
    members["about"] = _npy(np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))
    seal = _sealed(members)
    others = [None, seal[:16], seal[:0], seal.astype(np.int64), seal[None], seal ^ 1, seal[0]]
    other = others[int(rng.integers(len(others)))]
    if other is not None:
        members["seal"] = _npy(np.asarray(other))
    _write(path, members.items())


KINDS = {
    each.__name__: each
    for each in (
        *(overlapping, shared, lying_header, pickled, deflated, many_members, duplicated),
        *(renamed, other_json, wrong_sizes, no_seal),
    )
}


def _contents(about, arrays):
    # The members of a file with a right seal: names and npy bytes.
    members = {name: _npy(array) for name, array in arrays.items()}
    members["about"] = _npy(np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))
    return [*members.items(), ("seal", _npy(_sealed(members)))]


def _npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, allow_pickle=False)
    return out.getvalue()


def _header(shape, dtype):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.encode().ljust(117) + b"\n"


def _sealed(members):
    # As the archive computes it, from npy bytes with a header of 128.
    digest = hashlib.sha256()
    for name in sorted(members):
        array = np.lib.format.read_array(io.BytesIO(members[name]), allow_pickle=False)
        array = np.ascontiguousarray(array)
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _write(path, members):
    _write_entries(path, [(f"{name}.npy", content) for name, content in members])


def _write_entries(path, entries):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names that are there twice
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in entries:
                with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                    member.write(content)


def _local(name, content):
    words = name.encode()
    crc, size = zlib.crc32(content), len(content)
    fields = (20, 0, 0, 0, 33, crc, size, size, len(words), 0)
    return b"PK\x03\x04" + struct.pack("<HHHHHIIIHH", *fields) + words


def _central(name, content, offset):
    words = name.encode()
    crc, size = zlib.crc32(content), len(content)
    fields = (20, 20, 0, 0, 0, 33, crc, size, size, len(words), 0, 0, 0, 0, 0, offset)
    return b"PK\x01\x02" + struct.pack("<HHHHHHIIIHHHHHII", *fields) + words


def _finish(path, out, directory, count):
    start, entries = out.tell(), directory.getvalue()
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(entries), start, 0)
    path.write_bytes(out.getvalue() + entries + b"PK\x05\x06" + end)
