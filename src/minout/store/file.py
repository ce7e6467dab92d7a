"""A model in one SQLite file: one writer at a time, readers at any time.

A change is `begin`, `load` if others have changed the model, `commit`. Nothing happens in the
background: when `commit` returns, the change is in the file.
"""

import json
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from minout.codecs import ExactCodec
from minout.core import NotAnUpdateError, State
from minout.errors import InvalidInputError, UnwritableError
from minout.features import FeatureMap
from minout.store.history import Entry, read_entries, unname_other_labels
from minout.store.loading import Loaded, read, read_meta
from minout.store.opening import (
    PATIENCE,
    bounded_work,
    connect,
    connect_to_read,
    is_error,
    log_size,
    translated,
)
from minout.store.writing import write

Durability = Literal["normal", "full"]
OnWait = Callable[[float], None]

WAIT = 600.0  # the longest time to wait until another process releases the write lock, in seconds
POLL = 0.002


class File:
    """A connection to the file of one model. It knows the state that it last read or wrote.

    One thread at a time may use it. A child that was forked cannot: SQLite forbids it.

    `durability` is what a commit survives: the end of the process, or ("full") also a power cut.
    With `read_only` it never takes the write lock. `on_wait` is called with the seconds waited so
    far while another process holds that lock; it may raise an error to stop waiting.
    """

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "normal",
        read_only: bool = False,
        on_wait: OnWait | None = None,
    ) -> None:
        if durability not in ("normal", "full"):
            raise InvalidInputError(f'`durability` must be "normal" or "full", not {durability!r}.')
        self.path = path
        self._place = Path(os.path.abspath(path))  # the program may change its directory
        self.durability, self.read_only, self._on_wait = durability, read_only, on_wait
        self._known: Loaded | None = None
        self.notes = "{}"  # the user's, of the known state
        self._connected: sqlite3.Connection | None = None
        self._process = self._inode = 0
        self._is_fixed = self.is_closed = False
        if read_only or self._place.exists():
            self._open(path)
        elif not self._place.parent.is_dir():
            raise UnwritableError(f"There is no folder {path.parent}; make it first.")

    # Opening and closing

    def _open(self, path: Path | None = None) -> sqlite3.Connection:
        if self._inode_now() in _inherited:
            raise self._forked()
        if self.read_only:
            self._connected, self._is_fixed = connect_to_read(path or self._place)
        else:
            self._connected = connect(path or self._place, durability=self.durability)
        self._process, self._inode = os.getpid(), self._inode_now()
        _files.add(self)
        return self._connected

    @property
    def _connection(self) -> sqlite3.Connection:
        if self.is_closed:
            raise UnwritableError(f"{self.path} has been closed; open it again.")
        if self._connected is None:
            return self._open()
        if self.is_forked:
            raise self._forked()
        return self._connected

    @property
    def is_forked(self) -> bool:
        """Whether it was open when this process was forked."""
        return self._connected is not None and os.getpid() != self._process

    def _forked(self) -> UnwritableError:
        return UnwritableError(
            f"{self.path} was open when this process was forked, and SQLite cannot share it with a "
            "fork; use a process that is started in another way (spawn)."
        )

    def close(self) -> None:
        """End the transaction without writing, and release the file."""
        if self._connected is not None and not self.is_closed and os.getpid() == self._process:
            self.abandon()
            self.is_closed = True  # before it is: Ctrl-C may come between
            self._connected.close()
        self.is_closed = True

    def _inode_now(self) -> int:
        try:
            return self._place.stat().st_ino
        except OSError:
            return 0

    @property
    def is_new(self) -> bool:
        """Whether no state has ever been written."""
        return self._connected is None or self.newest() == 0

    @property
    def size(self) -> int:
        """The size of the file and of its write-ahead log, in bytes."""
        return (self._place.stat().st_size if self._place.exists() else 0) + log_size(self._place)

    # Writing

    def create(self, state: State, notes: str = "{}") -> bool:
        """Write the first state; return False if there is one, perhaps of another process."""
        if not self.is_new:
            return False
        if self.begin():  # since then
            self.abandon()
            return False
        self.commit(None, state, notes)
        return True

    def begin(self, known: State | None = None) -> bool:
        """Take the write lock, waiting if need be; return whether `reload` must be called.

        `known` is the state that the caller has: after Ctrl-C it may not be the one that this
        object knows.
        """
        if self.read_only:
            raise UnwritableError(
                f"{self.path} was opened to be read only; open it without `read_only`."
            )
        with translated(self.path, writes=True):
            if not self._connection.in_transaction:
                self._take_lock()
            if self._inode_now() != self._inode:
                self.abandon()
                raise UnwritableError(f"{self.path} was removed or replaced; open it again.")
        try:
            return self.has_news(known)
        except BaseException:
            self.abandon()
            raise

    def _take_lock(self) -> None:
        since, connection = time.monotonic(), self._connection
        while True:  # SQLite itself does not wait, so that Ctrl-C works
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not is_error(error, "SQLITE_BUSY"):
                    raise
            self._wait(time.monotonic() - since)

    def _wait(self, waited: float) -> None:
        if waited > WAIT:
            raise UnwritableError(
                f"Another process has been changing {self.path} for more than {WAIT:.0f} s; "
                "try again later."
            )
        if self._on_wait is not None:
            self._on_wait(waited)
        time.sleep(POLL)

    def commit(
        self, old: State | None, new: State, notes: str = "{}", log: Sequence[Entry] = ()
    ) -> None:
        """Write the records in which two states differ, and end the transaction.

        If that fails, nothing is written. `old` is the state that this object knows, None if the
        file has none. `notes` are the user's, as JSON.
        """
        connection = self._connection
        try:
            if old is not (None if self._known is None else self._known.state):
                raise UnwritableError(f"{self.path} has another state; reload it first.")
            changed = None if old is not None and notes == self.notes else notes
            with translated(self.path, writes=True):
                version = write(connection, old, new, changed, log)
                connection.execute("COMMIT")
        except BaseException:
            self.abandon()
            raise
        # Ctrl-C before this line: `begin` finds a newer state, which is this one.
        self._known, self.notes = Loaded(new, notes, version), notes

    def abandon(self) -> None:
        """End the transaction without writing."""
        is_usable = self._connected is not None and os.getpid() == self._process
        if is_usable and not self.is_closed and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    # Reading

    def newest(self) -> int:
        """Return the number of the newest state in the file; 0 if there is none."""
        with translated(self.path):
            if self.read_only:
                self._follow()
            return read_meta(self._connection).version

    def has_news(self, known: State | None = None) -> bool:
        """Return whether the newest state is another one than that which the caller knows."""
        newest, mine = self.newest(), self._known
        if mine is None:
            return newest > 0
        return newest != mine.version or (known is not None and known is not mine.state)

    def _follow(self) -> None:
        # SQLite does not notice that a file was replaced, nor that one opened as immutable changed.
        inode, old = self._inode_now(), self._connected
        if old is not None and (self._is_fixed or inode != self._inode):
            is_other = inode != self._inode
            self._open()
            old.close()
            if is_other:
                self._known = None

    def load(
        self, features: FeatureMap | None = None, codec: ExactCodec | None = None
    ) -> tuple[State, dict[str, Any]]:
        """Read the whole newest state, and the user's notes.

        A feature map or codec that is given must be that of the model.
        """
        return self._read(None, features, codec)

    def reload(self, known: State) -> tuple[State, dict[str, Any]]:
        """Read what changed since a known state, and return the newest one and the user's notes."""
        return self._read(known, known.schema.features, known.examples.codec)

    def _read(
        self, known: State | None, features: FeatureMap | None, codec: ExactCodec | None
    ) -> tuple[State, dict[str, Any]]:
        connection, mine = self._connection, self._known
        with translated(self.path), self._view(), bounded_work(connection, self.size):
            found = None
            if mine is not None and known is mine.state:
                with suppress(NotAnUpdateError):
                    found = read(connection, self.size, self.path, mine)
            if found is None:
                found = read(connection, self.size, self.path, None, features, codec)
        self._known, self.notes = found, found.notes
        return found.state, json.loads(found.notes)

    @contextmanager
    def _view(self) -> Iterator[None]:
        connection = self._connection
        if connection.in_transaction:
            yield
            return
        connection.execute("BEGIN")
        try:
            yield
        finally:
            connection.rollback()

    def log(self, after: int = 0) -> list[Entry]:
        """Return the entries of the log with higher numbers than `after`."""
        with translated(self.path), bounded_work(self._connection, self.size):
            return read_entries(self._connection, after)

    # The file as a whole

    def backup(self, target: sqlite3.Connection, progress: Callable[[int, int, int], None]) -> None:
        """Copy the newest state to another database, a thousand pages at a time."""
        with translated(self.path), self._view():
            self.newest()  # the snapshot begins with the first query
            self._connection.backup(target, pages=1_000, progress=progress)

    def compact(self) -> bool:
        """Write the file anew, so that nothing deleted is left in it; return whether that is done.

        It is pending if another process is reading: then the write-ahead log could not be emptied.
        Labels that the model no longer has are removed from the log of changes.
        """
        connection = self._connection
        self.begin()
        with translated(self.path, writes=True):
            try:
                unname_other_labels(connection)
                connection.execute("COMMIT")
                connection.execute(f"PRAGMA busy_timeout={int(1000 * PATIENCE)}")
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                connection.execute("PRAGMA busy_timeout=0")
                self.abandon()
        return not busy


_files: "weakref.WeakSet[File]" = weakref.WeakSet()
_inherited = set[int]()  # the inodes of files that were open when this process was forked


def _after_fork_in_child() -> None:
    # A child must not even close the connections of its parent, so they are never deleted.
    import ctypes

    for file in [each for each in _files if not each.is_closed]:
        _inherited.add(file._inode)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(file._connected))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
