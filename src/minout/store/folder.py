"""A folder that holds one model, and that one process at a time may change."""

from contextlib import suppress
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from minout.errors import MissingDataError, UnwritableError

MODEL = "model.minout"
LOCK = ".lock"
LEFTOVER = f".{MODEL}."
"""How the names of files begin that a save leaves if it is killed."""


class ModelFolder:
    """Opens a model's folder: to change it, alone, or with `shared` just to read it.

    The model's file is replaced as a whole, so that whoever reads sees one whole model, also while
    somebody else is at work on the next one.
    """

    def __init__(self, path: str | Path, *, create: bool = False, shared: bool = False) -> None:
        self._path = Path(path)
        self._create = create
        self._lock = None if shared else FileLock(self._path / LOCK, timeout=0)

    @property
    def file(self) -> Path:
        """Is where the model is, or will be."""
        return self._path / MODEL

    @property
    def is_new(self) -> bool:
        """Says whether there is no model yet."""
        return not self.file.is_file()

    def __enter__(self) -> "ModelFolder":
        """Looks at what is there, and takes the lock if the model is to change."""
        made = self._expect_ours()
        if self._lock is not None:
            try:
                self._lock.acquire()
            except Timeout:
                raise UnwritableError(
                    f"Another process is at work on {self._path}; wait until it has ended."
                ) from None
            except OSError as error:
                self._unmake(made)
                raise UnwritableError(
                    f"{self._path} cannot be written to: {error.strerror or error}."
                ) from error
            self._clear()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Gives the lock back; a folder in which nothing was saved is taken away again."""
        if self._lock is None:
            return
        if self.is_new and self._create:
            (self._path / LOCK).unlink(missing_ok=True)
            self._lock.release()
            self._unmake(True)
        else:
            self._lock.release()

    def _expect_ours(self) -> bool:
        # Whether the folder had to be made.
        path = self._path
        if path.is_dir():
            if self.is_new and not all(map(_is_ours, path.iterdir())):
                raise MissingDataError(
                    f"{path} is a folder of something else: it holds files, but no model."
                )
            if self.is_new and not self._create:
                raise MissingDataError(f"There is no model in {path}; `minout learn` makes one.")
            return False
        if path.exists():
            raise MissingDataError(f"{path} is a file; a model is a folder.")
        if not self._create:
            raise MissingDataError(f"There is no model {path}; `minout learn` makes one.")
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise UnwritableError(f"{path} cannot be made: {error.strerror or error}.") from error
        return True

    def _clear(self) -> None:
        # Only under the lock: else it may be what somebody is writing.
        for each in self._path.glob(f"{LEFTOVER}*"):
            with suppress(OSError):
                each.unlink()

    def _unmake(self, made: bool) -> None:
        if made and not any(self._path.iterdir()):
            self._path.rmdir()


def _is_ours(path: Path) -> bool:
    return path.name == LOCK or path.name.startswith(LEFTOVER)
