"""Arrays and metadata in one file: NumPy's npz without pickle, with a checksum.

Members: the arrays under their names, then `about`, JSON in UTF-8 as bytes, and `seal`, the
SHA-256 of everything before it. The file is written atomically.
"""

import hashlib
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError, MissingDataError, system_reason
from minout.store.atomic_write import atomic_write

Arrays = dict[str, NDArray[Any]]

ABOUT, SEAL = "about", "seal"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,  # also json.JSONDecodeError and UnicodeDecodeError
    KeyError,
    TypeError,
    AttributeError,
    SyntaxError,
    RecursionError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    tokenize.TokenError,
)
"""The errors that the readers of zip, npy and JSON raise on damaged files."""


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
    if not is_ours:
        raise MissingDataError(f"{path} is not a minout model.")
    if not isinstance(version, int) or version > newest:
        raise MissingDataError(
            f"{path} was written by a newer version of minout; update minout to read it."
        )
    if not is_intact:
        raise MissingDataError(damaged_message(path))
    del members[ABOUT]
    return about, members


def _members(path: Path) -> Arrays:
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            raise ValueError("not an archive")
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            if any(entry.compress_type or entry.flag_bits & 1 for entry in archive.infolist()):
                raise ValueError("not written by write_archive")
            if archive.testzip() is not None:  # before the header is trusted
                raise ValueError("altered")
        file.seek(0)
        with np.load(file, allow_pickle=False) as members:
            found = {name: members[name] for name in members.files}
    if not all(isinstance(each, np.ndarray) for each in found.values()):
        raise ValueError("not an array")
    return found


def damaged_message(path: Path) -> str:
    """Return the message for a file that is damaged or not a model."""
    return f"{path} is not a minout model, or it was truncated or changed."


def _checksum(members: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    digest = hashlib.sha256()
    for name in sorted(members):
        array = np.ascontiguousarray(members[name])
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)
