"""Copy a model while other processes may change it."""

import os
import secrets
import shutil
from pathlib import Path

from minout.errors import MissingDataError, UnwritableError, system_reason
from minout.store.database import Database
from minout.upkeep.health import nothing, require_database
from minout.upkeep.salvage import Progress, salvage


def backup(folder: str | Path, to: str | Path, *, progress: Progress = nothing) -> int:
    """Copy a model to a new folder, completely or not at all.

    The copy is a snapshot, the state after one commit; other processes may change the model
    meanwhile.

    Parameters
    ----------
    folder : str or Path
        The model's folder.
    to : str or Path
        The folder to make; its parent must exist.
    progress : callable, optional
        Called with the fraction that has been copied.

    Returns
    -------
    int
        The number of examples in the copy.

    Raises
    ------
    UnwritableError
        If `to` exists already or cannot be written; nothing is left there by this call.
    MissingDataError
        If the model is missing or damaged.
    """
    folder, to = require_database(folder), Path(to)
    if to.exists() or to.is_symlink():
        raise UnwritableError(f"There is already a {to}; name a new folder.")
    if not to.parent.is_dir():
        raise UnwritableError(f"There is no folder {to.parent}; make it first.")
    beside = to.with_name(f".{to.name}.{secrets.token_hex(8)}")
    try:
        beside.mkdir(mode=0o777)
        _copy(folder, beside, progress)
        count = _checked_count(folder, beside)
        beside.rename(to)
        _sync(to.parent)
    except OSError as error:
        raise UnwritableError(f"{to} could not be written: {system_reason(error)}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return count


def _copy(folder: Path, beside: Path, progress: Progress) -> None:
    source = Database(folder, read_only=True)
    try:
        source.backup(beside, progress)
    finally:
        source.close()
    _sync(beside)


def _checked_count(folder: Path, beside: Path) -> int:
    found = salvage(beside, keep_rows=False, progress=nothing)
    if found.problems:
        raise MissingDataError(
            f"{folder} is damaged, so it was not copied; `minout repair` it first."
        )
    return len(found.rows)


def _sync(folder: Path) -> None:
    # New file names must survive a power cut; Windows cannot open a folder.
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
