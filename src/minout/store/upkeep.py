"""Check all that is in a model's file, and make a new model of the examples that are intact.

A record is intact if it matches its seal, a row if it matches the digest in the record of its
example.
"""

import sqlite3
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
from minout.store.arrays import decode_arrays
from minout.store.descriptions import found_features
from minout.store.file import File
from minout.store.history import Entry, ascending, checked_entry
from minout.store.loading import example_columns
from minout.store.opening import bounded_work, connect_to_read, log_size
from minout.store.saved import Progress, load, save
from minout.store.tables import (
    EXAMPLE,
    MODULUS,
    PART,
    SEALED,
    SEPARATOR,
    DamagedRecord,
    decoded,
    sealed,
)

DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError, DamagedRecord)
"""The errors on damaged files; the second one if the message of the first is not UTF-8."""
LEAST_BYTES = 16
Example = dict[str, Any]
"""The record of an example that is intact, and its row."""
DTYPES = {8: "float64", 4: "float32", 1: "uint8"}
"""The dtype of stored rows, by the bytes of a number; codes are uint8."""


class Health(NamedTuple):
    """The result of `audit`: what is wrong with the file, one sentence each, and in the model.

    `records` and `rows` count those that were compared with their checksums. `audit` is None if the
    model could not be loaded, or is empty.
    """

    problems: tuple[str, ...]
    records: int
    rows: int
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
    found, audited = _Intact(Path(path), progress), None
    rows = len(found.examples)
    found.examples.clear()  # before as much memory is taken again
    if not found.problems:
        try:
            state, _ = load(Path(path), UnknownMap())
            audited = core.audit(state) if state.count else None
        except MissingDataError as error:
            found.problems.append(f"The model cannot be loaded: {error}")
    return Health(tuple(found.problems), found.records, rows, audited)


