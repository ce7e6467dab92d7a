"""A disk that fails: SQLite raises an error at the chosen statement."""

import sqlite3
from contextlib import contextmanager
from unittest import mock

ERRORS = {
    "SQLITE_FULL": "database or disk is full",
    "SQLITE_IOERR_WRITE": "disk I/O error",
    "SQLITE_IOERR_FSYNC": "disk I/O error",
}


class Disk:
    """Counts the statements of all connections that are opened in `failing_disk`."""

    def __init__(self):
        self.left, self.ran, self.has_failed, self.name = None, 0, False, "SQLITE_FULL"

    def fail_at(self, number, name="SQLITE_FULL"):
        """Let one statement fail, `number` statements from now; None lets none fail."""
        self.left, self.ran, self.has_failed, self.name = number, 0, False, name

    def count(self):
        """Count a statement, and raise the error if it is its turn."""
        self.ran += 1
        if self.ran == self.left:
            self.has_failed = True
            error = sqlite3.OperationalError(ERRORS[self.name])
            error.sqlite_errorname = self.name
            raise error


@contextmanager
def failing_disk():
    """Open connections that count their statements, and yield the count."""
    disk = Disk()

    class Connection(sqlite3.Connection):
        def execute(self, *arguments):
            disk.count()
            return super().execute(*arguments)

        def executemany(self, *arguments):
            disk.count()
            return super().executemany(*arguments)

    real = sqlite3.connect
    with mock.patch(
        "minout.store.database.sqlite3.connect",
        lambda *arguments, **options: real(*arguments, factory=Connection, **options),
    ):
        yield disk
