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
from minout.core import Columns, NotAnUpdateError, SeparatorRecord, State, Update
from minout.errors import MissingDataError
from minout.features import FeatureMap
from minout.inputs import Schema
from minout.store.descriptions import check_codec, expect_rows_of, found_features
from minout.store.tables import (
    COLUMNS,
    COUNTERS,
    MODULUS,
    Arrays,
    DamagedRecord,
    Meta,
    checked,
    decode_arrays,
    decoded,
    expect,
    sealed,
    unpacked_row,
)

LEAST_BYTES = 16  # a lower bound of the bytes that a record takes in the file
DENSEST = 1_032  # zlib stores at most so many bytes in one
FEW = 1_000  # how many records are read at a time
TEXTS = ("about", "schema", "features", "notes")  # the parts of the frame that are JSON


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

    def blocks(self, table: str) -> Iterator[dict[str, Sequence[Any]]]:
        """Yield the newer records of a table by columns, in the order of their keys."""
        columns, newer = [*COLUMNS[table]], ""
        if self.since:
            newer = f"WHERE version > {self.since:d}"
            if table != "frame":  # SQLite would read the whole table, in its order
                newer = f"INDEXED BY {table}_by_version {newer}"
        query = f"SELECT {', '.join(columns)}, seal FROM {table} {newer} ORDER BY {columns[0]}"
        cursor = self._connection.execute(query)
        while block := cursor.fetchmany(FEW):
            # In a forged file, several records may share one text.
            self._room -= LEAST_BYTES * len(block)
            found = [*zip(*block, strict=True)]
            for column in found:
                kinds = {*map(type, column)}
                if kinds <= {str, bytes}:
                    self._room -= sum(map(len, column))
                elif not kinds <= {int, float, type(None)}:
                    self._room -= sum(len(each) for each in column if type(each) in (str, bytes))
            expect(self._room >= 0, "size")
            self.total += checked(table, found)
            yield dict(zip(columns, found, strict=False))

    def records(self, table: str) -> Iterator[Sequence[Any]]:
        """Yield the newer records of a table one by one."""
        for block in self.blocks(table):
            yield from zip(*block.values(), strict=True)

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
            values = [v if len(v) == size else unpacked_row(v, size) for v in values]
            expect({*map(len, values)} == {size}, "rows")
            expect(end <= len(keys), "rows")
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


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Return the numbers of the newest state."""
    query = f"SELECT {', '.join(Meta._fields)}, seal FROM meta"
    records = connection.execute(query).fetchmany(2)
    expect(len(records) == 1, "meta")
    *found, seal = records[0]
    expect(all(type(each) is int and 0 <= each < MODULUS for each in found), "meta")
    expect(sealed(*found) == seal, "meta")
    return Meta(*found)


def read(
    connection: sqlite3.Connection,
    size: int,
    path: Path,
    known: Loaded | None = None,
    features: FeatureMap | None = None,
    codec: ExactCodec | None = None,
) -> Loaded:
    """Return the newest state: what all records describe, or a known state and what has changed.

    `size` is that of the file; a feature map and a codec that are given must be those of the model.
    Raises NotAnUpdateError if all records must be read, DamagedRecord or MalformedError if they
    describe no state.
    """
    meta, old, notes, since, next_key = read_meta(connection), None, "", 0, 0
    if known is not None:
        (old, notes, since), query = known, "SELECT count(*) FROM examples WHERE version > ?"
        features, next_key = old.schema.features, old.examples.next_key
        newer = connection.execute(query, (since,)).fetchone()[0]
        if not meta.since <= since <= meta.version or 2 * newer > meta.examples + FEW:
            raise NotAnUpdateError
    elif not meta.version:
        raise MissingDataError(f"{path} has no model yet: whoever made it was interrupted.")
    reading = Reading(connection, size, since)
    texts, shared = _parts(reading)
    if old is None:
        expect({*texts, *shared} == {*TEXTS, *core.SHARED}, "frame")
        features = found_features(path, texts["features"], features)
        check_codec(path, texts["about"], codec)
    facts = _facts(texts.get("about"), meta, old)
    ids, columns, corrected = _examples(reading, facts.labels)
    rows = _rows(reading, columns, facts, next_key)
    separators = _separators(reading, facts.labels)
    gone = np.array(reading.gone("examples"), dtype=np.int64)
    dropped = [pair for pair in reading.gone("separators") if pair not in separators]
    if old is None:
        expect(reading.total % MODULUS == meta.total, "total")
    update = Update(ids, columns, rows, corrected, separators, shared, gone, dropped)
    state = core.restored(old, facts, update, codec)
    counts = state.count, len(state.separators.records)
    expect(counts == (meta.examples, meta.separators), "total")
    if "schema" in texts:
        assert features is not None
        expect_rows_of(features, state)
        schema = Schema.from_notes(texts["schema"], features, state.widths.given)
        state = state.replaced(schema=schema)
    notes = json.dumps(texts["notes"]) if "notes" in texts else notes
    return Loaded(state, notes, meta.version)


def _facts(about: Any, meta: Meta, known: State | None) -> core.Facts:
    counters = {name: getattr(meta, name) for name in COUNTERS}
    if about is None and known is not None:
        return core.facts_of(known)._replace(**counters)
    expect(isinstance(about, dict), "about")
    return core.facts_from(about | counters)


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
    return texts, shared


def _examples(
    reading: Reading, labels: Sequence[Label]
) -> tuple[list[Id], Columns, dict[Id, tuple[Label, ...]]]:
    # The newer examples without rows; the label of each must be that of its region.
    ids: list[Id] = []
    had: dict[Id, tuple[Label, ...]] = {}
    parts = [[np.empty(0, each) for each in ("i8", "S16", "f8", "f8", "i8", "i8")]]
    for column in reading.blocks("examples"):
        names, regions, digests = column["id"], column["region"], column["digest"]
        expect({*map(type, names)} <= {int, str}, "id")
        expect(min(regions) >= 0 and max(regions) < len(labels), "region")
        expect([labels[c] for c in regions] == [*column["label"]], "label")
        expect({*map(len, digests)} == {16}, "digest")
        ids.extend(names)
        named = zip(names, column["corrected"], strict=True)
        had |= {id: earlier_labels(text) for id, text in named if text is not None}
        numbers = (column[name] for name in ("weight", "time", "serial", "key"))
        parts.append([np.array(regions), np.array(digests, "S16"), *map(np.array, numbers)])
    return ids, Columns(*map(np.concatenate, zip(*parts, strict=True))), had


def _rows(reading: Reading, columns: Columns, facts: core.Facts, next_key: int) -> NDArray[Any]:
    # The rows of the examples with keys from `next_key` on.
    first = int(np.searchsorted(columns.keys, next_key))
    rows = reading.rows(columns.keys[first:], facts.width, facts.dtype)
    expect(np.array_equal(kernels.digests(rows), columns.digests[first:]), "digest")
    return rows


def earlier_labels(text: Any) -> tuple[Label, ...]:
    """Return the labels that an example had before; raise DamagedRecord if they are none."""
    labels = decoded(text)
    expect(isinstance(labels, list) and labels != [], "corrected")
    return tuple(labels)


def _separators(reading: Reading, labels: Sequence[Label]) -> dict[int, SeparatorRecord]:
    found, most = {}, len(labels) * (len(labels) - 1) // 2
    for record in reading.records("separators"):
        pair, label_a, label_b, b, w, _, arrays = record
        expect(0 <= pair < most and math.isfinite(b) and len(w) % 8 == 0, "separators")
        low, high = core.regions_of(pair)
        expect((label_a, label_b) == (labels[low], labels[high]), "separators")
        found[pair] = SeparatorRecord(np.frombuffer(w, np.float64), b, decode_arrays(arrays))
    return found
