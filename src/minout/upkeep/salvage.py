"""Read what is intact in a model's database that may be damaged, record by record.

A record is intact if it matches its checksum (its *seal*), a row if it matches its *digest*, a hash
in the record of its example. A *place* is the number of a row. The *parts* of a model are the
records that belong to no single example or separator.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import numpy as np

from minout import kernels
from minout.errors import MissingDataError
from minout.store.log_entries import is_readable
from minout.store.reading import LEAST_BYTES, ascending, bounded_work
from minout.store.records import Arrays, DamagedRecord, decode_arrays
from minout.store.schema import (
    APPLICATION,
    DATABASE,
    FORMAT,
    KEYED,
    MODULUS,
    SCHEMA,
    ExampleRecord,
    Key,
    LogEntry,
    is_example,
    seal_of,
)
from minout.upkeep.pages import records

DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError, DamagedRecord)
"""The errors on damaged files; the second one if the message of the first is not UTF-8."""

Progress = Callable[[float], None]
R = TypeVar("R")

ABOUT, NOTES, MEMORY = "about", "notes", "memory"
DTYPES = ("float64", "float32", "uint8")
"""The dtypes of stored rows; codes are uint8."""
FIELDS = ", ".join(ExampleRecord._fields)


class Row(NamedTuple):
    """The bytes of a row, and the dtype with which they match its digest."""

    value: bytes
    dtype: str


class Salvaged:
    """What is intact in a database, and what is not.

    Attributes
    ----------
    problems : list of str
        One sentence for each thing that is wrong; none if every record is intact.
    examples : dict of int to ExampleRecord
        The intact records by place, also of places that are not in use.
    rows : dict of int to Row
        The rows that match the digests in these records; without their bytes unless `keep_rows`.
    damaged : dict of int to (ExampleRecord or None)
        By place, examples whose record or row is damaged; None if no record can be read.
    about, notes : dict or None
        Two parts of the model that cannot be computed again; None if damaged.
    memory : dict of str to ndarray, or None
        The arrays of its codec, which cannot be computed again either.
    keyed : dict of str to int
        How many records of each other table are intact.
    log : list of LogEntry
        The log, as far as it can be read.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.examples: dict[int, ExampleRecord] = {}
        self.rows: dict[int, Row] = {}
        self.damaged: dict[int, ExampleRecord | None] = {}
        self.about: dict[str, Any] | None = None
        self.notes: dict[str, Any] | None = None
        self.memory: Arrays | None = None
        self.keyed: dict[str, int] = {}
        self.log: list[LogEntry] = []
        self.version = -1

    @property
    def stored(self) -> list[ExampleRecord]:
        """The examples whose record and row are intact, in the order of teaching."""
        found = [each for each in self.examples.values() if each.place in self.rows]
        return sorted(found, key=lambda each: (each.serial, each.place))


def salvage(folder: Path, *, keep_rows: bool, progress: Progress) -> Salvaged:
    """Read everything in the database of a folder, and say what is wrong with it.

    Parameters
    ----------
    folder : Path
        The folder of a model.
    keep_rows : bool
        Keep the rows, and search the pages of the file for records that the database does not
        find.
    progress : callable
        Called with the fraction that is done.

    Returns
    -------
    Salvaged
        What is intact, and what is not.
    """
    return _Salvage(folder / DATABASE, keep_rows, progress).run()


