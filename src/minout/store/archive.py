"""Arrays and metadata in one file: NumPy's npz without pickle, with a checksum.

Members: the arrays under their names, then `about`, JSON in UTF-8 as bytes, and `seal`, the
checksum, which is the SHA-256 of everything before it. The file is written atomically.

The checksum detects damage, but a forger can compute it, too. So the reader accepts only what
`write_archive` writes: members one after the other, not compressed, each as long as its npy
header says, and a directory that lists these members. It reads no more bytes than the file has.
"""

import hashlib
import json
import math
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError, MissingDataError, system_reason
from minout.store.atomic_write import atomic_write

Arrays = dict[str, NDArray[Any]]

ABOUT, SEAL = "about", "seal"
_DAMAGE = (
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    ValueError,  # also json.JSONDecodeError and UnicodeDecodeError
    KeyError,
    RecursionError,
    OverflowError,
    NotImplementedError,
)
"""The errors that reading raises on damaged files."""
_LOCAL = struct.Struct("<4s5H3I2H")
_LONG = struct.Struct("<2H2Q")
_IN_LONG = 0xFFFFFFFF
_NAME_IN_UTF8 = 0x800
_LAST = 22
_ENTRY, _END = 46 + 28, _LAST + 56 + 20
"""The longest entry of a zip's directory, without the name, and the longest end of a directory."""
_HEADER = re.compile(
    rb"{'descr': '([<>|](?:f[248]|[iu][1248]|b1))', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, )*\d{1,18},?|)\), } *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_MOST_DIMENSIONS = 4


def write_archive(
    path: Path, about: Mapping[str, object], arrays: Mapping[str, NDArray[Any]], what: str
) -> None:
    """Write metadata and arrays; `what` names the file in messages, such as "The model"."""
    try:
        text = json.dumps(about, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise InvalidInputError(
            f"{what} cannot be written: a name in it holds {wrong!r}, which is not a character."
        ) from None
    metadata = np.frombuffer(text, dtype=np.uint8)
    members = {**arrays, ABOUT: metadata}
    members[SEAL] = _checksum(members)
    atomic_write(path, lambda file: _write_members(file, members), what)


def _write_members(file: BinaryIO, members: Mapping[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in members.items():
            # A fixed date, so that the same model gives the same bytes.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_archive(path: Path, format: str, newest: int) -> tuple[dict[str, Any], Arrays]:
    """Return metadata and arrays; the file must have this format and a matching checksum.

    `about` holds {"format": format, "version": at most newest, …}.
    """
    try:
        members = _members(path)
        seal = members.pop(SEAL)
        about = json.loads(members[ABOUT].tobytes())
        is_ours = isinstance(about, dict) and about["format"] == format
        version = about["version"] if is_ours else 0
        is_intact = np.array_equal(seal, _checksum(members))
    except FileNotFoundError:
        raise MissingDataError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise MissingDataError(f"{path} is a folder, not a file.") from None
    except OSError as error:
        raise MissingDataError(f"{path} could not be read: {system_reason(error)}.") from error
    except _DAMAGE as error:
        raise MissingDataError(damaged_message(path)) from error
    except MemoryError as error:
        raise MissingDataError(too_large_message(path)) from error
    if not is_ours:
        raise MissingDataError(f"{path} is not a minout model.")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise MissingDataError(damaged_message(path))
    if version > newest:
        raise MissingDataError(
            f"{path} was written by a newer version of minout; update minout to read it."
        )
    if not is_intact:
        raise MissingDataError(damaged_message(path))
    del members[ABOUT]
    return about, members


class _Member(NamedTuple):
    """Where a member lies in the file: its local header, and its content."""

    name: str
    header: int
    start: int
    size: int


def _members(path: Path) -> Arrays:
    with path.open("rb") as file:
        found = _listed(file)
        return {each.name.removesuffix(".npy"): _array(file, each) for each in found}


def _listed(file: BinaryIO) -> list[_Member]:
    # The members one after the other, so that none overlap; the directory must list the same ones.
    length, end, found = file.seek(0, 2), 0, []
    while (member := _next(file, end)) is not None:
        found.append(member)
        end = member.start + member.size
        if end > length:
            raise ValueError("truncated")
    if length - end > sum(_ENTRY + len(each.name.encode()) for each in found) + _END:
        raise ValueError("something after the members")
    if len({each.name for each in found}) < len(found):
        raise ValueError("a member twice")
    file.seek(max(length - _LAST, 0))
    last = file.read()
    if last[:4] != b"PK\x05\x06" or last[-2:] != b"\0\0":
        raise ValueError("something after the directory")
    with zipfile.ZipFile(file) as archive:
        listed = [(each.filename, each.header_offset, each.file_size) for each in archive.filelist]
        are_plain = not any(each.flag_bits & ~_NAME_IN_UTF8 for each in archive.filelist)
    if not are_plain or listed != [(each.name, each.header, each.size) for each in found]:
        raise ValueError("another directory")
    return found


def _next(file: BinaryIO, at: int) -> _Member | None:
    # The member whose local header is there; None after the last.
    file.seek(at)
    head = file.read(_LOCAL.size)
    if head[:4] != b"PK\x03\x04" and at > 0:
        return None
    mark, _, flags, method, *_, packed, size, name_length, more = _LOCAL.unpack(head)
    if mark != b"PK\x03\x04" or flags & ~_NAME_IN_UTF8 or method:
        raise ValueError("not written by write_archive")
    name, extra = file.read(name_length).decode(), file.read(more)
    if _IN_LONG in (size, packed):
        kind, length, size, packed = _LONG.unpack(extra)
        if (kind, length) != (1, 16):
            raise ValueError("not written by write_archive")
    if size != packed or not name.endswith(".npy"):
        raise ValueError("not an array")
    return _Member(name, at, at + _LOCAL.size + name_length + more, size)


def _array(file: BinaryIO, member: _Member) -> NDArray[Any]:
    # The array of a member; memory is taken only if the header and the size agree.
    file.seek(member.start)
    head = file.read(len(_MAGIC) + 2)
    if head[:-2] != _MAGIC:
        raise ValueError("not an array")
    length = int.from_bytes(head[-2:], "little")
    found = _HEADER.fullmatch(file.read(length))
    if found is None:
        raise ValueError("not an array")
    dtype = np.dtype(found[1].decode())
    shape = tuple(int(each) for each in found[3].replace(b",", b" ").split())
    size = math.prod(shape) * dtype.itemsize
    if len(head) + length + size != member.size or len(shape) > _MOST_DIMENSIONS:
        raise ValueError("another size")
    array = np.empty(size, dtype=np.uint8)
    if file.readinto(array.data) != size:  # type: ignore[attr-defined]
        raise EOFError
    return array.view(dtype).reshape(shape, order="F" if found[2] == b"True" else "C")


def damaged_message(path: Path) -> str:
    """Return the message for a file that is damaged or not a model."""
    return f"{path} is not a minout model, or it was truncated or changed."


def too_large_message(path: Path) -> str:
    """Return the message for a file for which there is not enough memory."""
    return f"{path} needs more memory than there is; close other programs, or use a larger machine."


def _checksum(members: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    digest = hashlib.sha256()
    for name in sorted(members):
        array = np.ascontiguousarray(members[name])
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)
