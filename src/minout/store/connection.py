"""Open an SQLite file that is not trusted: nothing in it is run, and no query goes on for ever."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

WAIT = 600.0
"""The longest time to wait until another process releases the write lock, in seconds."""
POLL = 0.02
PATIENCE = 10.0
"""SQLite's busy timeout: how long it waits for a short lock of another connection, in seconds."""
STEPS, LEAST_STEPS, STEPS_PER_BYTE = 10_000, 1_000_000, 10
"""How many steps SQLite takes between two questions whether it may go on, and how many it may take
for a file of no bytes and for each byte; a record takes at most some hundred steps."""
R = TypeVar("R")


def connect(file: Path, mode: str) -> sqlite3.Connection:
    """Open a file with a mode of SQLite: "rwc" (read, write, create) or "ro" (read only).

    Raises sqlite3.DatabaseError if it is not a database.
    """
    name = f"file:{quote(str(file.resolve()))}?mode={mode}"
    connection = sqlite3.connect(
        name, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
    )
    settings = (
        "trusted_schema=OFF",
        "cell_size_check=ON",
        "synchronous=FULL",
        "secure_delete=ON" if mode == "rwc" else "query_only=ON",
        "journal_size_limit=67108864",
    )
    try:
        with bounded_work(connection, 0):  # some of them read the schema
            for setting in settings:
                patiently(connection.execute, f"PRAGMA {setting}")
            patiently(is_empty, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(file: Path) -> tuple[sqlite3.Connection, bool]:
    """Open a file read-only; return whether later changes by other processes are not seen.

    In a folder without permission to write, the files of the write-ahead log cannot be made; then
    the database is read without them, which is right as long as there is no log.
    """
    try:
        return connect(file, "ro"), False
    except sqlite3.OperationalError as error:
        if log_size(file) or not is_error(error, "SQLITE_CANTOPEN", "SQLITE_READONLY"):
            raise
        return connect(file, "ro&immutable=1"), True


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether nothing has been written: neither our tables nor those of another program."""
    names = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not names and not connection.execute("PRAGMA application_id").fetchone()[0]


def log_size(file: Path) -> int:
    """Return the size of the write-ahead log of a database."""
    log = file.with_name(f"{file.name}-wal")
    return log.stat().st_size if log.exists() else 0


def patiently(function: Callable[..., R], *arguments: Any) -> R:
    """Call a function, again while another process keeps SQLite busy."""
    until = time.monotonic() + WAIT
    while True:
        try:
            return function(*arguments)
        except sqlite3.OperationalError as error:
            if not is_error(error, "SQLITE_BUSY") or time.monotonic() > until:
                raise


def is_error(error: sqlite3.Error, *names: str) -> bool:
    """Return whether SQLite's name of an error begins with one of some names."""
    return getattr(error, "sqlite_errorname", "").startswith(names)


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