class _Salvage:
    """One run of `salvage`."""

    def __init__(self, file: Path, keep_rows: bool, progress: Progress) -> None:
        self._file, self._keep_rows, self._progress = file, keep_rows, progress
        self._found = Salvaged()
        self._total = 0
        self._tables: set[str] = set()
        self._with_rows: set[int] | None = None

    def run(self) -> Salvaged:
        found = self._found
        with _connected(self._file) as connection:
            self._connection = connection
            if self._bounded(self._check_file):
                self._bounded(self._read_parts)
                self._bounded(self._read_examples)
                self._bounded(self._read_keyed)
                self._bounded(self._read_log)
                self._check_total()
            else:
                found.problems.append(f"{self._file.name} is no longer an SQLite database.")
        if found.problems and self._keep_rows:
            self._search_pages()
        self._note_damaged()
        return found

    def _bounded(self, step: Callable[[], R]) -> R:
        with bounded_work(self._connection, self._size()):
            return step()

    # The file and its tables

    def _check_file(self) -> bool:
        # Return whether SQLite can read it at all.
        try:
            self._connection.execute("BEGIN")
            found = self._all("SELECT name, type, sql FROM sqlite_master")
        except DAMAGE:
            return False
        problems = self._found.problems
        try:
            checked = [text for (text,) in self._all("PRAGMA integrity_check(10)")]
        except DAMAGE as error:
            checked = [str(error)]
        problems += [f"SQLite: {' '.join(text.split())}." for text in checked if text != "ok"]
        known = {name for name, _, sql in found if SCHEMA.get(name) == sql}
        self._tables = {name for name, kind, _ in found if kind == "table" and name in known}
        problems += [
            f"Table or index {name!r} is missing or changed." for name in SCHEMA.keys() - known
        ]
        if any(sql is not None and name not in SCHEMA for name, _, sql in found):
            problems.append("There are tables that are not part of a model.")
        numbers = [self._all(f"PRAGMA {each}") for each in ("application_id", "user_version")]
        if numbers != [[(APPLICATION,)], [(FORMAT,)]]:
            problems.append("The file's header is not that of a model.")
        return True

    def _check_total(self) -> None:
        found = self._tried("SELECT version, total FROM head") if "head" in self._tables else []
        if len(found) != 1:
            self._found.problems.append("The number of the state cannot be read.")
            return
        self._found.version, total = found[0]
        if not self._found.problems and self._total % MODULUS != total:
            self._found.problems.append(
                "The sum of all checksums is not the stored one: a record is missing, or is an "
                "old one."
            )

    # Parts

    def _read_parts(self) -> None:
        if "parts" not in self._tables:
            return
        values = self._values("parts", "SELECT key, value, seal FROM parts ORDER BY key")
        for name in (ABOUT, NOTES, MEMORY):
            query = "SELECT key, value, seal FROM parts WHERE key = ?"
            if name not in values:
                values |= self._values("parts", query, (name,), quiet=True)
        self._found.keyed["parts"] = len(values)
        self._take_parts(values)

    def _take_parts(self, values: dict[Key, bytes]) -> None:
        found = self._found
        found.about = _checked_about(_object(values.get(ABOUT)), self._size()) or found.about
        notes = _object(values.get(NOTES))
        found.notes = found.notes if notes is None else notes
        if MEMORY in values:
            with suppress(DamagedRecord):
                found.memory = decode_arrays(values[MEMORY])

    def _read_keyed(self) -> None:
        for table in KEYED:
            if table != "parts" and table in self._tables:
                query = f"SELECT key, value, seal FROM {table} ORDER BY key"
                self._found.keyed[table] = len(self._values(table, query, keep=False))

    def _values(
        self,
        table: str,
        query: str,
        arguments: Sequence[Any] = (),
        *,
        quiet: bool = False,
        keep: bool = True,
    ) -> dict[Key, bytes]:
        # The intact records of a query by key.
        values: dict[Key, bytes] = {}
        wrong = 0
        try:
            for key, value, seal in _in_order(self._connection.execute(query, arguments)):
                if type(value) is bytes and _is_sealed(table, key, value, seal):
                    values[key] = value if keep else b""
                    self._total += seal
                else:
                    wrong += 1
        except DAMAGE:
            if not quiet:
                self._found.problems.append(f"Table {table!r} cannot be read to its end.")
        if wrong and not quiet:
            self._found.problems.append(
                f"Table {table!r}: {wrong} of {wrong + len(values)} records do not match their "
                "checksums."
            )
        return values

    # Examples

    def _read_examples(self) -> None:
        found = self._found
        if "examples" in self._tables:
            is_whole = self._scan_examples("ASC")
            if not is_whole:
                self._scan_examples("DESC")
            end = self._end()
            for place in range(end):
                if place not in found.examples:
                    query = f"SELECT {FIELDS}, seal FROM examples WHERE place = ?"
                    for values in self._tried(query, (place,)):
                        self._take_example(values)
            self._total += sum(each.seal() for each in found.examples.values())
            lost = end - len(found.examples)
            if lost > 0 or not is_whole:
                found.problems.append(f"{lost} of {end} records of examples cannot be read.")
        if "rows" in self._tables:
            self._read_rows()

    def _scan_examples(self, order: str) -> bool:
        # Return whether all were read, and intact.
        is_whole = True
        try:
            query = f"SELECT {FIELDS}, seal FROM examples ORDER BY place {order}"
            rows = self._connection.execute(query)
            for values in _in_order(rows, reverse=order == "DESC"):
                is_whole = self._take_example(values) and is_whole
        except DAMAGE:
            return False
        return is_whole

    def _take_example(self, values: Sequence[Any]) -> bool:
        # Keep a record if it is intact; return whether it is.
        record = ExampleRecord(*values[:-1])
        if not is_example(record) or record.seal() != values[-1] or not _is_readable(record):
            if type(record.place) is int:
                self._found.damaged[record.place] = record
            return False
        self._found.examples[record.place] = record
        return True

    def _end(self) -> int:
        # The number of places; if it is not known, a bound on it.
        about, known = self._found.about, max(self._found.examples, default=-1) + 1
        most = self._size() // LEAST_BYTES
        if about is not None:
            return min(max(int(about["end"]), known), most)
        for table in ("examples", "rows"):
            for (last,) in self._tried(f"SELECT max(place) FROM {table}"):
                known = max(known, last + 1 if type(last) is int else 0)
        return min(known, most)

    def _read_rows(self) -> None:
        found, wrong, missing = self._found, [], []
        stored = [each for each in found.examples.values() if each.id is not None]
        for n, record in enumerate(stored):
            self._progress((n + 1) / len(stored))
            rows = self._tried("SELECT row FROM rows WHERE place = ?", (record.place,))
            if not rows:
                missing.append(record.id)
            elif not self._take_row(record, rows[0][0]):
                wrong.append(record.id)
        found.problems += [f"The row of example {each} cannot be read." for each in missing]
        found.problems += [f"The row of example {each} was changed." for each in wrong]
        try:
            places = self._connection.execute("SELECT place FROM rows ORDER BY place")
            self._with_rows = {place for (place,) in ascending(places)}
        except DAMAGE:
            return  # the rows that cannot be read are named already
        if self._with_rows - {each.place for each in stored}:
            found.problems.append("There are rows without an example.")

    def _take_row(self, record: ExampleRecord, value: Any) -> bool:
        # Keep a row if it matches the digest; return whether it does.
        about = self._found.about
        dtypes = DTYPES if about is None else (about["dtype"],)
        for dtype in dtypes:
            if type(value) is bytes and _digest(value, dtype) == record.digest:
                self._found.rows[record.place] = Row(value if self._keep_rows else b"", dtype)
                return True
        return False

    # The log

    def _read_log(self) -> None:
        if "log" not in self._tables:
            return
        wrong, query = 0, "SELECT number, time, action, id, details FROM log ORDER BY number"
        try:
            for entry in ascending(self._connection.execute(query)):
                if is_readable(entry):
                    self._found.log.append(LogEntry(*entry[1:]))
                else:
                    wrong += 1
        except DAMAGE:
            self._found.problems.append("The log cannot be read to its end.")
        if wrong:
            self._found.problems.append(f"{wrong} entries of the log cannot be read.")

    # Pages

    def _search_pages(self) -> None:
        # Take only records that match their seals, and only where SQLite found no intact one.
        found, loose = self._found, []
        parts: dict[Key, bytes] = {}
        newest: dict[int, int] = {}
        for number, values in records(self._file, self._progress):
            if len(values) == len(ExampleRecord._fields) + 2:
                self._take_loose(number, values, newest)
            elif len(values) == 2 and isinstance(values[1], bytes):
                loose.append(number)
            elif len(values) == 3:
                key, value, seal = values
                if isinstance(key, str) and isinstance(value, bytes):
                    parts |= {key: value} if _is_sealed("parts", key, value, seal) else {}
        known = {NOTES: found.notes, ABOUT: found.about}
        self._take_parts({key: each for key, each in parts.items() if known.get(str(key)) is None})
        wanted = {
            place
            for place, each in found.examples.items()
            if each.id is not None and place not in found.rows
        }
        if not wanted.intersection(loose):
            return
        for number, values in records(self._file, self._progress):
            if len(values) == 2 and number in wanted and number not in found.rows:
                self._take_row(found.examples[number], values[1])

    def _take_loose(self, place: int, values: list[Any], newest: dict[int, int]) -> None:
        # A record as in the file: its place is the rowid.
        version = values[1]
        if type(version) is not int or version <= newest.get(place, -1):
            return
        about = self._found.about
        is_beyond = about is not None and place >= about["end"]
        if is_beyond or (place in self._found.examples and place not in newest):
            return
        floats = (5, 6)  # SQLite stores whole numbers such as 1.0 as integers
        fields = [place, *values[2:]]
        for n in floats:
            if type(fields[n]) is int:
                fields[n] = float(fields[n])
        if self._take_example(fields):
            newest[place] = version

    # Helpers

    def _size(self) -> int:
        log = self._file.with_name(f"{self._file.name}-wal")
        return self._file.stat().st_size + (log.stat().st_size if log.exists() else 0)

    def _note_damaged(self) -> None:
        found = self._found
        damaged: dict[int, ExampleRecord | None] = {
            place: each for place, each in found.damaged.items() if place not in found.examples
        }
        for record in found.examples.values():
            if record.id is not None and record.place not in found.rows:
                damaged[record.place] = record
        places = range(0 if found.about is None else int(found.about["end"]))
        for place in places if self._with_rows is None else self._with_rows:
            if place not in found.examples:  # perhaps it was free; without a record that is unknown
                damaged.setdefault(place, None)
        found.damaged = damaged

    def _all(self, query: str) -> list[Any]:
        return self._connection.execute(query).fetchall()

    def _tried(self, query: str, arguments: Sequence[Any] = ()) -> list[Any]:
        # What a query finds; nothing if the pages that it needs are damaged.
        try:
            return self._connection.execute(query, arguments).fetchmany(2)
        except DAMAGE:
            return []


