"""Files that are there whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from minout.errors import UnwritableError


@contextmanager
def replacing(path: Path, what: str) -> Iterator[BinaryIO]:
    """Gives a file beside `path` to write to; at the end it takes the place of `path`.

    It is on the disk before it does. If anything fails on the way, what was there is there still;
    `what` begins the sentence if the disk is at fault.
    """
    beside: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        beside = Path(name)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(path.stat().st_mode & 0o777 if path.is_file() else 0o644)
        beside.replace(path)
        _settle_names(path.parent)
    except OSError as error:
        raise UnwritableError(
            f"{what} could not be written to {path}: {error.strerror or error}."
        ) from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Writes beside the file and renames; `what` begins the sentence if that cannot be done."""
    with replacing(path, what) as file:
        file.write(content)


def _settle_names(folder: Path) -> None:
    # A power cut must not take back the new name. Where a folder cannot be opened, as on Windows,
    # that is left to the system.
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
