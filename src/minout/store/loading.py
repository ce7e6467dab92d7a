"""Read a state from the records of a file: all of them, or those that changed since the last time.

Nothing in a file is trusted. Each record is checked against its seal, and sizes against the size of
the file before memory is taken; the engine checks that the records describe a state.
"""

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import core, kernels
from minout._typing import Id, Ints, Label
from minout.codecs import ExactCodec
from minout.core import Columns, ExampleRecords, NotAnUpdateError, SeparatorRecord, State, Update
from minout.errors import MissingDataError
from minout.features import FeatureMap
from minout.inputs import Schema
from minout.store.descriptions import check_codec, expect_rows_of, found_features
from minout.store.tables import (
    COLUMNS,
    COUNTERS,
    MODULUS,
    PACKED,
    Arrays,
    DamagedRecord,
    Meta,
    decode_arrays,
    decoded,
    expect,
    sealed,
    sealed_examples,
    unpacked_row,
)

LEAST_BYTES = 16  # a lower bound of the bytes that an example takes in the file
DENSEST = 1_032  # zlib stores at most so many bytes in one
FEW = 1_000  # how many records are read at a time
TEXTS = ("about", "schema", "features", "notes")  # the parts of the frame that are JSON
KINDS: tuple[set[type], ...] = (
    {int},
    {int, str},
    {int, str},
    {float},
    {float},
    {bytes},
    {str, type(None)},
    {int},
)
"""The types of the columns of an example, and of its seal."""


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

    def meta(self) -> Meta:
        """Return the numbers of the state: its version, the sum of seals, and counts."""
        return read_meta(self._connection)

    def records(self, table: str) -> list[tuple[Any, ...]]:
        """Return the newer records of a table, in the order of their keys, without their seals."""
        found: list[tuple[Any, ...]] = []
        for block in self._blocks(table):
            for *values, seal in block:
                expect(sealed(*values) == seal, table)
                self.total += seal
                # In a forged file, several records may share one text.
                self._take(LEAST_BYTES, *(each for each in values if type(each) in (str, bytes)))
                found.append(tuple(values))
        return found

    def _blocks(self, table: str) -> Iterator[list[Any]]:
        columns, newer = COLUMNS[table], ""
        if self.since:
            newer = f"WHERE version > {self.since:d}"
            if table != "frame":  # SQLite would read the whole table, in its order
                newer = f"INDEXED BY {table}_by_version {newer}"
        query = f"SELECT {', '.join(columns)}, seal FROM {table} {newer} ORDER BY {columns[0]}"
        cursor = self._connection.execute(query)
        while block := cursor.fetchmany(FEW):
            yield block

    def _take(self, least: int, *texts: Any) -> None:
        self._room -= least + sum(map(len, texts))
        expect(self._room >= 0, "size")

    def examples(self, labels: Sequence[Label]) -> ExampleRecords:
        """Return the newer examples without rows; the label of each must be that of its region."""
        ids: list[Id] = []
        had: dict[Id, tuple[Label, ...]] = {}
        columns = [tuple(np.empty(0, each) for each in (np.int64, float, float, PACKED))]
        for block in self._blocks("examples"):
            values = [*zip(*block, strict=True)]
            keys, weights, times, packed, seals = checked_examples(values)
            names, regions, texts = values[1], packed["region"], values[6]
            expect(bool(((regions >= 0) & (regions < len(labels))).all()), "region")
            expect([labels[c] for c in regions.tolist()] == [*values[2]], "label")
            self._take(LEAST_BYTES * len(block), *(each for each in names if type(each) is str))
            self.total += int(seals.sum())
            ids.extend(names)
            if {*texts} != {None}:
                named = zip(names, texts, strict=True)
                had |= {id: earlier_labels(text) for id, text in named if text is not None}
            columns.append((keys, weights, times, packed))
        keys, weights, times, packed = map(np.concatenate, zip(*columns, strict=True))
        region, serial, digest = (np.ascontiguousarray(packed[name]) for name in PACKED.names or ())
        numbers = Columns(region, digest, weights, times, serial, keys)
        return ExampleRecords(ids, numbers, np.empty(0), had)

    def rows(self, keys: Ints, width: int, dtype: str) -> NDArray[Any]:
        """Return the rows of some examples, the last ones of all."""
        size = width * np.dtype(dtype).itemsize
        expect(len(keys) * size <= DENSEST * self.limit, "rows")
        out, start = np.zeros((len(keys), width), dtype=dtype), 0
        query = "SELECT row FROM rows WHERE key >= ? ORDER BY key"  # digests tell which is whose
        cursor = self._connection.execute(query, (int(keys[0]),)) if len(keys) else None
        while cursor is not None and (block := cursor.fetchmany(FEW)):
            values, end = [value for (value,) in block], start + len(block)
            expect({*map(type, values)} == {bytes}, "rows")
            values = [unpacked_row(value, size) for value in values]
            expect({*map(len, values)} == {size}, "rows")
            expect(end <= len(keys), "rows")
            out[start:end] = np.frombuffer(b"".join(values), dtype).reshape(-1, width)
            start = end
        expect(start == len(keys), "rows")
        return out

    def flagged(self) -> list[tuple[int, int, int]]:
        """Return key, misfit and pending of the examples that are one or the other."""
        query = "SELECT key, misfit, pending FROM examples WHERE misfit OR pending ORDER BY key"
        return self._connection.execute(query).fetchmany(self.limit // LEAST_BYTES)

    def newer(self) -> int:
        """Return how many examples have changed since the known state."""
        query = "SELECT count(*) FROM examples WHERE version > ?"
        return int(self._connection.execute(query, (self.since,)).fetchone()[0])

    def gone(self, kind: str) -> list[int]:
        """Return the keys of records of a table that were deleted since the known state."""
        query = "SELECT key FROM deleted WHERE kind = ? AND version > ?"
        most = self.limit // LEAST_BYTES
        found = self._connection.execute(query, (kind, self.since)).fetchmany(most)
        return [key for (key,) in found]


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Return the numbers of the newest state."""
    query = f"SELECT {', '.join(Meta._fields)}, seal FROM meta"
    records = connection.execute(query).fetchmany(2)
    expect(len(records) == 1, "meta")
    *found, seal = records[0]
    expect(all(type(each) is int and 0 <= each < MODULUS for each in found), "meta")
    expect(sealed(*found) == seal, "meta")
    return Meta(*found)


def read_whole(reading: Reading, path: Path, expected: Expected) -> Loaded:
    """Return the state that all records describe; raise DamagedRecord or MalformedError if none."""
    meta = reading.meta()
    if not meta.version:
        raise MissingDataError(f"{path} has no model yet: whoever made it was interrupted.")
    texts, shared = _parts(reading)
    about = _completed(texts["about"], meta)
    features = found_features(path, texts["features"], expected.features)
    check_codec(path, about, expected.codec)
    expect(set(shared) == set(core.SHARED), "frame")
    core.check_about(about)
    examples = _examples(reading, about, 0)
    separators = _separators(reading, about["labels"])
    expect((len(examples.ids), len(separators)) == (meta.examples, meta.separators), "total")
    expect(reading.total % MODULUS == meta.total, "total")
    update = Update(examples, np.empty(0, np.int64), separators, (), shared)
    state = core.restored(about, update, expected.codec)
    expect(_flags(state) == reading.flagged(), "misfit")
    expect_rows_of(features, state)
    schema = Schema.from_notes(texts["schema"], features, state.widths.given)
    return Loaded(state.replaced(schema=schema), json.dumps(texts["notes"]), meta.version)


def read_newer(reading: Reading, known: Loaded) -> Loaded:
    """Return the newest state, given an earlier one.

    Raises NotAnUpdateError if all records must be read.
    """
    meta = reading.meta()
    is_known = meta.since <= reading.since <= meta.version
    if not is_known or 2 * reading.newer() > meta.examples + FEW:
        raise NotAnUpdateError
    texts, shared = _parts(reading)
    old, notes, _ = known
    schema, about = old.schema, texts.get("about") or json.loads(json.dumps(core.summary(old)))
    about = _completed(about, meta)
    core.check_about(about)
    examples = _examples(reading, about, old.examples.next_key)
    separators = _separators(reading, about["labels"])
    gone = np.array(reading.gone("examples"), dtype=np.int64)
    dropped = [pair for pair in reading.gone("separators") if pair not in separators]
    state = core.updated(old, about, Update(examples, gone, separators, dropped, shared))
    counts = state.count, len(state.separators.records)
    expect(counts == (meta.examples, meta.separators), "total")
    if "schema" in texts:
        schema = Schema.from_notes(texts["schema"], schema.features, state.widths.given)
    if "notes" in texts:
        notes = json.dumps(texts["notes"])
    return Loaded(state.replaced(schema=schema), notes, meta.version)


def _completed(about: Any, meta: Meta) -> Any:
    expect(isinstance(about, dict), "about")
    return about | {name: getattr(meta, name) for name in COUNTERS}


def _parts(reading: Reading) -> tuple[dict[str, Any], dict[str, Arrays]]:
    # What the frame has as JSON, and as arrays.
    texts: dict[str, Any] = {}
    shared: dict[str, Arrays] = {}
    for name, value in reading.records("frame"):
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
    found = reading.examples(about["labels"])
    keys, digests = found.columns.keys, found.columns.digests
    first = int(np.searchsorted(keys, next_key))
    rows = reading.rows(keys[first:], about["width"], about["dtype"])
    expect(np.array_equal(kernels.digests(rows), digests[first:]), "digest")
    return found._replace(rows=rows)


def checked_examples(values: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Check columns of examples, as they are stored, and their seals.

    Return keys, weights, times, what is packed, and seals.
    """
    for column, kinds in zip(values, KINDS, strict=True):
        expect({*map(type, column)} <= kinds, "examples")
    keys, ids, labels, weights, times, blobs, texts, seals = values
    expect({*map(len, blobs)} == {PACKED.itemsize}, "packed")
    packed = np.frombuffer(b"".join(blobs), PACKED)
    numbers = np.array(keys), np.array(weights), np.array(times), packed, np.array(seals)
    wanted = sealed_examples(numbers[0], ids, labels, *numbers[1:4], texts)
    expect(np.array_equal(numbers[4], wanted), "examples")
    return numbers


def _flags(state: State) -> list[tuple[int, int, int]]:
    # Key, misfit and pending of the examples that are one or the other.
    misfits, pending = state.misfits(), state.pending()
    places = np.union1d(misfits, pending)
    keys = state.examples.keys[places].tolist()
    flags = (np.isin(places, each).astype(int).tolist() for each in (misfits, pending))
    return list(zip(keys, *flags, strict=True))


def earlier_labels(text: Any) -> tuple[Label, ...]:
    """Return the labels that an example had before; raise DamagedRecord if they are none."""
    labels = decoded(text)
    expect(isinstance(labels, list) and labels != [], "corrected")
    return tuple(labels)


def _separators(reading: Reading, labels: Sequence[Label]) -> dict[int, SeparatorRecord]:
    found = {}
    for pair, label_a, label_b, b, w, _, arrays in reading.records("separators"):
        most = len(labels) * (len(labels) - 1) // 2
        expect(type(pair) is int and 0 <= pair < most, "separators")
        low, high = core.regions_of(pair)
        expect((label_a, label_b) == (labels[low], labels[high]), "separators")
        expect(type(b) is float and math.isfinite(b) and type(arrays) is bytes, "separators")
        expect(type(w) is bytes and len(w) % 8 == 0, "separators")
        found[pair] = SeparatorRecord(np.frombuffer(w, np.float64), b, decode_arrays(arrays))
    return found
