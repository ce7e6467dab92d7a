"""Arrays and metadata in one file: NumPy's npz without pickle, with a checksum.

Members: the arrays under their names, then `about`, JSON in UTF-8 as bytes, and `seal`, the
checksum, which is the SHA-256 of everything before it. The file is written atomically.

The checksum detects damage, but a forger can compute it, too. So members must not be compressed,
each must be as long as its npy header says, and together they must not be longer than the file.
"""

import hashlib
import json
import math
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

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
_NAME_IN_UTF8 = 0x800
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"{'descr': '([<>|](?:f[248]|[iu][1248]|b1))', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ){0,3}\d{1,18},?|)\), } *\n"
)
"""What NumPy writes in front of an array of at most four axes."""


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


def read_archive(path: Path, format: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Return metadata and arrays; the file must have this format, version and a right checksum."""
    try:
        members = _members(path)
        seal = members.pop(SEAL)
        about = json.loads(members[ABOUT].tobytes())
        is_ours = isinstance(about, dict) and about["format"] == format
        found = about["version"] if is_ours else 0
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
    if type(found) is int and found > version:
        raise MissingDataError(
            f"{path} was written by a newer version of minout; update minout to read it."
        )
    if not is_intact or type(found) is not int or found != version:
        raise MissingDataError(damaged_message(path))
    del members[ABOUT]
    return about, members


def _members(path: Path) -> Arrays:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        entries = archive.filelist
        size = sum(each.file_size for each in entries)
        if size > file.seek(0, 2) or len(archive.NameToInfo) < len(entries):
            raise ValueError("members that overlap, or with the same name")
        if any(each.compress_type or each.flag_bits & ~_NAME_IN_UTF8 for each in entries):
            raise ValueError("not written by write_archive")
        return {each.filename.removesuffix(".npy"): _array(archive, each) for each in entries}


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    # The array of a member; memory is taken only if the header and the size agree.
    with archive.open(entry) as member:
        head = member.read(len(_MAGIC) + 2)
        found = _HEADER.fullmatch(member.read(int.from_bytes(head[-2:], "little")))
        if head[:-2] != _MAGIC or found is None:
            raise ValueError("not an array of numbers")
        dtype = np.dtype(found[1].decode())
        order: Literal["F", "C"] = "F" if found[2] == b"True" else "C"
        shape = tuple(int(each) for each in found[3].replace(b",", b" ").split())
        size = math.prod(shape) * dtype.itemsize
        if member.tell() + size != entry.file_size:
            raise ValueError("another size")
        array = np.empty(size, dtype=np.uint8)
        if member.readinto(array.data) != size:  # type: ignore[attr-defined]
            raise EOFError
        return array.view(dtype).reshape(shape, order=order)


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
