"""Check all that is in a model's file, and make a new model of the examples that are intact.

A record is intact if it matches its seal, a row if it matches the digest in the record of its
example.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minout import core, kernels
from minout._typing import Id
from minout.core import Audit, Columns, Examples, Settings, State, Widths
from minout.core.examples import LARGEST_WEIGHT, LEAST_WEIGHT
from minout.errors import MinoutError, MissingDataError, NotConverged, UnwritableError
from minout.features import FeatureMap, Identity, UnknownMap, takes_rows
from minout.inputs import LARGEST, Schema
from minout.store.descriptions import found_features
from minout.store.file import File
from minout.store.history import Entry, ascending, checked_entry
from minout.store.loading import earlier_labels
from minout.store.opening import bounded_work, connect_to_read
from minout.store.saved import Progress, load, save, size_of
from minout.store.tables import (
    COLUMNS,
    COUNTERS,
    DamagedRecord,
    checked,
    decode_arrays,
    decoded,
    unpacked_row,
)

MOST_EXPANDED = 100
"""All rows together take at most so many times the bytes of the file; what is beyond is damaged."""
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError, DamagedRecord)
"""The errors on damaged files; the second one if the message of the first is not UTF-8."""
LEAST_BYTES = 16
Example = dict[str, Any]
"""The record of an example that is intact, and its row."""
DTYPES = ("float64", "float32", "uint8")
"""The dtypes of stored rows; codes are uint8. Zeros have the same digest in all of them."""


class Health(NamedTuple):
    """The result of `audit`: what is wrong with the file, one sentence each, and in the model.

    `audit` is None if the model could not be loaded, or is empty.
    """

    problems: tuple[str, ...]
    audit: Audit | None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems and (self.audit is None or self.audit.ok)


class Repair(NamedTuple):
    """The result of `repair`: what was wrong, how many examples the new model has, what was lost.

    `lost` counts examples, as far as it is known, and `lost_ids` has the ids that can be read.
    `lost_parts` may be "settings", "feature map", "columns and labels", "notes".
    """

    problems: tuple[str, ...]
    examples: int
    lost: int
    lost_ids: tuple[Id, ...]
    lost_parts: tuple[str, ...]


def audit(path: str | Path, *, progress: Progress = lambda _: None) -> Health:
    """Check a model: the database file, every checksum, every row, and every margin.

    Nothing is changed, and other processes may change the model meanwhile. `progress` is called
    with the fraction that has been read.
    """
    found = _Intact(Path(path), progress)
    try:
        state, _ = load(Path(path), UnknownMap())
    except MissingDataError as error:
        found.read_records()
        problems = found.problems or [f"The model cannot be loaded: {error}"]
        return Health(tuple(problems), None)
    return Health(tuple(found.problems), core.audit(state) if state.count else None)


def repair(path: str | Path, to: str | Path, *, progress: Progress = lambda _: None) -> Repair:
    """Make a new model of the examples whose record and row are intact; it is consolidated.

    The file at `path` stays as it is, and there must be none at `to` yet. Raises MissingDataError
    if nothing can be rescued.
    """
    if Path(to).exists():
        raise UnwritableError(f"There is already a {to}; name a new file.")
    found = _Intact(Path(path), progress)
    found.read_records()
    used = {each["id"]: each for each in found.examples if _alike(each, found.examples[0])}
    if not used:
        raise MissingDataError(f"Nothing in {path} can be rescued.")
    lost_parts: list[str] = []
    try:
        state = _rebuilt(list(used.values()), found, lost_parts)
    except (core.MalformedError, DamagedRecord):
        raise MissingDataError(
            f"The rows in {path} are codes, and their codec cannot be read."
        ) from None
    except NotConverged as error:
        raise MissingDataError(f"The examples in {path} make no model.") from error
    notes = found.parts.get("notes")
    if type(notes) is not str:
        lost_parts.append("notes")
    save(Path(to), state, notes if type(notes) is str else "{}", found.log)
    unusable = [each["id"] for each in found.examples if each["id"] not in used]
    lost = (*found.lost_ids, *unusable)
    problems = tuple(found.problems)
    return Repair(problems, len(used), found.lost + len(unusable), lost, tuple(lost_parts))


def read_log(path: str | Path, after: int = 0) -> list[Entry]:
    """Return the entries of a model's log of changes with higher numbers than `after`."""
    with closing(File(Path(path), read_only=True)) as file:
        return file.log(after)


