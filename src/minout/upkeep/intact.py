"""Read what is intact in a model's database that may be damaged.

A record is intact if it matches its checksum (its *seal*), a row if it matches the *digest*, a hash
in the record of its example. A *place* is the number of a row.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Id, Label
from minout.store.connection import bounded_work, connect_to_read, log_size
from minout.store.log import ascending, checked_entry
from minout.store.reading import LEAST_BYTES, Reading, checked_examples, is_sealed
from minout.store.records import DamagedRecord
from minout.store.schema import DATABASE, KEYED, MODULUS, SCHEMA, ExampleRecord, LogEntry

Progress = Callable[[float], None]

BLOCK = 64
"""So many examples are read at a time."""
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError, DamagedRecord)
"""The errors on damaged files; the second one if the message of the first is not UTF-8."""
FIELDS = ", ".join(ExampleRecord._fields)


class Example(NamedTuple):
    """An example whose record and row are intact; a number of its row has `size` bytes."""

    id: Id
    label: Label
    corrected: tuple[Label, ...]
    record: ExampleRecord
    row: bytes
    size: int


class Intact:
    """What is intact in the database of a folder: examples, some parts, and the log.

    `problems` has a sentence for each thing that is wrong, and `records` counts the records that
    have a seal. `lost` is the number of examples that are not intact, as far as it is known, and
    `lost_ids` has those of their ids that can be read. Without `keep_rows`, examples have no rows.
    `progress` is called with the fraction that is done.
    """

    def __init__(self, folder: Path, progress: Progress, *, keep_rows: bool = False) -> None:
        self.problems: list[str] = []
        self.records, self.lost = 0, 0
        self.examples: list[Example] = []
        self.lost_ids: list[Id] = []
        self.log: list[LogEntry] = []
        self.parts: dict[str, bytes] = {}
        self._progress, self._keep_rows = progress, keep_rows
        file = folder / DATABASE
        self._size = file.stat().st_size + log_size(file)
        if not file.stat().st_size:  # SQLite would delete the write-ahead log
            self.problems.append(f"{DATABASE} is empty.")
            return
        try:
            self._connection, _ = connect_to_read(file)
        except DAMAGE as error:
            self._note(error)
            return
        with closing(self._connection):
            self._connection.text_factory = lambda text: text.decode("utf-8", "replace")
            self._connection.execute("BEGIN")
            for step in (self._check_file, self._read_keyed, self._read_examples, self._read_log):
                self._do(step)

    def facts(self, name: str) -> dict[str, Any] | None:
        """Return a part that is a JSON object; None if it is not intact."""
        try:
            found = json.loads(self.parts.get(name, b""))
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _do(self, step: Callable[[], None]) -> None:
        with bounded_work(self._connection, 10 * self._size):
            try:
                step()
            except DAMAGE as error:
                self._note(error)

    def _note(self, error: Exception) -> None:
        reason = str(error) if isinstance(error, sqlite3.Error) else "it is damaged"
        self.problems.append(f"{DATABASE} cannot be read: {' '.join(reason.split())}.")

    def _check_file(self) -> None:
        execute = self._connection.execute
        schema = dict(execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if schema != SCHEMA:
            self.problems.append("Tables are missing or changed, or there are others.")
        found = [text for (text,) in execute("PRAGMA integrity_check(10)")]
        self.problems += [f"SQLite: {' '.join(text.split())}." for text in found if text != "ok"]
        total = Reading(self._connection, self._size, 0).total() % MODULUS
        if execute("SELECT total FROM head").fetchall() != [(total,)]:
            self.problems.append(
                "The sum of all checksums is not the stored one: a record is missing, or is an "
                "old one."
            )

    def _read_keyed(self) -> None:
        for table in KEYED:
            query, wrong = f"SELECT key, value, seal FROM {table} ORDER BY key", 0
            with suppress(*DAMAGE):  # the check of the file has found it
                for key, value, seal in self._connection.execute(query):
                    self.records += 1
                    if self.records * LEAST_BYTES > self._size:  # the pages of a forged file repeat
                        raise DamagedRecord(table)
                    if not is_sealed(table, key, value, seal):
                        wrong += 1
                    elif table == "parts":
                        self.parts[key] = value
            if wrong:
                self.problems.append(f"Table {table!r}: {wrong} records are damaged.")

    def _read_examples(self) -> None:
        end = self._end()
        for first in range(0, end, BLOCK):
            until = min(first + BLOCK, end)
            self._read_places(first, until)
            self._progress(until / end)
        self.records += end
        self.examples.sort(key=lambda each: each.record.serial)
        if self.lost:
            ids = ", ".join(map(repr, self.lost_ids[:10])) or "their ids cannot be read"
            self.problems.append(f"Examples that are damaged or missing: {self.lost} ({ids}).")
        # Not count(*), which cannot be interrupted if the pages of a forged file repeat.
        rows = ascending(self._connection.execute("SELECT place FROM rows ORDER BY place"))
        if sum(1 for _ in rows) > len(self.examples) + self.lost:
            self.problems.append("There are rows without an example.")

    def _end(self) -> int:
        # The number of places.
        end = (self.facts("about") or {}).get("end")
        if type(end) is not int:
            last = self._connection.execute("SELECT max(place) FROM examples").fetchone()[0]
            end = 0 if last is None else last + 1
        return max(min(end, self._size // LEAST_BYTES), 0)

    def _read_places(self, first: int, end: int) -> None:
        # Read the examples and rows of some places; if that fails, those of each half.
        # The limit is for SQLite not to look at the next page, which may be damaged.
        some = f"WHERE place >= {first} AND place < {end} ORDER BY place LIMIT {end - first}"
        execute = self._connection.execute
        try:
            records = execute(f"SELECT {FIELDS}, seal FROM examples {some}").fetchall()
            if [record[0] for record in records] != list(range(first, end)):
                raise DamagedRecord("examples")
            checked_examples(records)
            rows = dict(execute(f"SELECT place, row FROM rows {some}").fetchall())
            stored = [ExampleRecord(*each[:-1]) for each in records if each[1] is not None]
            self.examples += [self._example(each, rows.get(each.place)) for each in stored]
        except DAMAGE:
            middle = (first + end) // 2
            if middle > first:
                self._read_places(first, middle)
                self._read_places(middle, end)
            else:
                self._lose(first)

    def _example(self, record: ExampleRecord, row: Any) -> Example:
        sizes = (8, 4, 1) if type(row) is bytes else ()
        for size in sizes:
            if _digest(row, size) == record.digest:
                return Example(*_names(record), record, row if self._keep_rows else b"", size)
        raise DamagedRecord("row")

    def _lose(self, place: int) -> None:
        # An example that is not intact; a place without a record and without a row was free.
        self.lost += 1
        with suppress(*DAMAGE, ValueError, TypeError, RecursionError):
            ids = self._at("id", "examples", place)
            if not ids and not self._at("1", "rows", place):
                self.lost -= 1
            for (text,) in ids:
                name = json.loads(text)
                if type(name) in (int, str) and "\ufffd" not in str(name):
                    self.lost_ids.append(name)

    def _at(self, column: str, table: str, place: int) -> list[Any]:
        query = f"SELECT {column} FROM {table} WHERE place = ?"
        return self._connection.execute(query, (place,)).fetchmany(1)

    def _read_log(self) -> None:
        wrong, query = 0, "SELECT number, time, action, id, details FROM log ORDER BY number"
        for entry in ascending(self._connection.execute(query)):
            try:
                checked_entry(*entry)
                self.log.append(LogEntry(*entry[1:]))
            except DamagedRecord:
                wrong += 1
        if wrong:
            self.problems.append(f"{wrong} entries of the log cannot be read.")


def _digest(row: bytes, size: int) -> int | None:
    # The digest of a row whose numbers have so many bytes.
    if not row or len(row) % size:
        return None
    words = np.frombuffer(row, f"u{size}").copy()
    return int(np.uint64(kernels.digest(words)).view(np.int64))


def _names(record: ExampleRecord) -> tuple[Id, Label, tuple[Label, ...]]:
    # Id, label and earlier labels of an example.
    try:
        id, label = json.loads(record.id or ""), json.loads(record.label or "")
        had = json.loads(record.corrected or "[]")
    except (ValueError, RecursionError):
        raise DamagedRecord("JSON") from None
    if not isinstance(had, list) or not all(type(each) in (int, str) for each in (id, label, *had)):
        raise DamagedRecord("names")
    return id, label, tuple(had)
