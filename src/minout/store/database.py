"""A model in one SQLite file: records with checksums, one writer at a time, readers at any time.

`SCHEMA` has the tables. Each record has a checksum, its *seal*. `head` has the number of the newest
state (`version`) and the sum of all seals, so that a record that is missing, or left from an
earlier state, is detected. A connection *knows* the state that it last read or wrote: its number,
and the sum of its seals.

A *turn* is one write transaction: from `begin`, which takes SQLite's write lock, to `commit` or
`end`. A process that waits for this lock holds another one, on a file beside the database (the
*queue*), so that a process that ends its turn cannot take the next one before it.
"""

import json
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from filelock import FileLock, Timeout

from minout.errors import MissingDataError, UnwritableError, system_reason
from minout.store.archive import damaged_message
from minout.store.connection import (
    PATIENCE,
    POLL,
    WAIT,
    bounded_work,
    connect,
    connect_to_read,
    is_empty,
    is_error,
    log_size,
    patiently,
)
from minout.store.log import Entry, add_entries, read_entries, unname_ids, unname_labels
from minout.store.reading import FEW, Reading
from minout.store.records import DamagedRecord
from minout.store.schema import (
    APPLICATION,
    DATABASE,
    FORMAT,
    KEYED,
    MODULUS,
    PAGE,
    QUEUE,
    SCHEMA,
    SEALED,
    Changes,
    ExampleRecord,
    seal_of,
)

R = TypeVar("R")
OnWait = Callable[[float], None]


class Known(NamedTuple):
    """A state that a connection knows: its number, and the sum of all seals."""

    version: int = 0
    total: int = 0