def repair(path: str | Path, to: str | Path, *, progress: Progress = lambda _: None) -> Repair:
    """Make a new model of the examples whose record and row are intact; it is consolidated.

    The file at `path` stays as it is, and there must be none at `to` yet. Raises MissingDataError
    if nothing can be rescued.
    """
    if Path(to).exists():
        raise UnwritableError(f"There is already a {to}; name a new file.")
    found = _Intact(Path(path), progress)
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
    """What is intact in a file: examples, parts of the frame, and the log."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self.problems: list[str] = []
        self.records, self.lost = 0, 0
        self.examples: list[Example] = []
        self.lost_ids: list[Id] = []
        self.parts: dict[str, Any] = {}
        self.log: list[Entry] = []
        self.path, self._progress = path, progress
        self._connection, _ = connect_to_read(path)
        self._size = path.stat().st_size + log_size(path)
        with closing(self._connection):
            self._connection.text_factory = lambda text: text.decode("utf-8", "replace")
            self._connection.execute("BEGIN")
            for step in (self._check_file, self._read, self._read_examples, self._read_log):
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
        totals = (f"SELECT sum(seal) FROM {table}" for table in SEALED)
        total = sum(self._connection.execute(query).fetchone()[0] or 0 for query in totals)
        known = self._connection.execute("SELECT value FROM meta WHERE key = 'total'").fetchall()
        if known != [(total % MODULUS,)]:
            self.problems.append(
                "The sum of all checksums is not the stored one: a record is missing, or is an old "
                "one."
            )

    def _read(self) -> None:
        for table, columns in (("frame", PART), ("separators", SEPARATOR)):
            wrong = 0
            for key in self._keys(table, columns[0]):
                self.records += 1
                found = self._record(table, columns, key)
                wrong += found is None
                if table == "frame" and found is not None:
                    self.parts[found["name"]] = found["value"]
            if wrong:
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

    def _record(self, table: str, columns: tuple[str, ...], key: Any) -> dict[str, Any] | None:
        # A record with a key; None if it is missing or damaged.
        query = f"SELECT {', '.join(columns)}, seal FROM {table} WHERE {columns[0]} = ?"
        try:
            found = self._connection.execute(query, (key,)).fetchmany(1)
        except DAMAGE:
            return None
        if not found or sealed(*found[0][:-1]) != found[0][-1]:
            return None
        return dict(zip(columns, found[0], strict=False))

    def _read_examples(self) -> None:
        known = "examples INDEXED BY examples_by_version"
        keys = {*self._keys(known, "key"), *self._keys("examples", "key")}
        rows = set(self._keys("rows", "key"))
        if not keys >= rows:
            self.problems.append("There are rows without an example.")
        for n, key in enumerate(sorted(keys | rows)):
            example = self._example(key)
            if example is not None:
                self.examples.append(example)
            else:
                self._lose(key)
            self._progress((n + 1) / len(keys | rows))
        self.records += len(keys)
        self.examples.sort(key=lambda each: each["serial"])
        dtypes = [each["row"].dtype for each in self.examples if each["row"].any()]
        for each in self.examples:  # zeros have the same digest in all dtypes
            row = each["row"]
            if dtypes and not row.any() and row.nbytes % dtypes[0].itemsize == 0:
                each["row"] = row.view(dtypes[0])
        if self.lost:
            ids = ", ".join(map(repr, self.lost_ids[:10])) or "their ids cannot be read"
            self.problems.append(f"Examples that are damaged or missing: {self.lost} ({ids}).")

    def _example(self, key: Any) -> Example | None:
        record = self._record("examples", EXAMPLE, key)
        if record is None:
            return None
        try:
            query = "SELECT row FROM rows WHERE key = ?"
            ((row,),) = self._connection.execute(query, (key,)).fetchmany(1)
            values = tuple(record.values())
            columns = example_columns([(*values[:3], 0, *values[4:])], [record["label"]])
        except (*DAMAGE, ValueError):
            return None
        record["corrected"] = columns["corrected"][0]
        for size, dtype in DTYPES.items():
            if type(row) is bytes and row and len(row) % size == 0:
                numbers = np.frombuffer(row, dtype)
                if kernels.digests(numbers[None].copy())[0] == columns["digest"][0]:
                    return {**record, "row": numbers}
        return None

    def _lose(self, key: Any) -> None:
        self.lost += 1
        with suppress(*DAMAGE):
            query = "SELECT id FROM examples WHERE key = ?"
            for (name,) in self._connection.execute(query, (key,)).fetchmany(1):
                if type(name) in (int, str) and "\ufffd" not in str(name):
                    self.lost_ids.append(name)

    def _read_log(self) -> None:
        wrong, query = 0, "SELECT number, time, action, id, details FROM log ORDER BY number"
        for entry in ascending(self._connection.execute(query)):
            try:
                self.log.append(checked_entry(*entry))
            except DamagedRecord:
                wrong += 1
        if wrong:
            self.problems.append(f"{wrong} entries of the log cannot be read.")

    def fact(self, name: str) -> Any:
        """Return a part that is JSON; None if it is not intact."""
        with suppress(DamagedRecord):
            return decoded(self.parts.get(name))
        return None


def _alike(example: Example, first: Example) -> bool:
    # Whether one model can have both; numbers that no learner takes are those of a forger.
    row, other = example["row"], first["row"]
    is_alike = (row.dtype, row.shape) == (other.dtype, other.shape)
    if not is_alike or type(example["label"]) is not type(first["label"]):
        return False
    row = row.astype(np.float64)
    is_small = np.isnan(row) | (np.abs(row) <= LARGEST)
    return bool(is_small.all()) and LEAST_WEIGHT <= example["weight"] <= LARGEST_WEIGHT


def _rebuilt(used: list[Example], found: _Intact, lost: list[str]) -> State:
    # A consolidated state; raise MalformedError if rows are codes and their codec is lost.
    about = found.fact("about")
    about = about if isinstance(about, dict) else {}
    rows, codec = np.array([each["row"] for each in used]), None
    width, dtype = rows.shape[1], rows.dtype.name
    if dtype == "uint8":
        core.check_about(about)
        codec = core.coded_with(about, decode_arrays(found.parts.get("memory", b"")), None)
        width, dtype = codec.width or 0 if codec else 0, about["memory"]["dtype"]
    settings, schema = _known(found, about, width, dtype, lost)
    names = ("weight", "time", "digest")
    weights, times, digests = (np.array([each[n] for each in used]) for n in names)
    order = np.arange(len(used))
    columns = Columns(0 * order, digests.astype("S16"), weights, times, order, order.copy())
    ids, labels = ([each[n] for each in used] for n in ("id", "label"))
    examples = Examples.of(rows, ids, columns, codec, dtype)
    state = core.rebuilt(settings, examples, labels, Widths(schema.width, width))
    following = about.get("next_id")
    numbers = [0, *(each + 1 for each in ids if isinstance(each, int))]
    had = {each["id"]: each["corrected"] for each in used}
    return state.replaced(
        schema=schema,
        corrected={id: labels for id, labels in had.items() if labels},
        next_id=following if type(following) is int else max(numbers),
    )


def _known(
    found: _Intact, about: dict[str, Any], width: int, dtype: str, lost: list[str]
) -> tuple[Settings, Schema]:
    # What cannot be computed again from examples; `lost` gets the names of what is not intact.
    settings = Settings()
    features: FeatureMap = Identity(dtype)
    try:
        settings = Settings(**about["settings"])
    except (KeyError, TypeError, MinoutError):
        lost.append("settings")
    try:
        features = found_features(found.path, found.fact("features"), UnknownMap())
    except (core.MalformedError, MinoutError):
        lost.append("feature map")
    given = width if takes_rows(features) else None
    try:
        return settings, Schema.from_notes(found.fact("schema"), features, given)
    except MinoutError:
        lost.append("columns and labels")
        return settings, Schema(features, given)
