"""Write a file completely or not at all."""

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from minout.errors import UnwritableError, system_reason


def atomic_write(
    path: Path,
    content: bytes | Callable[[BinaryIO], object],
    what: str,
    prepare: Callable[[Path], object] | None = None,
) -> None:
    """Write a temporary file beside `path` and rename it once it is on the disk.

    If anything fails or is interrupted, the old file stays as it was and the temporary file is
    removed. Only regular files are written, in folders that exist. A symbolic link is followed: the
    file that it points to is replaced.

    `content` are bytes, or a function that writes them to an open binary file; `what` is the start
    of error messages ("The model"); `prepare` is called with the path just before it is replaced.
    """
    target = _target(path, what)
    # The name is chosen before the file is made: so an interruption can never leave a temporary
    # file whose name is not known, as it could in a context manager.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb", opener=_open_private) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o777 if target.is_file() else 0o644)
        if prepare is not None:
            prepare(target)
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise UnwritableError(
            f"{what} could not be written to {path}: {system_reason(error)}."
        ) from error
    finally:
        try:
            _remove(temporary)
        finally:  # again, in case an interruption came before it
            _remove(temporary)


def _target(path: Path, what: str) -> Path:
    # The regular file that a path points to, through links, whether it exists or not.
    target = Path(os.path.realpath(path))
    refused = f"{what} could not be written to {path}"
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise UnwritableError(
                f"{refused}: there is no folder {target.parent}; make it first."
            ) from None
        return target
    except OSError as error:
        raise UnwritableError(f"{refused}: {system_reason(error)}.") from error
    if stat.S_ISDIR(mode):
        raise UnwritableError(f"{refused}: it is a folder; name a file.")
    if not stat.S_ISREG(mode):
        raise UnwritableError(f"{refused}: it is not a regular file; name another one.")
    return target


def _remove(path: Path) -> None:
    if path.exists():  # a disk that is read-only refuses to remove what is not there
        path.unlink(missing_ok=True)


def _open_private(name: str, flags: int) -> int:
    return os.open(name, flags, mode=0o600)


def sync_folder(folder: Path) -> None:
    """Have new file names on the disk, so that they survive a power cut.

    Windows cannot open a folder; there it is left to the system.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