class _connected:  # noqa: N801, used as a function
    """A read-only connection for files that are not trusted; it is closed at the end."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> sqlite3.Connection:
        if self._file.exists() and not self._file.stat().st_size:
            # SQLite would delete the log, also when it only reads.
            self._connection = self._connect("ro&immutable=1")
            return self._connection
        self._connection = self._connect("ro")
        try:
            with bounded_work(self._connection, 0):
                self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except UnicodeDecodeError:
            pass  # the next query finds the same
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorname in ("SQLITE_CANTOPEN", "SQLITE_READONLY"):
                self._connect_without_log(error)
        return self._connection

    def _connect_without_log(self, error: sqlite3.Error) -> None:
        # Without permission to write, the files of the write-ahead log cannot be made.
        self._connection.close()
        log = self._file.with_name(f"{self._file.name}-wal")
        if log.exists() and log.stat().st_size:
            raise MissingDataError(f"{self._file} could not be read: {error}.") from error
        self._connection = self._connect("ro&immutable=1")

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _connect(self, mode: str) -> sqlite3.Connection:
        name = f"file:{quote(str(self._file.resolve()))}?mode={mode}"
        connection = sqlite3.connect(name, uri=True, isolation_level=None, timeout=5.0)
        connection.text_factory = _text
        for setting in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON"):
            connection.execute(f"PRAGMA {setting}")
        return connection


def _text(value: bytes) -> str:
    # Text that is damaged must not raise an error for the whole record.
    return value.decode("utf-8", "replace")


def _digest(value: bytes, dtype: str) -> int:
    kind = np.dtype(dtype)
    if not value or len(value) % kind.itemsize:
        return 0
    words = np.frombuffer(value, f"u{kind.itemsize}").copy()
    return int(np.uint64(kernels.digest(words)).view(np.int64))


def _is_sealed(table: str, key: Any, value: Any, seal: Any) -> bool:
    kind = str if table == "parts" else int
    return type(key) is kind and type(value) is bytes and seal == seal_of(table, key, value)


def _object(value: bytes | None) -> dict[str, Any] | None:
    try:
        found = json.loads(value or b"")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _in_order(rows: Iterable[Any], *, reverse: bool = False) -> Iterator[Any]:
    # As `ascending`, also for keys that are text, and the other way round.
    last: Any = None
    for row in rows:
        key = row[0]
        kind = type(key) if last is None else type(last)
        if type(key) is not kind or kind not in (int, str):
            raise DamagedRecord("key")
        if last is not None and not (key < last if reverse else key > last):
            raise DamagedRecord("order")
        last = key
        yield row


def _checked_about(about: dict[str, Any] | None, size: int) -> dict[str, Any] | None:
    # Numbers that a file of this size can have.
    if (
        about is None
        or not isinstance(about.get("state"), dict)
        or about.get("dtype") not in DTYPES
    ):
        return None
    numbers = [about.get(name) for name in ("end", "width")]
    return about if all(type(each) is int and 0 <= each <= size for each in numbers) else None


def _is_readable(record: ExampleRecord) -> bool:
    # Whether id, label and earlier labels have the right types.
    if record.id is None:
        return True
    try:
        id, label = json.loads(record.id), json.loads(record.label or "")
        had = [] if record.corrected is None else json.loads(record.corrected)
    except (ValueError, RecursionError):
        return False
    names = [id, label, *had] if isinstance(had, list) else [None]
    return all(type(each) in (int, str) for each in names) and record.place >= 0


def names_of(records: Iterator[ExampleRecord | None]) -> list[Any]:
    """Return the ids of records as far as they can be read."""
    found = []
    for record in records:
        try:
            found.append(json.loads(record.id or "") if record is not None else None)
        except (ValueError, TypeError, RecursionError):
            found.append(None)
    return [each for each in found if type(each) in (int, str) and "\ufffd" not in str(each)]
