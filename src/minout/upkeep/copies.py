"""Copy a model while other processes may change it."""

import secrets
import shutil
from pathlib import Path

from minout.errors import MissingDataError, UnwritableError, system_reason
from minout.store import Database, prepare_folder, sync_folder
from minout.upkeep.health import nothing
from minout.upkeep.intact import Intact, Progress


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
    folder, to = Path(folder), Path(to)
    prepare_folder(folder, create=False)
    if to.exists() or to.is_symlink():
        raise UnwritableError(f"There is already a {to}; name a new folder.")
    if not to.parent.is_dir():
        raise UnwritableError(f"There is no folder {to.parent}; make it first.")
    beside = to.with_name(f".{to.name}.{secrets.token_hex(8)}")
    try:
        beside.mkdir(mode=0o777)
        source = Database(folder, read_only=True)
        try:
            source.backup(beside, progress)
        finally:
            source.close()
        sync_folder(beside)
        copied = Intact(beside, nothing)
        if copied.problems:
            raise MissingDataError(
                f"{folder} is damaged, so it was not copied; `minout audit --repair` it first."
            )
        beside.rename(to)
        sync_folder(to.parent)
    except OSError as error:
        raise UnwritableError(f"{to} could not be written: {system_reason(error)}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return len(copied.examples)
