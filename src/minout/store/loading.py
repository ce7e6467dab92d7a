"""Read a state from the records of a file: all of them, or those that changed since the last time.

Nothing in a file is trusted. Each record is checked against its seal, and sizes against the size of
the file before memory is taken; the engine checks that the records describe a state.
"""

import json
import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import core, kernels
from minout._typing import Label
from minout.codecs import ExactCodec
from minout.core import Columns, ExampleRecords, NotAnUpdateError, SeparatorRecord, State, Update
from minout.features import FeatureMap
from minout.inputs import Schema
from minout.store.arrays import Arrays, decode_arrays
from minout.store.descriptions import check_codec, expect_rows_of, found_features
from minout.store.tables import (
    EXAMPLE,
    MODULUS,
    PART,
    SEPARATOR,
    DamagedRecord,
    decoded,
    expect,
    sealed,
)

LEAST_BYTES = 16  # a lower bound of the bytes that an example takes in the file
FEW = 1_000  # how many records are read at a time
INDEXED = ("examples", "separators")
TEXTS = ("about", "schema", "features", "notes")  # the parts of the frame that are JSON
COLUMNS = {"region": int, "weight": float, "time": float, "serial": int, "digest": bytes}
DTYPES = {int: "int64", float: "float64", bytes: "S16"}


class Expected(NamedTuple):
    """What a model must match: a feature map and a codec that are given, if they are."""

    features: FeatureMap | None = None
    codec: ExactCodec | None = None


class Loaded(NamedTuple):
    """A state in a file, the user's notes as JSON, and the number of the state."""

    state: State
    notes: str
    version: int


