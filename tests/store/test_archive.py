"""One sealed file: what was written comes back, and nothing else is taken for it."""

import json
import os
import pickle
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from minout.errors import InvalidInputError, MissingDataError, UnwritableError
from minout.store import atomic_write, read_archive, write_archive

ABOUT = {"format": "things", "version": 3, "words": ["ä", "b,c", ""]}


def arrays():
    rng = np.random.default_rng(0)
    return {
        "rows": rng.normal(size=(5, 3)).astype(np.float32),
        "a.b": np.arange(4),
        "nothing": np.empty((0, 2)),
        "flags": np.array([True, False]),
    }


def written(folder, about=ABOUT):
    path = folder / "file"
    write_archive(path, about, arrays(), "The thing")
    return path


def test_the_same_content_is_the_same_file(tmp_path):
    first = written(tmp_path).read_bytes()
    assert written(tmp_path).read_bytes() == first


def test_a_file_that_was_cut_short_anywhere_is_refused(tmp_path):
    path = written(tmp_path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(MissingDataError, match="truncated or changed"):
            read_archive(path, "things", 3)


def test_an_altered_byte_is_found_or_means_nothing(tmp_path):
    path = written(tmp_path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            about, found = read_archive(path, "things", 3)
        except MissingDataError:
            refused += 1
            continue
        assert about == ABOUT  # the dates of members and the like
        assert all(np.array_equal(found[name], array) for name, array in arrays().items())
    assert refused > len(whole) / 3 / 2


def test_an_array_that_was_exchanged_is_found(tmp_path):
    with np.load(written(tmp_path)) as archive:
        members = {name: archive[name] for name in archive.files}
    members["a.b"] = members["a.b"][::-1]
    np.savez(tmp_path / "other.npz", **members)
    with pytest.raises(MissingDataError, match="truncated or changed"):
        read_archive(tmp_path / "other.npz", "things", 3)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        pickle.dumps({"a": 1}),
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        json.dumps(ABOUT).encode(),
    ],
    ids=["empty", "text", "pickle", "png", "json"],
)
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(MissingDataError, match="is not a minout model"):
        read_archive(path, "things", 3)


def test_foreign_archives_are_refused_and_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(3))
    np.savez(tmp_path / "b.npz", about=np.array([{}], dtype=object), seal=np.ones(3))
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
        archive.writestr("letter.txt", "dear reader")
    for name in "abc":
        with pytest.raises(MissingDataError, match="is not a minout model"):
            read_archive(tmp_path / f"{name}.npz", "things", 3)
    with pytest.raises(MissingDataError, match="is not a minout model"):
        read_archive(written(tmp_path), "other things", 3)


def test_a_newer_version_says_so(tmp_path):
    path = written(tmp_path)
    with pytest.raises(MissingDataError, match="newer version of minout; update"):
        read_archive(path, "things", 2)


def test_what_is_not_there_or_a_folder_says_so(tmp_path):
    with pytest.raises(MissingDataError, match="There is no file"):
        read_archive(tmp_path / "nowhere", "things", 3)
    with pytest.raises(MissingDataError, match="is a folder"):
        read_archive(tmp_path, "things", 3)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = written(tmp_path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnwritableError, match=r"The thing could not be written .* No space left"):
        write_archive(path, ABOUT, {"rows": np.ones(9)}, "The thing")
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_keeps_who_may_read_it(tmp_path):
    path = tmp_path / "file"
    atomic_write(path, b"old", "A file")
    path.chmod(0o600)
    atomic_write(path, b"new", "A file")
    assert path.stat().st_mode & 0o777 == 0o600


HEADERS = {
    "too long": "'<f8', 'fortran_order': False, 'shape': (1125899906842624,)",
    "no number": "'<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807)",
    "below 0": "'<f8', 'fortran_order': False, 'shape': (-1,)",
    "an object": "'|O', 'fortran_order': False, 'shape': (1,)",
    "nested": "'<f8', 'fortran_order': False, 'shape': " + "(" * 99,
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_lies_about_its_member_is_refused(tmp_path, name):
    text = f"{{'descr': {HEADERS[name]}, }}".encode().ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text + bytes(8)
    with zipfile.ZipFile(written(tmp_path), "a") as archive:
        archive.writestr("more.npy", content)
    with pytest.raises(MissingDataError, match="truncated or changed"):
        read_archive(tmp_path / "file", "things", 3)


def test_members_that_lie_inside_each_other_take_no_memory(tmp_path):
    inner, entries = bytes(1_000_000), []
    for n in range(30):
        shape = f"'|u1', 'fortran_order': False, 'shape': ({len(inner)},)"
        text = f"{{'descr': {shape}, }}".encode().ljust(117) + b"\n"
        content = b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text + inner
        name = f"x{n:02}.npy".encode()
        sizes = struct.pack("<III", zlib.crc32(content), len(content), len(content))
        common = struct.pack("<HHHHH", 20, 0, 0, 0, 33) + sizes + struct.pack("<HH", len(name), 0)
        entries.append((common, name))
        inner = b"PK\x03\x04" + common + name + content
    directory, head = b"", 30 + 7 + 128
    for n, (common, name) in enumerate(reversed(entries)):
        where = struct.pack("<HHHII", 0, 0, 0, 0, n * head)
        directory += b"PK\x01\x02\x14\0" + common + where + name
    end = struct.pack("<HHHHIIH", 0, 0, 30, 30, len(directory), len(inner), 0)
    (tmp_path / "f").write_bytes(inner + directory + b"PK\x05\x06" + end)
    tracemalloc.start()
    try:
        with pytest.raises(MissingDataError, match="truncated or changed"):
            read_archive(tmp_path / "f", "things", 3)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["more.npy", "rows.npy"], ids=["compressed", "twice"])
def test_members_that_are_compressed_or_there_twice_are_refused(tmp_path, name):
    path = written(tmp_path)
    with zipfile.ZipFile(path) as archive:
        rows = archive.read("rows.npy")
    with zipfile.ZipFile(path, "a") as archive:
        kind = zipfile.ZIP_DEFLATED if name == "more.npy" else zipfile.ZIP_STORED
        archive.writestr(name, rows, compress_type=kind)
    with pytest.raises(MissingDataError, match="truncated or changed"):
        read_archive(path, "things", 3)


def test_words_that_are_no_unicode_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(InvalidInputError, match="is not a character"):
        written(tmp_path, {**ABOUT, "id": "a\udce9"})
    assert not list(tmp_path.iterdir())


def test_no_memory_is_not_told_as_damage(tmp_path, monkeypatch):
    def none_left(*_, **__):
        raise MemoryError

    path = written(tmp_path)
    monkeypatch.setattr("minout.store.archive.np.empty", none_left)
    with pytest.raises(MissingDataError, match="needs more memory than there is"):
        read_archive(path, "things", 3)


def test_arrays_of_any_order_and_shape_come_back(tmp_path):
    given = {
        "one": np.array(3.5),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "cube": np.arange(24, dtype=np.int8).reshape(2, 3, 4),
        "empty": np.empty((3, 0, 2), dtype=np.uint64),
    }
    write_archive(tmp_path / "f", ABOUT, given, "The thing")
    found = read_archive(tmp_path / "f", "things", 3)[1]
    for name, array in given.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].flags.writeable
