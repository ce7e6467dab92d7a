"""Find the records in which two states differ, and write them in one transaction."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from operator import is_not
from typing import Any, NamedTuple

import numpy as np

from minout import core
from minout._typing import Bools, Id, Ints
from minout.core import State
from minout.store.descriptions import describe_features
from minout.store.history import Entry, add_entries, unname_other_labels
from minout.store.loading import read_meta
from minout.store.tables import (
    COLUMNS,
    COUNTERS,
    MODULUS,
    PACKED,
    Meta,
    encode_arrays,
    expect,
    packed_row,
    sealed,
    sealed_examples,
)

PRUNE_EVERY, KEPT = 256, 1_000
"""Every so many commits, what was deleted more than so many commits ago is no longer listed."""

Record = tuple[Any, ...]


class Changes(NamedTuple):
    """The records that one transaction writes, and the keys of those that it deletes."""

    examples: Sequence[Record]
    rows: Iterable[tuple[int, bytes]]
    forgotten: Sequence[tuple[int, Id]]
    separators: Sequence[Record]
    dropped: Sequence[int]
    parts: Sequence[Record]
    loses_label: bool
    counts: dict[str, int]


# What differs


def changes(old: State | None, new: State, parts: Sequence[Record]) -> Changes:
    """Return the records in which two states differ; all if there is no old one.

    `parts` are records of the frame that are not in a state.
    """
    examples, had = new.examples, None if old is None else old.examples
    forgotten: list[tuple[int, Id]] = []
    if old is not None and _has_only_grown(old, new):
        rows = changed = np.arange(old.examples.end, examples.end)
    else:
        before = _earlier_places(had, examples)
        changed = _changed_places(old, new, before)
        rows = _new_rows(had, new, changed, before)
        if old is not None and had is not None and (had.stored is not examples.stored):
            gone = had.stored[: had.end].copy()
            gone[before[(before >= 0) & examples.stored[: examples.end]]] = False
            where = np.flatnonzero(gone)
            forgotten = list(zip(had.keys[where].tolist(), old.names(where), strict=True))
    pairs, dropped = _changed_pairs(old, new)
    loses_label = old is not None and not set(old.labels) <= set(new.labels)
    return Changes(
        _example_records(new, changed),
        ((int(examples.keys[n]), packed_row(examples.given[n].tobytes())) for n in rows.tolist()),
        forgotten,
        [_separator(new, pair) for pair in pairs],
        dropped,
        [*parts, *_parts(old, new)],
        loses_label,
        {
            "examples": examples.count,
            "separators": len(new.separators.records),
            "next_key": examples.next_key,
            "next_id": new.next_id,
            "taught": new.taught,
        },
    )


def _has_only_grown(old: State, new: State) -> bool:
    # Whether examples were added that moved nothing: the usual case, and cheap to find out.
    names = ("given", "stored", "digests", *NUMBERS)
    return (
        all(getattr(old.examples, name) is getattr(new.examples, name) for name in names)
        and (old.separators, old.regions.labels) == (new.separators, new.regions.labels)
        and (old.listed is new.listed and old.corrected is new.corrected)
    )


def _earlier_places(had: Any, examples: Any) -> Ints:
    # For each place, the place of the same example before; -1 if it is new.
    before = np.full(examples.end, -1, dtype=np.int64)
    if had is None or not had.end:
        return before
    old, keys = had.keys[: had.end], examples.keys[: examples.end]
    known = min(len(old), len(keys))
    if had.keys is examples.keys or np.array_equal(old[:known], keys[:known]):
        before[:known] = np.arange(known)
        return before
    places = np.minimum(np.searchsorted(old, keys), len(old) - 1)
    return np.where(old[places] == keys, places, -1)


def _changed_places(old: State | None, new: State, before: Ints) -> Ints:
    # The places of stored examples that are new, or of which something has changed.
    examples, stored = new.examples, new.examples.stored[: new.examples.end]
    if old is None or not old.examples.end:
        return np.flatnonzero(stored)
    had, known = old.examples, before >= 0
    changed = ~known
    for name in ("regions", "weights", "times", "serials", "digests"):
        was, now = getattr(had, name), getattr(examples, name)
        if was is not now:  # otherwise it has only grown
            changed |= known & (was[before] != now[: examples.end])
    if old.regions.labels != new.regions.labels[: len(old.regions.labels)]:
        changed |= True
    if old.listed is not new.listed:  # equal rows are misfits together
        digests = np.array([*(old.listed.keys() ^ new.listed.keys())], dtype="S16")
        changed |= np.isin(examples.digests[: examples.end], digests)
    changed[_newly_pending(old, new, before)] = True
    for each in {*old.corrected.items()} ^ {*new.corrected.items()}:
        place = examples.place_of(each[0])
        if place is not None:
            changed[place] = True
    return np.flatnonzero(changed & stored)


def _newly_pending(old: State, new: State, before: Ints) -> Bools:
    # Which places are pending now and were not, or the other way round.
    found = np.zeros(len(before), dtype=bool)
    if old.separators is new.separators:
        return found
    now, was = found.copy(), np.zeros(old.examples.end + 1, dtype=bool)
    now[new.pending()] = True
    was[old.pending()] = True
    return np.asarray(now != was[before])


def _new_rows(had: Any, new: State, changed: Ints, before: Ints) -> Ints:
    # The changed places whose rows are new; a row never changes unless its digest or length does.
    if had is None or had.given.shape[1] != new.examples.given.shape[1]:
        return np.flatnonzero(new.examples.stored[: new.examples.end])
    was = before[changed]
    is_new = was < 0
    is_new[~is_new] = had.digests[was[~is_new]] != new.examples.digests[changed[~is_new]]
    return changed[is_new]


def _example_records(new: State, places: Ints) -> list[Record]:
    if not len(places):
        return []
    examples, names = new.examples, new.regions.labels
    packed = np.empty(len(places), PACKED)
    packed["region"], packed["serial"] = examples.regions[places], examples.serials[places]
    packed["digest"] = examples.digests[places]
    keys, weights = examples.keys[places], examples.weights[places]
    times = examples.times[places] + 0.0  # SQLite stores -0.0 as 0.0, which has another checksum
    ids, labels = new.names(places), [names[c] for c in examples.regions[places].tolist()]
    had = [new.corrected.get(id) for id in ids] if new.corrected else [None] * len(ids)
    texts = [None if each is None else json.dumps(each) for each in had]
    seals = sealed_examples(keys, ids, labels, weights, times, packed, texts)
    misfit = [each in new.listed for each in packed["digest"].tolist()]  # as equal rows are
    pending = set(new.pending().tolist())
    flags = misfit, [each in pending for each in places.tolist()]
    blobs = [each.tobytes() for each in packed]
    numbers = keys.tolist(), ids, labels, weights.tolist(), times.tolist(), blobs
    return [*zip(*numbers, texts, *flags, seals.tolist(), strict=True)]


NUMBERS = ("keys", "regions", "weights", "times", "serials")


def _changed_pairs(old: State | None, new: State) -> tuple[list[int], list[int]]:
    # The pairs whose records differ, and those that are gone.
    if old is None or old.separators is new.separators:
        return (list(new.separators.records) if old is None else []), []
    was, now = old.separators.records, new.separators.records
    is_renamed = old.regions.labels != new.regions.labels[: len(old.regions.labels)]
    changed = [
        pair
        for pair, record in now.items()
        if record is not (known := was.get(pair)) and (known is None or _differ(record, known))
    ]
    return list(now) if is_renamed else changed, [pair for pair in was if pair not in now]


def _differ(record: Any, known: Any) -> bool:
    # Of a record that was copied to another row of W, only w is another object.
    return record.left != known.left or any(
        getattr(record, name) is not getattr(known, name) for name in ("pool", "misfits", "pending")
    )


def _separator(new: State, pair: int) -> Record:
    record, labels = core.separator_record(new, pair), new.regions.labels
    low, high = core.regions_of(pair)
    arrays, support = encode_arrays(record.arrays), core.support_size(new, pair)
    values = (pair, labels[low], labels[high], record.b + 0.0, record.w.tobytes(), support, arrays)
    return (*values, sealed(*values))


def _parts(old: State | None, new: State) -> list[Record]:
    now, before = core.shared_objects(new), {} if old is None else core.shared_objects(old)
    found, about = [], _lasting(new)
    if old is None or about != _lasting(old):
        found.append(part_record("about", json.dumps(about)))
    if old is None or new.schema is not old.schema:
        features = describe_features(new.schema.features)
        found.append(part_record("schema", json.dumps(new.schema.to_notes())))
        found.append(part_record("features", json.dumps(features)))
    for name, objects in now.items():
        was = before.get(name, ())
        if old is None or len(was) != len(objects) or any(map(is_not, was, objects)):
            found.append(part_record(name, encode_arrays(core.shared(new, name))))
    return found


def _lasting(state: State) -> dict[str, Any]:
    return {name: each for name, each in core.summary(state).items() if name not in COUNTERS}


def part_record(name: str, value: str | bytes) -> Record:
    """Return a record of the frame."""
    return name, value, sealed(name, value)


# Writing it


def write(connection: sqlite3.Connection, found: Changes, log: Sequence[Entry]) -> int:
    """Write records in the open transaction; return the number of the new state."""
    was = read_meta(connection)
    version, total, since = was.version + 1, was.total, was.since
    expect(version < MODULUS, "version")  # only a forged file has so many states
    forgotten = [key for key, _ in found.forgotten]
    total += _replace(connection, "examples", found.examples, forgotten, version)
    total += _replace(connection, "separators", found.separators, found.dropped, version)
    total += _replace(connection, "frame", found.parts, (), version)
    if forgotten:
        connection.executemany("DELETE FROM rows WHERE key = ?", [(key,) for key in forgotten])
        ids = [(id,) for _, id in found.forgotten]
        connection.executemany("UPDATE log SET id = NULL WHERE id = ?", ids)
    connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", found.rows)
    if found.loses_label:
        unname_other_labels(connection)
    add_entries(connection, log)
    if version % PRUNE_EVERY == 0:
        since = max(version - KEPT, 0)
        connection.execute("DELETE FROM deleted WHERE version <= ?", (since,))
    now = Meta(version=version, total=total % MODULUS, since=since, **found.counts)
    names = ", ".join(f"{each} = ?" for each in (*Meta._fields, "seal"))
    connection.execute(f"UPDATE meta SET {names}", (*now, sealed(*now)))
    return version


def _replace(
    connection: sqlite3.Connection,
    table: str,
    records: Sequence[Record],
    dropped: Sequence[int],
    version: int,
) -> int:
    # Write and delete records; return by how much the sum of all seals grows.
    if not records and not dropped:
        return 0
    key, *others = COLUMNS[table]
    others += ["misfit", "pending"] if table == "examples" else []
    others += ["seal", "version"]
    some = f"WHERE {key} IN (SELECT value FROM json_each(?))"
    keys = json.dumps([*(record[0] for record in records), *dropped])
    query = f"SELECT sum(seal) FROM {table} {some}"
    gone = connection.execute(query, (keys,)).fetchone()[0] or 0
    # An update in place writes only the pages of a large value that change.
    connection.executemany(
        f"INSERT INTO {table} ({key}, {', '.join(others)}) VALUES (?{', ?' * len(others)}) "
        f"ON CONFLICT DO UPDATE SET {', '.join(f'{each} = excluded.{each}' for each in others)}",
        [(*record, version) for record in records],
    )
    if dropped:
        connection.execute(f"DELETE FROM {table} {some}", (json.dumps(dropped),))
        listed = [(table, each, version) for each in dropped]
        connection.executemany("INSERT OR REPLACE INTO deleted VALUES (?, ?, ?)", listed)
    return int(sum(record[-1] for record in records) - gone)
