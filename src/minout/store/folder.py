"""A folder that holds one model; one process at a time may change it."""

from contextlib import suppress
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from minout.errors import MissingDataError, UnwritableError, system_reason
from minout.store.database import DATABASE

MODEL = "model.minout"
LOCK = ".lock"
LEFTOVER = f".{MODEL}."
"""The prefix of temporary files, which a killed process may leave behind."""


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
        if not names & {DATABASE, MODEL}:
            if not all(name == LOCK or name.startswith(LEFTOVER) for name in names):
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
    if any(each.name != LOCK for each in path.iterdir()):
        return
    (path / LOCK).unlink(missing_ok=True)
    with suppress(OSError):  # somebody put a file there
        path.rmdir()
        while path != made:
            path = path.parent
            path.rmdir()


class ModelFolder:
    """The folder of a model, opened to change it under a lock, or with `shared` to read it.

    The model's file is replaced atomically, so readers need no lock.

    Parameters
    ----------
    path : str or Path
        The folder.
    create : bool, default=False
        Make the folder, and its parents, if it does not exist; it is removed again if nothing is
        saved in it.
    shared : bool, default=False
        Only read: take no lock.
    """

    def __init__(self, path: str | Path, *, create: bool = False, shared: bool = False) -> None:
        self._path = Path(path)
        self._create = create
        self._lock = None if shared else FileLock(self._path / LOCK, timeout=0)

    @property
    def file(self) -> Path:
        """The file of the model."""
        return self._path / MODEL

    @property
    def is_new(self) -> bool:
        """Whether there is no model yet."""
        return not self.file.is_file()

    def __enter__(self) -> "ModelFolder":
        """Check the folder, and take the lock unless it is shared."""
        made = self._check_folder()
        if self._lock is not None:
            try:
                self._lock.acquire()
            except Timeout:
                raise UnwritableError(
                    f"Another process is changing {self._path}; wait until it has finished."
                ) from None
            except OSError as error:
                self._remove_if_empty(made)
                raise UnwritableError(
                    f"{self._path} cannot be written to: {system_reason(error)}."
                ) from error
            self._remove_leftovers()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release the lock; remove a new folder in which nothing was saved."""
        if self._lock is None:
            return
        if self.is_new and self._create:
            (self._path / LOCK).unlink(missing_ok=True)
            self._lock.release()
            self._remove_if_empty(True)
        else:
            self._lock.release()

    def _check_folder(self) -> bool:
        # Return whether the folder was made.
        path = self._path
        if path.is_dir():
            if self.is_new and not all(map(_is_ours, path.iterdir())):
                raise MissingDataError(f"{path} holds files, but no model; name another folder.")
            if self.is_new and not self._create:
                raise MissingDataError(f"There is no model in {path}; `minout learn` creates one.")
            return False
        if path.exists():
            raise MissingDataError(f"{path} is a file; a model is a folder.")
        if not self._create:
            raise MissingDataError(f"There is no model {path}; `minout learn` creates one.")
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise UnwritableError(f"{path} cannot be made: {system_reason(error)}.") from error
        return True

    def _remove_leftovers(self) -> None:
        # Only under the lock: otherwise another process may be writing this file.
        for each in self._path.glob(f"{LEFTOVER}*"):
            with suppress(OSError):
                each.unlink()

    def _remove_if_empty(self, made: bool) -> None:
        if made and not any(self._path.iterdir()):
            self._path.rmdir()


def _is_ours(path: Path) -> bool:
    return path.name == LOCK or path.name.startswith(LEFTOVER)
