"""Check, make and remove the folder of a model."""

from contextlib import suppress
from pathlib import Path

from minout.errors import MissingDataError, UnwritableError, system_reason
from minout.store.schema import DATABASE, QUEUE


def prepare_folder(path: Path, *, create: bool) -> Path | None:
    """Check the folder of a model, and make it if need be.

    Parameters
    ----------
    path : Path
        The folder.
    create : bool
        Make it, and its parents, if it does not exist.

    Returns
    -------
    Path or None
        If the folder was made, the topmost folder that was; otherwise None.

    Raises
    ------
    MissingDataError
        If it is a file, holds other files but no model, or there is none and `create` is False.
    UnwritableError
        If it cannot be made.
    """
    if path.is_dir():
        names = {each.name for each in path.iterdir()}
        if DATABASE not in names:
            if names - {QUEUE}:
                raise MissingDataError(f"{path} holds files, but no model; name another folder.")
            if not create:
                raise MissingDataError(f"There is no model in {path}; `minout learn` creates one.")
        return None
    if path.exists():
        raise MissingDataError(f"{path} is a file; a model is a folder.")
    if not create:
        raise MissingDataError(f"There is no model {path}; `minout learn` creates one.")
    made = path
    while not made.parent.exists():
        made = made.parent
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise UnwritableError(f"{path} cannot be made: {system_reason(error)}.") from error
    return made


def remove_if_empty(path: Path, made: Path) -> None:
    """Remove a folder that holds no more than a lock, and its parents up to `made`."""
    if not path.is_dir() or any(each.name != QUEUE for each in path.iterdir()):
        return
    (path / QUEUE).unlink(missing_ok=True)
    with suppress(OSError):  # another process has put a file there
        path.rmdir()
        while path != made:
            path = path.parent
            path.rmdir()


def holds_model(path: Path) -> bool:
    """Return whether a folder may hold a model; refuse a file, and a folder of other files."""
    if path.exists():
        prepare_folder(path, create=True)
    return (path / DATABASE).exists()


def size_of_model(path: Path) -> int:
    """Return how many bytes the files of a model have."""
    files = [path / name for name in (DATABASE, f"{DATABASE}-wal")]
    return sum(each.stat().st_size for each in files if each.exists())


def remove_model(path: Path) -> None:
    """Remove the model of a folder."""
    for ending in ("", "-wal", "-shm"):
        file = path / f"{DATABASE}{ending}"
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise UnwritableError(f"{file} cannot be removed: {system_reason(error)}.") from error
