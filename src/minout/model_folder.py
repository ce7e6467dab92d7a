"""Open the model of a folder: its database, or the file that older folders hold."""

from pathlib import Path

import numpy as np

from minout import model_file
from minout.codecs import ExactCodec
from minout.engine import State
from minout.errors import MissingDataError, UnwritableError
from minout.features import FeatureMap
from minout.model_reading import Loaded
from minout.model_store import Durability, FolderStore, Store
from minout.store.database import OnWait
from minout.store.folder import MODEL, prepare_folder, remove_file
from minout.store.schema import DATABASE


def open_store(
    folder: Path, *, durability: Durability, read_only: bool, on_wait: OnWait | None
) -> "FolderStore | FileStore":
    """Open a model's folder; unless `read_only`, make a database if there is none."""
    if not read_only:
        return FolderStore(folder, durability=durability, on_wait=on_wait)
    prepare_folder(folder, create=False)
    if not (folder / DATABASE).exists():
        return FileStore(folder)
    store = FolderStore(folder, read_only=True)
    if store.is_new and holds_file(folder):  # another process is importing it
        store.abandon()
        return FileStore(folder)
    return store


def holds_file(folder: Path) -> bool:
    """Return whether a folder holds the file of an older model."""
    return (folder / MODEL).exists()


def is_folder_file(file: Path) -> bool:
    """Return whether a file has the name of an older model's, in a folder with a database."""
    return file.name == MODEL and (file.parent / DATABASE).exists()


def import_file(store: FolderStore, features: FeatureMap | None, codec: ExactCodec | None) -> None:
    """Write the file of an older folder to its database, and remove the file.

    The file is removed as soon as the database is on the disk: it would still contain examples
    that are forgotten later. If it cannot be read, the folder is left as it was.
    """
    if not holds_file(store.folder):
        return
    database = store.database
    if not database.begin():  # there is no state in the database yet
        found, state = model_file.read(store.folder / MODEL, features, codec)
        store.write(state, model_file.header(found), (), "import")
    database.end()
    remove_file(store.folder)


class FileStore(Store):
    """The file of a folder of an earlier version, which has no database; it can only be read.

    Once another process has imported the file, its database is read instead.
    """

    read_only, is_new = True, False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._database: FolderStore | None = None

    def load(self, features: FeatureMap | None, codec: ExactCodec | None) -> Loaded:
        """Read the state; a feature map or codec that is given must match it."""
        try:
            found, state = model_file.read(self.folder / MODEL, features, codec)
        except MissingDataError:
            imported = self._imported()
            if imported is None:
                raise
            return imported.load(features, codec)
        return Loaded(found, state, {}, np.zeros(0, dtype=np.int64), "{}")

    def begin(self, _state: State, _features: FeatureMap, /) -> Loaded | None:
        """Raise an error: the folder was opened read-only."""
        raise UnwritableError(
            f"{self.folder} was opened to be read only; open it without `read_only`."
        )

    def adopt(self, loaded: Loaded, /) -> None:
        """Continue with a state that was read."""
        if self._database is not None:
            self._database.adopt(loaded)

    def newest(self, state: State, features: FeatureMap, /) -> Loaded | None:
        """Return the newest state; None if it is the one that was read last."""
        if self._database is not None:
            return self._database.newest(state, features)
        imported = self._imported()
        return None if imported is None else imported.load(features, state.examples.codec)

    def close(self, _state: State, /) -> None:
        """Release the files."""
        self.abandon()

    def abandon(self) -> None:
        """Release the files."""
        if self._database is not None:
            self._database.abandon()

    def _imported(self) -> FolderStore | None:
        # The database, once the file is gone.
        if not holds_file(self.folder):
            self._database = FolderStore(self.folder, read_only=True)
        return self._database
