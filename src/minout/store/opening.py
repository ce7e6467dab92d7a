"""Open an SQLite file that is not trusted, and say in one sentence what is wrong with it.

Nothing in the file is run, and no query goes on for ever. The schema is compared with ours, to the
letter, before anything else is asked.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from minout.core import MalformedError
from minout.errors import MinoutError, MissingDataError, UnwritableError, system_reason
from minout.store.tables import (
    APPLICATION,
    FORMAT,
    SCHEMA,
    TELLS,
    DamagedRecord,
    Meta,
    sealed,
)

PATIENCE = 10.0  # how long SQLite waits for a short lock of another connection, in seconds
STEPS, LEAST_STEPS, STEPS_PER_BYTE = 10_000, 1_000_000, 10
"""How many steps SQLite takes between two questions whether it may go on, and how many it may take
for a file of no bytes and for each byte; a record takes at most some hundred steps."""
UNWRITABLE = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_BUSY", "SQLITE_IOERR_WRITE")
FILES = 4  # the file, its log, their index, and one that is written beside it
UNSHARED = ("SQLITE_PROTOCOL", "SQLITE_IOERR_LOCK", "SQLITE_IOERR_SHM")
NO_ACCESS = ("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_BUSY", "SQLITE_AUTH")


def connect(path: Path, *, durability: str = "normal") -> sqlite3.Connection:
    """Open a model's file to read and write it; make one if there is none, or an empty one."""
    if log_size(path) and path.exists() and not path.stat().st_size:
        raise damaged(path)  # SQLite would delete the log
    with translated(path, writes=True):
        return _connected(path, "rwc", f"synchronous={durability}", "secure_delete=ON")


