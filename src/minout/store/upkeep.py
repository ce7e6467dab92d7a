"""Check all that is in a model's file, and make a new model of the examples that are intact.

A record is intact if it matches its seal, a row if it matches the digest in the record of its
example.
"""

import sqlite3
from collections.abc import Callable
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
from minout.store.loading import checked_examples, earlier_labels
from minout.store.opening import bounded_work, connect_to_read, log_size
from minout.store.saved import Progress, load, save
from minout.store.tables import (
    COLUMNS,
    COUNTERS,
    DamagedRecord,
    decode_arrays,
    decoded,
    sealed,
    unpacked_row,
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
        self.path, self._progress = path, progress
        self._read(self._check_file, self._read_log)

    def read_records(self) -> None:
        """Read the records one by one."""
        self._read(self._read_others, self._read_examples)

    def _read(self, *steps: Callable[[], None]) -> None:
        self._connection, _ = connect_to_read(self.path)
        self._size = self.path.stat().st_size + log_size(self.path)
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

    def _read_others(self) -> None:
        for table in ("frame", "separators"):
            wrong = 0
            for key in self._keys(table, COLUMNS[table][0]):
                *values, seal = self._record(table, key) or (None,)
                is_intact = bool(values) and sealed(*values) == seal
                wrong += not is_intact
                if table == "frame" and is_intact:
                    self.parts[values[0]] = values[1]
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

    def _record(self, table: str, key: Any) -> tuple[Any, ...] | None:
        # A record with a key, and its seal; None if it cannot be read.
        columns = COLUMNS[table]
        query = f"SELECT {', '.join(columns)}, seal FROM {table} WHERE {columns[0]} = ?"
        with suppress(*DAMAGE):
            return next(iter(self._connection.execute(query, (key,)).fetchmany(1)), None)
        return None

    def _read_examples(self) -> None:
        known = "examples INDEXED BY examples_by_version"
        keys = {*self._keys(known, "key"), *self._keys("examples", "key")}
        rows = set(self._keys("rows", "key"))
        if not keys >= rows:
            self.problems.append("There are rows without an example.")
        for n, key in enumerate(sorted(keys | rows)):
            record = self._record("examples", key)
            example = None if record is None else self._example(record)
            if example is not None:
                self.examples.append(example)
            else:
                self.lost += 1
                if record is not None and type(record[1]) in (int, str):
                    self.lost_ids += [record[1]] if "\ufffd" not in str(record[1]) else []
            self._progress((n + 1) / len(keys | rows))
        self.examples.sort(key=lambda each: each["serial"])
        dtypes = [each["row"].dtype for each in self.examples if each["row"].any()]
        for each in self.examples:  # zeros have the same digest in all dtypes
            row = each["row"]
            if dtypes and not row.any() and row.nbytes % dtypes[0].itemsize == 0:
                each["row"] = row.view(dtypes[0])
        if self.lost:
            ids = ", ".join(map(repr, self.lost_ids[:10])) or "their ids cannot be read"
            self.problems.append(f"Examples that are damaged or missing: {self.lost} ({ids}).")

    def _example(self, record: tuple[Any, ...]) -> Example | None:
        try:
            *_, packed, _ = checked_examples([(each,) for each in record])
            corrected = () if record[6] is None else earlier_labels(record[6])
            query = "SELECT row FROM rows WHERE key = ?"
            ((row,),) = self._connection.execute(query, record[:1]).fetchmany(1)
        except (*DAMAGE, ValueError):
            return None
        found = dict(zip(COLUMNS["examples"], record, strict=False))
        found |= {"serial": int(packed["serial"][0]), "digest": packed["digest"][0]}
        row = unpacked_row(row) if type(row) is bytes else b""
        for size, dtype in DTYPES.items():
            if row and len(row) % size == 0:
                numbers = np.frombuffer(row, dtype)
                if kernels.digests(numbers[None].copy())[0] == found["digest"]:
                    return {**found, "corrected": corrected, "row": numbers}
        return None

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
        core.check_about(about | dict.fromkeys(COUNTERS, about.get("seen")))
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
    numbers = [0, *(each + 1 for each in ids if isinstance(each, int))]
    had = {each["id"]: each["corrected"] for each in used}
    return state.replaced(
        schema=schema,
        corrected={id: labels for id, labels in had.items() if labels},
        next_id=max(numbers),
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