class _Intact:
    """What is intact in a file: the log; `read_records` adds examples and parts of the frame."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self.problems: list[str] = []
        self.lost = 0
        self.examples: list[Example] = []
        self.lost_ids: list[Id] = []
        self.parts: dict[str, Any] = {}
        self.log: list[Entry] = []
        self._ids: dict[int, Id] = {}  # also those of examples that are damaged
        self.path, self._progress = path, progress
        self._read(self._check_file, self._read_log)

    def read_records(self) -> None:
        """Read the records one by one."""
        self._read(self._read_others, self._read_examples)

    def _read(self, *steps: Callable[[], None]) -> None:
        self._connection, _ = connect_to_read(self.path)
        self._size = size_of(self.path)
        self._room = MOST_EXPANDED * self._size
        with closing(self._connection):
            self._connection.text_factory = lambda text: text.decode("utf-8", "replace")
            self._connection.execute("BEGIN")
            for step in steps:
                with bounded_work(self._connection, 10 * self._size):
                    try:
                        step()
                    except DAMAGE as error:
                        reason = str(error) if isinstance(error, sqlite3.Error) else "it is damaged"
                        self.problems.append(f"It cannot be read: {' '.join(reason.split())}.")

    def _check_file(self) -> None:
        for (text,) in self._connection.execute("PRAGMA integrity_check(10)").fetchall():
            if text != "ok":
                self.problems.append(f"SQLite says: {' '.join(text.split())}.")

    def _read_log(self) -> None:
        wrong, query = 0, "SELECT number, time, action, id, details FROM log ORDER BY number"
        for entry in ascending(self._connection.execute(query)):
            try:
                self.log.append(checked_entry(*entry))
            except DamagedRecord:
                wrong += 1
        if wrong:
            self.problems.append(f"{wrong} entries of the log cannot be read.")

    def _read_others(self) -> None:
        for table in ("frame", "separators"):
            keys = self._keys(table, next(iter(COLUMNS[table])))
            found = [self._record(table, each) for each in keys]
            if table == "frame":
                self.parts = {each[0]: each[1] for each in found if each is not None}
            if None in found:
                wrong = found.count(None)
                self.problems.append(f"Table {table!r}: {wrong} records are damaged.")

    def _keys(self, table: str, column: str) -> list[Any]:
        # The keys of a table; as many as can be read.
        found: list[Any] = []
        with suppress(*DAMAGE):
            for (key,) in self._connection.execute(f"SELECT {column} FROM {table}"):
                found.append(key)
                if len(found) * LEAST_BYTES > self._size:  # the pages of a forged file repeat
                    break
        return found

    def _record(self, table: str, key: Any) -> Sequence[Any] | None:
        # A record with a key; None if it is not intact.
        columns = [*COLUMNS[table]]
        query = f"SELECT {', '.join(columns)}, seal FROM {table} WHERE {columns[0]} = ?"
        with suppress(*DAMAGE):
            found: list[Sequence[Any]] = self._connection.execute(query, (key,)).fetchmany(1)
            for *record, seal in found:
                id = record[1]
                if type(id) is int or (type(id) is str and "\ufffd" not in id):
                    self._ids[key] = id
                checked(table, [(each,) for each in (*record, seal)])
                return record
        return None

    def _read_examples(self) -> None:
        known = "examples INDEXED BY examples_by_version"
        keys = {*self._keys(known, "key"), *self._keys("examples", "key")}
        rows, self._ids = set(self._keys("rows", "key")), {}
        if not keys >= rows:
            self.problems.append("There are rows without an example.")
        found: list[Example] = []
        for n, key in enumerate(sorted(keys | rows)):
            found += self._example(key)
            self._progress((n + 1) / len(keys | rows))
        found.sort(key=lambda each: each["serial"])
        self.examples = max((_with_rows(found, dtype) for dtype in DTYPES), key=len)
        self.lost = len(keys | rows) - len(self.examples)
        intact = {each["key"] for each in self.examples}
        self.lost_ids = [id for key, id in self._ids.items() if key not in intact]
        if self.lost:
            ids = ", ".join(map(repr, self.lost_ids[:10])) or "their ids cannot be read"
            self.problems.append(f"Examples that are damaged or missing: {self.lost} ({ids}).")

    def _example(self, key: Any) -> Iterator[Example]:
        record, query = self._record("examples", key), "SELECT row FROM rows WHERE key = ?"
        if record is None or key not in self._ids:
            return
        found = dict(zip(COLUMNS["examples"], record, strict=True))
        with suppress(*DAMAGE):
            found["corrected"] = found["corrected"] and earlier_labels(found["corrected"])
            for (stored,) in self._connection.execute(query, (key,)).fetchmany(1):
                if type(stored) is bytes and stored:
                    row = unpacked_row(stored, max(self._room, 1))
                    self._room -= len(row)
                    yield {**found, "row": row}

    def fact(self, name: str) -> Any:
        """Return a part that is JSON; None if it is not intact."""
        with suppress(DamagedRecord):
            return decoded(self.parts.get(name))
        return None


def _with_rows(examples: list[Example], dtype: str) -> list[Example]:
    # The examples whose rows match their digests if they are numbers of a dtype.
    found, size = [], np.dtype(dtype).itemsize
    for each in examples:
        row = np.frombuffer(each["row"], dtype, len(each["row"]) // size)
        is_whole = len(row) * size == len(each["row"])
        if is_whole and kernels.digests(row[None].copy()).tobytes() == each["digest"]:
            found.append({**each, "row": row})
    return found


def _alike(example: Example, first: Example) -> bool:
    # Whether one model can have both; numbers that no learner takes are those of a forger.
    row = example["row"].astype(np.float64)
    is_small = bool((np.isnan(row) | (np.abs(row) <= LARGEST)).all())
    is_alike = len(row) == len(first["row"]) and type(example["label"]) is type(first["label"])
    return is_alike and is_small and LEAST_WEIGHT <= example["weight"] <= LARGEST_WEIGHT


def _rebuilt(used: list[Example], found: _Intact, lost: list[str]) -> State:
    # A consolidated state; raise MalformedError if rows are codes and their codec is lost. `lost`
    # gets the names of what cannot be computed again from examples, and is not intact.
    rows, settings, codec, facts = np.array([each["row"] for each in used]), Settings(), None, None
    width, dtype = rows.shape[1], rows.dtype.name
    try:
        about = found.fact("about")
        facts = core.facts_from(about | dict.fromkeys(COUNTERS, about["seen"]))
        settings = facts.settings
    except (core.MalformedError, KeyError, TypeError):
        lost.append("settings")
    if dtype == "uint8":
        arrays = decode_arrays(found.parts.get("memory", b""))
        codec = core.coded_with(facts, arrays, None) if facts else None
        if facts is None or codec is None:
            raise core.MalformedError("memory")
        width, dtype = codec.width or 0, facts.memory["dtype"]
    schema = _schema(found, width, dtype, lost)
    names = ("weight", "time", "digest")
    weights, times, digests = (np.array([each[n] for each in used]) for n in names)
    order = np.arange(len(used))
    columns = Columns(0 * order, digests.astype("S16"), weights, times, order, order.copy())
    ids, labels = ([each[n] for each in used] for n in ("id", "label"))
    examples = Examples.of(rows, ids, columns, codec, dtype)
    state = core.rebuilt(settings, examples, labels, Widths(schema.width, width))
    return state.replaced(
        schema=schema,
        corrected={each["id"]: each["corrected"] for each in used if each["corrected"]},
        next_id=max([0, *(each + 1 for each in ids if isinstance(each, int))]),
    )


def _schema(found: _Intact, width: int, dtype: str, lost: list[str]) -> Schema:
    features: FeatureMap = Identity(dtype)
    try:
        features = found_features(found.path, found.fact("features"), UnknownMap())
    except (core.MalformedError, MinoutError):
        lost.append("feature map")
    given = width if takes_rows(features) else None
    try:
        return Schema.from_notes(found.fact("schema"), features, given)
    except MinoutError:
        lost.append("columns and labels")
        return Schema(features, given)