class Database:
    """A connection to the database of one model.

    Parameters
    ----------
    folder : Path
        The model's folder; it must exist.
    read_only : bool, default=False
        Never write, and never take the write lock.
    on_wait : callable, optional
        Called repeatedly while another process holds the write lock, with the seconds waited so
        far. It may raise an error to stop waiting.
    """

    def __init__(
        self, folder: Path, *, read_only: bool = False, on_wait: OnWait | None = None
    ) -> None:
        self.folder, self.file = folder, folder / DATABASE
        self.read_only, self._on_wait = read_only, on_wait
        self._queue = FileLock(folder / QUEUE, thread_local=False)
        self._known = Known()
        self._unconfirmed: Known | None = None
        self._is_current = self._is_fixed = self._is_closed = False
        self._process = os.getpid()
        self._connection = self._connect()
        self._inode = self.file.stat().st_ino
        _databases.add(self)

    # Opening and closing

    def _connect(self) -> sqlite3.Connection:
        if log_size(self.file) and self.file.exists() and not self.file.stat().st_size:
            raise self.damaged()  # SQLite would delete the log
        with self._translated():
            if self.read_only:
                connection, self._is_fixed = connect_to_read(self.file)
            else:
                connection = connect(self.file, "rwc")
            try:
                with bounded_work(connection, 0):
                    if not self.read_only and patiently(is_empty, connection):
                        self._create(connection)
                    self._check(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        with self._queue.acquire(timeout=WAIT, poll_interval=POLL):
            if not patiently(is_empty, connection):
                return  # another process was faster
            connection.execute(f"PRAGMA page_size={PAGE}")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={FORMAT}")
            for statement in SCHEMA.values():
                connection.execute(statement)
            connection.execute("INSERT INTO head VALUES (1, 0, 0)")
            connection.execute("COMMIT")

    def _check(self, connection: sqlite3.Connection) -> None:
        # The schema must be ours to the letter: a view or a trigger could run anything.
        if self.read_only and patiently(is_empty, connection):
            return  # another process is making it
        application = patiently(connection.execute, "PRAGMA application_id").fetchone()[0]
        newer = connection.execute("PRAGMA user_version").fetchone()[0] > FORMAT
        if application != APPLICATION:
            raise MissingDataError(f"{self.file} is not a minout model.")
        if newer:
            raise MissingDataError(
                f"{self.file} was written by a newer version of minout; update minout to read it."
            )
        found = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        ).fetchmany(len(SCHEMA) + 1)
        if dict(found) != SCHEMA:
            raise self.damaged()

    @property
    def is_mine(self) -> bool:
        """Whether this process opened it: a forked child must not use the connection."""
        return os.getpid() == self._process

    def close(self) -> None:
        """End the turn without writing, and close the connection."""
        if self.is_mine and not self._is_closed:
            self.end()
            self._is_closed = True
            with self._translated():
                self._empty_log()
                self._connection.close()

    def _empty_log(self) -> None:
        # SQLite removes its write-ahead log if no other process has the file open. Otherwise it is
        # emptied, unless it is in use at this moment: it may still contain deleted records.
        if not self.read_only and self.file.exists():
            with suppress(sqlite3.Error), self._patience(POLL):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def remove(self) -> None:
        """Close the database; delete it if it has no state, and no other process uses it."""
        with suppress(UnwritableError), self._translated(writes=True):
            self.end()
            self._require_file()
            with self._patience(POLL):  # without a log, which is refused if others use the file
                self._connection.execute("PRAGMA journal_mode=DELETE")
            self._connection.execute("BEGIN EXCLUSIVE")
            if self._head()[0] == 0:
                self.file.unlink()
            else:
                self.end()
                self._connection.execute("PRAGMA journal_mode=WAL")
        self.close()

    def damaged(self) -> MissingDataError:
        """Return the error for a file that is damaged."""
        return MissingDataError(
            f"{damaged_message(self.file)} `minout audit {self.file.parent} --repair FOLDER` makes "
            "a model of the examples that are intact."
        )

    @property
    def size(self) -> int:
        """The size of the database and of its write-ahead log, in bytes."""
        return (self.file.stat().st_size if self.file.exists() else 0) + log_size(self.file)

    # Writing

    @property
    def in_turn(self) -> bool:
        """Whether this connection holds the write lock, and knows the newest state."""
        is_usable = self.is_mine and not self._is_closed
        return is_usable and self._is_current and self._connection.in_transaction

    def begin(self) -> bool:
        """Take the write lock, waiting if need be; return whether there is a newer state.

        If so, the turn begins once that state has been read and adopted.
        """
        self.require_process()
        if self.in_turn:
            return False
        self.settle()
        self.end()  # a turn that was interrupted before it had begun
        with self._translated(writes=True):
            self._take_turn()
            version = self._head()[0]
        self._is_current = version == self._known.version
        return not self._is_current

    def _take_turn(self) -> None:
        self._require_file()  # locking the queue would make a removed folder again
        self._is_current = False
        try:
            since = time.monotonic()
            try:
                with self._patience(POLL):  # so that Ctrl-C works meanwhile
                    while not (self._is_first() and self._has_locked()):
                        self._wait(since)
                        time.sleep(POLL)
            finally:
                self._queue.release(force=True)
            self._require_file()
        except OSError as error:
            raise UnwritableError(
                f"{self.folder} cannot be written to: {system_reason(error)}."
            ) from error

    @contextmanager
    def _patience(self, seconds: float) -> Iterator[None]:
        # Set SQLite's busy timeout for a while.
        self._connection.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={int(1000 * PATIENCE)}")

    def _is_first(self) -> bool:
        # Lock the queue, unless another process holds that lock.
        try:
            self._queue.acquire(timeout=0)
        except Timeout:
            return False
        return True

    def _has_locked(self) -> bool:
        # Take SQLite's write lock, unless another process holds it.
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if is_error(error, "SQLITE_BUSY"):
                return False
            raise
        return True

    def _wait(self, since: float) -> None:
        waited = time.monotonic() - since
        if waited > WAIT:
            raise UnwritableError(
                f"Another process has been changing {self.folder} for more than {WAIT:.0f} s; "
                "try again later."
            )
        if self._on_wait is not None:
            self._on_wait(waited)

    def _require_file(self) -> None:
        try:
            is_there = self.file.stat().st_ino == self._inode
        except OSError:
            is_there = False
        if not is_there:
            self._connection.rollback()
            raise UnwritableError(f"{self.file} was removed or replaced; open {self.folder} again.")

    def end(self) -> None:
        """End the turn without writing."""
        self.settle()
        if self.is_mine and not self._is_closed and self._connection.in_transaction:
            with self._translated(writes=True):
                self._unconfirmed = None
                self._connection.execute("ROLLBACK")

    def commit(self, changes: Changes) -> None:
        """Write changes in one transaction, and end the turn.

        If that fails, nothing is written, and the write lock may have been released.
        """
        with self._translated(writes=True):
            self._unconfirmed = None
            execute = self._connection.execute
            self._require_file()
            execute("SAVEPOINT writing")
            try:
                new = self._write(changes)
                execute("RELEASE writing")
            except BaseException:
                if self._connection.in_transaction:
                    execute("ROLLBACK TO writing")
                    execute("RELEASE writing")
                raise
            self._unconfirmed = new
            try:
                execute("COMMIT")
            except sqlite3.Error:
                self._unconfirmed = None
                if self._connection.in_transaction:
                    execute("ROLLBACK")
                raise
            self.settle()

    def settle(self) -> int:
        """Return the number of the known state, also after a commit that was interrupted.

        Such a commit succeeded if its transaction has ended and SQLite raised no error.
        """
        if self._unconfirmed is not None and self.is_mine and not self._connection.in_transaction:
            self._known, self._unconfirmed = self._unconfirmed, None
        return self._known.version

    def _write(self, changes: Changes) -> Known:
        version, total = self._known
        version += 1
        if version >= MODULUS:  # only a forged file has so many states
            raise DamagedRecord("version")
        total += self._write_examples(changes, version)
        for table in KEYED:
            total += self._write_keyed(table, changes)
        if changes.log:
            add_entries(self._connection, changes.log)
        with bounded_work(self._connection, self.size):
            if changes.forgotten:
                unname_ids(self._connection, changes.forgotten)
            if changes.gone:
                unname_labels(self._connection, set(changes.gone).__contains__)
        new = Known(version, total % MODULUS)
        self._connection.execute("UPDATE head SET version = ?, total = ?", new)
        return new

    def _write_examples(self, changes: Changes, version: int) -> int:
        # Return by how much the sum of all seals grows.
        put = self._connection.executemany
        free = [(record.place,) for record in changes.examples if record.id is None]
        put("DELETE FROM rows WHERE place = ?", free)
        self._connection.execute("DELETE FROM rows WHERE place >= ?", (changes.end,))
        put("INSERT OR REPLACE INTO rows VALUES (?, ?)", changes.rows)
        gone = self._deleted("examples WHERE place >= ?", changes.end)
        gone += self._deleted(
            "examples WHERE place IN (SELECT value FROM json_each(?))",
            json.dumps([record.place for record in changes.examples]),
        )
        records = [
            (record.place, version, *record[1:], record.seal()) for record in changes.examples
        ]
        marks = ", ".join("?" * (len(ExampleRecord._fields) + 2))
        put(f"INSERT INTO examples VALUES ({marks})", records)
        return sum(record[-1] for record in records) - gone

    def _write_keyed(self, table: str, changes: Changes) -> int:
        # Return by how much the sum of all seals grows.
        values, gone = getattr(changes, table), 0
        if table in changes.emptied:
            gone = self._deleted(table)
        elif values:
            chosen = f"{table} WHERE key IN (SELECT value FROM json_each(?))"
            gone = self._deleted(chosen, json.dumps([*values]))
        records = [
            (key, value, seal_of(table, key, value))
            for key, value in values.items()
            if value is not None
        ]
        self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", records)
        return sum(seal for *_, seal in records) - gone

    def _deleted(self, records: str, *arguments: Any) -> int:
        # Delete records, and return the sum of their seals.
        query = f"DELETE FROM {records} RETURNING seal"
        return sum(seal for (seal,) in self._connection.execute(query, arguments).fetchall())

    # Reading

    @property
    def version(self) -> int:
        """The number of the newest state that this connection has read or written."""
        return self._known.version

    def newest(self) -> int:
        """Return the number of the newest state in the database; 0 if there is none."""
        self.require_process()
        with self._translated():
            if self.read_only and not self.version:  # it may have been empty when it was opened
                if is_empty(self._connection):
                    return 0
                self._check(self._connection)
            if self.read_only:
                self._follow_file()
            return self._head()[0]

    def _follow_file(self) -> None:
        # SQLite does not notice that a file was replaced, nor that one opened as immutable changed.
        try:
            inode = self.file.stat().st_ino
        except OSError as error:
            raise MissingDataError(
                f"{self.file} could not be read: {system_reason(error)}."
            ) from error
        if self._is_fixed or inode != self._inode:
            self._connection.close()
            self._connection = self._connect()
        if inode != self._inode:
            self._inode, self._known = inode, Known()

    def _head(self) -> Known:
        found = patiently(self._connection.execute, "SELECT version, total FROM head").fetchmany(2)
        if len(found) != 1 or [type(each) for each in found[0]] != [int, int]:
            raise self.damaged()
        head = Known(*found[0])
        if not 0 <= head.version < MODULUS or (head.version == 0 and self._has_records()):
            raise self.damaged()
        return head

    def _has_records(self) -> bool:
        queries = (f"SELECT 1 FROM {table} LIMIT 1" for table in ("rows", *SEALED))
        return any(self._connection.execute(query).fetchone() for query in queries)

    def read(self, load: Callable[[Reading], R], *, anew: bool = False) -> tuple[R, Known]:
        """Call a function that reads the newest state, in one read transaction (a snapshot).

        With `anew` it gets all records; otherwise all except examples that have not changed since
        the known state. Return its result, and the argument for `adopt`.
        """
        self.require_process()
        with self._translated(), self._view():
            head = self._head()
            reading = Reading(self._connection, self.size, 0 if anew else self._known.version)
            with bounded_work(self._connection, self.size):
                result = load(reading)
                if reading.total() % MODULUS != head.total:
                    raise self.damaged()
            return result, head

    def adopt(self, known: Known) -> None:
        """Make a state that was read the known one; idempotent."""
        self._known, self._unconfirmed = known, None
        self._is_current = True

    @contextmanager
    def _view(self) -> Iterator[None]:
        if self._connection.in_transaction:
            yield
            return
        self._is_current = False  # a read transaction is not a turn
        try:
            self._connection.execute("BEGIN")
            yield
        finally:
            self._connection.rollback()

    def log(self, after: int = 0) -> list[Entry]:
        """Return the entries of the log with higher numbers than `after`."""
        with self._translated(), bounded_work(self._connection, self.size):
            return read_entries(self._connection, after)

    # The file as a whole

    def compact(self, labels: Collection[str]) -> None:
        """Write the whole database anew, so that no file has traces of deleted records.

        All labels except `labels` (JSON) are removed from the log.
        """
        named = {"null", *labels}
        queue = self._queue.acquire(timeout=WAIT, poll_interval=POLL)
        with self._translated(), queue, self._patience(WAIT):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                unname_labels(self._connection, lambda label: label not in named)
                self._connection.execute("COMMIT")
                self._connection.execute("VACUUM")
                busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                self._connection.rollback()
        if busy:
            raise UnwritableError(
                f"Another process is reading {self.folder}, so its write-ahead log could not be "
                "emptied; try again later."
            )

    def backup(self, folder: Path, progress: Callable[[float], None]) -> None:
        """Copy the newest state into the database of another folder.

        `progress` is called with the fraction that is done.
        """

        def show(_status: int, left: int, pages: int) -> None:
            progress(1.0 - left / max(pages, 1))

        with self._translated(), self._view():
            self._head()  # the snapshot begins with the first query
            target = sqlite3.connect(folder / DATABASE)
            try:
                self._connection.backup(target, pages=FEW, progress=show)
            except sqlite3.Error as error:
                raise UnwritableError(f"{folder} could not be written: {error}.") from error
            finally:
                target.close()

    # Errors

    def require_process(self) -> None:
        """Raise an error in a forked child: it must not use the connection."""
        if not self.is_mine:
            raise UnwritableError(
                f"{self.folder} was opened by another process; open it again in this one."
            )

    @contextmanager
    def _translated(self, *, writes: bool = False) -> Iterator[None]:
        # Raise SQLite's errors as ours. A message that quotes damaged text may not be UTF-8.
        try:
            yield
        except (UnicodeDecodeError, DamagedRecord) as error:
            raise self.damaged() from error
        except sqlite3.Error as error:
            if is_error(error, *_UNWRITABLE, *(_NO_ACCESS if writes else ())):
                raise UnwritableError(f"{self.folder} could not be written: {error}.") from error
            if is_error(error, *_NO_ACCESS):
                raise MissingDataError(f"{self.file} could not be read: {error}.") from error
            if isinstance(error, sqlite3.DatabaseError):
                raise self.damaged() from error
            raise


_UNWRITABLE = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_BUSY", "SQLITE_IOERR_WRITE")
_NO_ACCESS = ("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM")


_databases: "weakref.WeakSet[Database]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    # A child must not even close the connection of its parent, so it is never deleted.
    import ctypes

    for database in list(_databases):
        if not database.is_mine:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(database._connection))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