class Reading:
    """The records of one state, while they are read: those newer than `since`, or all.

    `limit` is the size of the file: records that have more bytes than this in all are damaged.
    """

    def __init__(self, connection: sqlite3.Connection, limit: int = 0, since: int = 0) -> None:
        self._connection, self.limit, self.since = connection, limit, since
        self._room = limit
        self.total = 0

    def meta(self) -> dict[str, Any]:
        """Return the numbers of the state: its version, the sum of seals, and counts."""
        found = dict(self._connection.execute("SELECT key, value FROM meta").fetchmany(20))
        for name in ("version", "total", "examples", "separators", "since"):
            value = found.get(name)
            expect(type(value) is int and 0 <= value < MODULUS, "meta")
        return found

    def records(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the newer records of a table, in the order of their keys, without their seals."""
        newer = ""
        if self.since:
            newer = f"WHERE version > {self.since:d}"
            if table in INDEXED:  # SQLite would read the whole table, in its order
                newer = f"INDEXED BY {table}_by_version {newer}"
        query = f"SELECT {', '.join(columns)}, seal FROM {table} {newer} ORDER BY {columns[0]}"
        found: list[tuple[Any, ...]] = []
        cursor = self._connection.execute(query)
        while block := cursor.fetchmany(FEW):
            for *values, seal in block:
                expect(sealed(*values) == seal, table)
                self.total += seal
                found.append(tuple(values))
            # In a forged file, several records may share one text.
            texts = (each for record in block for each in record if type(each) in (str, bytes))
            self._room -= LEAST_BYTES * len(block) + sum(map(len, texts))
            expect(self._room >= 0, table)
        return found

    def rows(self, keys: NDArray[Any], width: int, dtype: str) -> NDArray[Any]:
        """Return the rows of some examples, the last ones of all."""
        size = width * np.dtype(dtype).itemsize
        expect(len(keys) * size <= self.limit, "rows")
        out, start = np.zeros((len(keys), width), dtype=dtype), 0
        query = "SELECT key, row FROM rows WHERE key >= ? ORDER BY key"
        cursor = self._connection.execute(query, (int(keys[0]),)) if len(keys) else None
        while cursor is not None and (block := cursor.fetchmany(FEW)):
            found, values = zip(*block, strict=True)
            end = start + len(found)
            expect(list(found) == keys[start:end].tolist(), "rows")
            expect({*map(type, values)} == {bytes}, "rows")
            expect({*map(len, values)} == {size}, "rows")
            out[start:end] = np.frombuffer(b"".join(values), dtype).reshape(-1, width)
            start = end
        expect(start == len(keys), "rows")
        return out

    def gone(self, kind: str) -> list[int]:
        """Return the keys of records of a table that were deleted since the known state."""
        query = "SELECT key FROM deleted WHERE kind = ? AND version > ?"
        most = self.limit // LEAST_BYTES
        found = self._connection.execute(query, (kind, self.since)).fetchmany(most)
        return [key for (key,) in found]


def read_whole(reading: Reading, path: Path, expected: Expected) -> Loaded:
    """Return the state that all records describe; raise DamagedRecord or MalformedError if none."""
    meta, texts, shared = reading.meta(), *_parts(reading)
    about = texts["about"]
    features = found_features(path, texts["features"], expected.features)
    check_codec(path, about, expected.codec)
    expect(set(shared) == set(core.SHARED), "frame")
    core.check_about(about)
    examples = _examples(reading, about, 0)
    separators = _separators(reading, about["labels"])
    counts = len(examples.ids), len(separators)
    expect(counts == (meta["examples"], meta["separators"]), "total")
    expect(reading.total % MODULUS == meta["total"], "total")
    update = Update(examples, np.empty(0, np.int64), separators, (), shared)
    state = core.restored(about, update, expected.codec)
    expect_rows_of(features, state)
    schema = Schema.from_notes(texts["schema"], features, state.widths.given)
    return Loaded(state.replaced(schema=schema), json.dumps(texts["notes"]), meta["version"])


def read_newer(reading: Reading, known: Loaded) -> Loaded:
    """Return the newest state, given an earlier one.

    Raises NotAnUpdateError if all records must be read.
    """
    meta = reading.meta()
    if reading.since < meta["since"] or meta["version"] < reading.since:
        raise NotAnUpdateError
    texts, shared = _parts(reading)
    about, (old, notes, _) = texts.get("about", {}), known
    schema = old.schema
    core.check_about(about)
    examples = _examples(reading, about, old.examples.next_key)
    separators = _separators(reading, about["labels"])
    gone = np.array(reading.gone("examples"), dtype=np.int64)
    dropped = [pair for pair in reading.gone("separators") if pair not in separators]
    state = core.updated(old, about, Update(examples, gone, separators, dropped, shared))
    counts = state.count, len(state.separators.records)
    expect(counts == (meta["examples"], meta["separators"]), "total")
    if "schema" in texts:
        schema = Schema.from_notes(texts["schema"], schema.features, state.widths.given)
    if "notes" in texts:
        notes = json.dumps(texts["notes"])
    return Loaded(state.replaced(schema=schema), notes, meta["version"])


def _parts(reading: Reading) -> tuple[dict[str, Any], dict[str, Arrays]]:
    # What the frame has as JSON, and as arrays.
    texts: dict[str, Any] = {}
    shared: dict[str, Arrays] = {}
    for name, value in reading.records("frame", PART):
        if name in TEXTS and type(value) is str:
            texts[name] = decoded(value)
        elif name in core.SHARED and type(value) is bytes:
            shared[name] = decode_arrays(value)
        else:
            raise DamagedRecord("frame")
    expect(bool(reading.since) or set(texts) == set(TEXTS), "frame")
    return texts, shared


def _examples(reading: Reading, about: dict[str, Any], next_key: int) -> ExampleRecords:
    # The newer examples, and the rows of those with keys from `next_key` on.
    columns = example_columns(reading.records("examples", EXAMPLE), about["labels"])
    keys = columns.pop("key")
    new = keys[int(np.searchsorted(keys, next_key)) :]
    rows = reading.rows(new, about["width"], about["dtype"])
    digests = columns["digest"]
    expect(np.array_equal(kernels.digests(rows), digests[len(keys) - len(new) :]), "digest")
    numbers = Columns(
        columns["region"], digests, columns["weight"], columns["time"], columns["serial"], keys
    )
    return ExampleRecords(columns["id"], numbers, rows, columns["corrected"])


def example_columns(records: Sequence[tuple[Any, ...]], labels: Sequence[Label]) -> dict[str, Any]:
    """Return records of examples as columns; the label of each must be that of its region."""
    values = zip(*records, strict=True) if records else ((),) * len(EXAMPLE)
    found: dict[str, Any] = dict(zip(EXAMPLE, map(list, values), strict=True))
    for name, kind in {"key": int, **COLUMNS}.items():
        expect({*map(type, found[name])} <= {kind}, name)
        expect(kind is not bytes or {*map(len, found[name])} <= {16}, name)
        found[name] = np.array(found[name], dtype=DTYPES[kind])
    regions = found["region"]
    expect(not len(regions) or 0 <= regions.min() <= regions.max() < len(labels), "region")
    expect([labels[c] for c in regions.tolist()] == found["label"], "label")
    found["corrected"] = [() if each is None else _labels(each) for each in found["corrected"]]
    return found


def _labels(text: Any) -> tuple[Label, ...]:
    labels = decoded(text)
    expect(isinstance(labels, list) and labels != [], "corrected")
    return tuple(labels)


def _separators(reading: Reading, labels: Sequence[Label]) -> dict[int, SeparatorRecord]:
    found = {}
    for pair, label_a, label_b, b, w, _, arrays in reading.records("separators", SEPARATOR):
        most = len(labels) * (len(labels) - 1) // 2
        expect(type(pair) is int and 0 <= pair < most, "separators")
        low, high = core.regions_of(pair)
        expect((label_a, label_b) == (labels[low], labels[high]), "separators")
        expect(type(b) is float and math.isfinite(b) and type(arrays) is bytes, "separators")
        expect(type(w) is bytes and len(w) % 8 == 0, "separators")
        found[pair] = SeparatorRecord(np.frombuffer(w, np.float64), b, decode_arrays(arrays))
    return found
