"""A model that is not kept open: saved to a file, to bytes, or copied from a file in use."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from minout.codecs import ExactCodec
from minout.core import State
from minout.errors import UnwritableError
from minout.features import FeatureMap
from minout.store.atomic_write import atomic_write
from minout.store.file import File
from minout.store.history import Entry
from minout.store.loading import read
from minout.store.opening import (
    bounded_work,
    check_schema,
    create_tables,
    is_error,
    log_size,
    translated,
)
from minout.store.writing import write

Progress = Callable[[float], None]


def save(path: Path, state: State, notes: str = "{}", log: Sequence[Entry] = ()) -> None:
    """Write a state to one file, completely or not at all; a file that exists is replaced."""

    def fill(temporary: Any) -> None:
        with translated(path, writes=True), closing(_database(temporary.name)) as connection:
            connection.execute("PRAGMA journal_mode=OFF")  # if this fails, the file is removed
            _write_all(connection, state, notes, log)

    atomic_write(path, fill, "The model", _retire)


def _database(name: str = ":memory:") -> sqlite3.Connection:
    return sqlite3.connect(name, isolation_level=None)


def _write_all(
    connection: sqlite3.Connection, state: State, notes: str, log: Sequence[Entry]
) -> None:
    connection.execute("BEGIN")
    create_tables(connection)
    write(connection, None, state, notes, log)
    connection.execute("COMMIT")


def _retire(path: Path) -> None:
    # SQLite must never apply the write-ahead log of a file to the one that replaces it.
    beside = [path.with_name(f"{path.name}-{each}") for each in ("wal", "shm")]
    if not any(each.exists() for each in beside):
        return
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=0.0)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.Error as error:
        if is_error(error, "SQLITE_BUSY"):
            raise UnwritableError(
                f"The model could not be written to {path}: the file is open, in this process or "
                "in another one; close it, or name another file."
            ) from error
    for each in beside:
        each.unlink(missing_ok=True)


def load(
    path: Path, features: FeatureMap | None = None, codec: ExactCodec | None = None
) -> tuple[State, dict[str, Any]]:
    """Return the state in a file, and the user's notes; see `File.load`."""
    with closing(File(path, read_only=True)) as file:
        return file.load(features, codec)


def holds_model(path: Path) -> bool:
    """Return whether there is something in a file, and it is not a model that is still made."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return False
    with closing(File(path, read_only=True)) as file:
        return not file.is_new


def size_of(path: Path) -> int:
    """Return the size of a model in bytes: its file and its write-ahead log."""
    return path.stat().st_size + log_size(path)


def to_bytes(state: State, notes: str = "{}") -> bytes:
    """Return the content of a file with a state."""
    with closing(_database()) as connection:
        _write_all(connection, state, notes, ())
        return connection.serialize()


def from_bytes(
    content: bytes, features: FeatureMap | None = None, codec: ExactCodec | None = None
) -> tuple[State, dict[str, Any]]:
    """Return the state and the notes that `to_bytes` was given."""
    name, connection = Path("The pickled model"), _database()
    with closing(connection), translated(name), bounded_work(connection, len(content)):
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.deserialize(content)
        check_schema(connection, name)
        found = read(connection, len(content), name, None, features, codec)
        return found.state, json.loads(found.notes)


def copy(path: Path, to: Path, progress: Progress = lambda _: None) -> None:
    """Copy a model to a new file, also while other processes change it.

    The copy is the state after one commit. It is one file, without a write-ahead log.
    """
    if to.exists() or to.is_symlink():
        raise UnwritableError(f"There is already a {to}; name a new file.")

    def show(_status: int, left: int, pages: int) -> None:
        progress(1.0 - left / max(pages, 1))

    def fill(temporary: Any) -> None:
        with translated(to, writes=True), closing(_database(temporary.name)) as target:
            source.backup(target, show)
            target.execute("PRAGMA journal_mode=DELETE")

    with closing(File(path, read_only=True)) as source:
        atomic_write(to, fill, "The copy")