def connect_to_read(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open a model's file read-only; return whether later changes by others are not seen.

    In a folder without permission to write, the files of the write-ahead log cannot be made; then
    the file is read without them, which is right as long as there is no log.
    """
    require_file(path)
    with translated(path):
        try:
            return _connected(path, "ro", "query_only=ON"), False
        except sqlite3.OperationalError as error:
            if log_size(path) or not is_error(error, "SQLITE_CANTOPEN", "SQLITE_READONLY"):
                raise
            return _connected(path, "ro&immutable=1", "query_only=ON"), True


def _connected(path: Path, mode: str, *settings: str) -> sqlite3.Connection:
    name = f"file:{quote(os.path.abspath(path))}?mode={mode}"
    connection = sqlite3.connect(
        name, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
    )
    try:
        with bounded_work(connection, 0):  # some of the settings read the schema
            for each in ("trusted_schema=OFF", "cell_size_check=ON", *settings):
                connection.execute(f"PRAGMA {each}")
            connection.execute("PRAGMA journal_size_limit=67108864")
            if is_empty(connection) and mode == "rwc":
                _create(connection)
            check_schema(connection, path)
        if mode == "rwc":
            _share(connection, path)
            connection.execute("PRAGMA busy_timeout=0")  # see `File.begin`
    except BaseException:
        connection.close()
        raise
    return connection


def _share(connection: sqlite3.Connection, path: Path) -> None:
    # With a write-ahead log readers and a writer do not wait for each other.
    since, found = time.monotonic(), None
    while found is None:
        try:
            found = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            if is_error(error, *UNSHARED):
                break
            if not is_error(error, "SQLITE_BUSY") or time.monotonic() - since > PATIENCE:
                raise
            time.sleep(0.01)  # another process makes the log, and SQLite does not wait for that
    if found != ("wal",):
        raise UnwritableError(
            f"{path} is on a file system on which SQLite cannot share a file between processes; "
            "copy it to a local disk."
        )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_empty(connection):  # otherwise another process was faster
            create_tables(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def create_tables(connection: sqlite3.Connection) -> None:
    """Make our tables in an empty database."""
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute(f"PRAGMA user_version={FORMAT}")
    for statement in SCHEMA.values():
        connection.execute(statement)
    first = (TELLS, *Meta(), sealed(*Meta()))
    connection.execute(f"INSERT INTO meta VALUES (?{', ?' * len(first[1:])})", first)


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether nothing has been written: neither our tables nor those of another program."""
    names = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not names and not connection.execute("PRAGMA application_id").fetchone()[0]


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Raise MissingDataError unless the tables are ours: a view or a trigger could run anything."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise MissingDataError(f"{path} is not a minout model.")
    if connection.execute("PRAGMA user_version").fetchone()[0] > FORMAT:
        raise MissingDataError(
            f"{path} was written by a newer version of minout; update minout to read it."
        )
    query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    if dict(connection.execute(query).fetchmany(len(SCHEMA) + 1)) != SCHEMA:
        raise damaged(path)


def require_file(path: Path) -> None:
    """Raise MissingDataError unless a path is that of a file that can be read."""
    # It must not be opened: to close it would release the locks of other connections to it.
    try:
        path.stat()
    except FileNotFoundError:
        raise MissingDataError(f"There is no file {path}.") from None
    except OSError as error:
        raise MissingDataError(f"{path} could not be read: {system_reason(error)}.") from error
    if path.is_dir():
        raise MissingDataError(f"{path} is a folder, not a file.")
    if not os.access(path, os.R_OK):
        raise MissingDataError(f"{path} could not be read: permission denied.")


def log_size(path: Path) -> int:
    """Return the size of the write-ahead log of a file."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size
    except FileNotFoundError:
        return 0


def is_error(error: sqlite3.Error, *names: str) -> bool:
    """Return whether SQLite's name of an error begins with one of some names."""
    return getattr(error, "sqlite_errorname", "").startswith(names)


def damaged(path: Path) -> MissingDataError:
    """Return the error for a file that is damaged."""
    return MissingDataError(
        f"{path} is not a minout model, or it was truncated or damaged; restore it from a copy, or "
        f"`minout audit {path} --repair NEW` makes a model of the examples that are intact."
    )


@contextmanager
def translated(path: Path, *, writes: bool = False) -> Iterator[None]:
    """Raise the errors of SQLite as ours, with one sentence each."""
    try:
        yield
    except MinoutError:
        raise
    except (UnicodeDecodeError, DamagedRecord, MalformedError) as error:
        raise damaged(path) from error
    except MemoryError as error:
        raise MissingDataError(f"{path} does not fit into the memory of this machine.") from error
    except OSError as error:
        raise UnwritableError(f"{path} could not be written: {system_reason(error)}.") from error
    except sqlite3.Error as error:
        if is_error(error, *UNWRITABLE, *NO_ACCESS):
            kind, verb = (UnwritableError, "written") if writes else (MissingDataError, "read")
            raise kind(f"{path} could not be {verb}: {_reason(path, error)}.") from error
        if is_error(error, "SQLITE_NOTADB"):
            raise MissingDataError(
                f"{path} is not a minout model: its first bytes are not those of an SQLite file."
            ) from error
        if isinstance(error, sqlite3.DatabaseError):
            raise damaged(path) from error
        raise


def _reason(path: Path, error: sqlite3.Error) -> str:
    # SQLite does not tell why a file cannot be opened. It must not be opened here: see above.
    if is_error(error, "SQLITE_CANTOPEN"):
        if path.is_dir():
            return "it is a folder"
        if path.exists() and not os.access(path, os.R_OK | os.W_OK):
            return "permission denied"
        try:
            with ExitStack() as opened:
                for _ in range(FILES):
                    opened.enter_context(Path(os.devnull).open())
        except OSError as cause:  # too many open files
            return system_reason(cause)
    return "another process is using it" if is_error(error, "SQLITE_BUSY") else str(error)


@contextmanager
def bounded_work(connection: sqlite3.Connection, size: int) -> Iterator[None]:
    """Interrupt queries that take many more steps than a file of this size needs.

    In a forged file a page may belong to a table many times, so that a query would not end.
    """
    left = [(LEAST_STEPS + STEPS_PER_BYTE * size) // STEPS]

    def is_too_long() -> bool:
        left[0] -= 1
        return left[0] < 0

    connection.set_progress_handler(is_too_long, STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
