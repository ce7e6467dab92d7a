"""Find the records in which two states differ, and write them in one transaction."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np

from minout import core
from minout._typing import Bools, Ints
from minout.core import Examples, State
from minout.core.regions import NO_PLACES
from minout.core.separators import Separator
from minout.store.descriptions import describe_features
from minout.store.history import Entry, add_entries, unname_other_labels
from minout.store.loading import read_meta
from minout.store.tables import (
    COLUMNS,
    COUNTERS,
    MODULUS,
    Meta,
    encode_arrays,
    expect,
    packed_row,
    sealed,
)

PRUNE_EVERY, KEPT = 256, 1_000
"""Every so many commits, what was deleted more than so many commits ago is no longer listed."""

Record = tuple[Any, ...]


def write(
    connection: sqlite3.Connection,
    old: State | None,
    new: State,
    notes: str | None = None,
    log: Sequence[Entry] = (),
) -> int:
    """Write the records in which two states differ, all if there is no old one.

    It is done in the open transaction. `notes` are the user's, None if they have not changed.
    Returns the number of the new state.
    """
    was = read_meta(connection)
    version, total, since = was.version + 1, was.total, was.since
    expect(version < MODULUS, "version")  # only a forged file has so many states
    (changed, rows, forgotten), examples = _changed_examples(old, new), new.examples
    pairs, dropped = _changed_pairs(old, new)
    keys = [] if old is None else old.examples.keys[forgotten].tolist()
    total += _replace(connection, "examples", _example_records(new, changed), keys, version)
    separators = [_separator(new, pair) for pair in pairs]
    total += _replace(connection, "separators", separators, dropped, version)
    total += _replace(connection, "frame", _parts(old, new, notes), (), version)
    if old is not None and keys:
        connection.executemany("DELETE FROM rows WHERE key = ?", [(key,) for key in keys])
        ids = [(id,) for id in old.names(forgotten)]
        connection.executemany("UPDATE log SET id = NULL WHERE id = ?", ids)
    more = ((int(examples.keys[n]), packed_row(examples.given[n].tobytes())) for n in rows.tolist())
    connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", more)
    if old is not None and not set(old.labels) <= set(new.labels):
        unname_other_labels(connection)
    add_entries(connection, log)
    if version % PRUNE_EVERY == 0:
        since = max(version - KEPT, 0)
        connection.execute("DELETE FROM deleted WHERE version <= ?", (since,))
    counters = examples.next_key, new.next_id, new.taught
    counts = examples.count, len(new.separators.records)
    now = Meta(version, total % MODULUS, *counts, since, *counters)
    names = ", ".join(f"{each} = ?" for each in (*Meta._fields, "seal"))
    connection.execute(f"UPDATE meta SET {names}", (*now, sealed(*now)))
    return version


NUMBERS = ("regions", "weights", "times", "serials", "digests")


def _has_only_grown(old: State, new: State) -> bool:
    # Whether examples were added that moved nothing: the usual case, and cheap to find out.
    return (
        all(
            getattr(old.examples, name) is getattr(new.examples, name)
            for name in ("given", "stored", "keys", *NUMBERS)
        )
        and (old.separators, old.regions.labels) == (new.separators, new.regions.labels)
        and (old.listed is new.listed and old.corrected is new.corrected)
    )


def _changed_examples(old: State | None, new: State) -> tuple[Ints, Ints, Ints]:
    # The places where an example has changed, and where its row has; and where old ones are gone.
    examples = new.examples
    if old is None or not old.examples.end:
        return examples.places(), examples.places(), NO_PLACES
    had = old.examples
    if _has_only_grown(old, new):
        changed = np.arange(had.end, examples.end)
        return changed, changed, NO_PLACES
    before = _earlier_places(had, examples)
    changed = _changed_places(old, new, before)
    stay = _flags(had.end, before[(before >= 0) & examples.stored[: examples.end]])
    gone = np.flatnonzero(had.stored[: had.end] & ~stay)
    if had.given.shape[1] != examples.given.shape[1]:
        return changed, examples.places(), gone
    was = before[changed]  # a row never changes unless its digest or length does
    is_new = (was < 0) | (had.digests[was] != examples.digests[changed])
    return changed, changed[is_new], gone


def _earlier_places(had: Examples, examples: Examples) -> Ints:
    # For each place, the place of the same example before; -1 if it is new.
    old, keys = had.keys[: had.end], examples.keys[: examples.end]
    places = np.minimum(np.searchsorted(old, keys), len(old) - 1)
    return np.where(old[places] == keys, places, -1)


def _changed_places(old: State, new: State, before: Ints) -> Ints:
    # The places of stored examples that are new, or of which something has changed.
    had, examples = old.examples, new.examples
    changed = before < 0
    for name in NUMBERS:
        was, now = getattr(had, name), getattr(examples, name)
        if was is not now:  # otherwise it has only grown
            changed |= was[before] != now[: examples.end]
    if old.regions.labels != new.regions.labels[: len(old.regions.labels)]:
        changed |= True
    if old.listed is not new.listed:  # equal rows are misfits together
        digests = np.array([*(old.listed.keys() ^ new.listed.keys())], dtype="S16")
        changed |= np.isin(examples.digests[: examples.end], digests)
    if old.separators is not new.separators:
        was, now = _flags(had.end + 1, old.pending()), _flags(examples.end, new.pending())
        changed |= now != was[before]
    for each in {*old.corrected.items()} ^ {*new.corrected.items()}:
        place = examples.place_of(each[0])
        if place is not None:
            changed[place] = True
    return np.flatnonzero(changed & examples.stored[: examples.end])


def _flags(count: int, places: Ints) -> Bools:
    flags = np.zeros(count, dtype=bool)
    flags[places] = True
    return flags


def _example_records(new: State, places: Ints) -> list[Record]:
    examples, labels = new.examples, new.regions.labels
    numbers = examples.keys, examples.regions, examples.weights, examples.serials
    keys, regions, weights, serials = (each[places].tolist() for each in numbers)
    times = (examples.times[places] + 0.0).tolist()  # SQLite stores -0.0 as 0.0
    ids, names = new.names(places), [labels[c] for c in regions]
    digests = examples.digests[places]
    misfit = [int(each in new.listed) for each in digests.tolist()]  # as equal rows are
    pending = np.isin(places, new.pending()).astype(int).tolist()
    had = [new.corrected.get(id) for id in ids] if new.corrected else [None] * len(ids)
    texts = [None if each is None else json.dumps(each) for each in had]
    hashes = digests.view("V16").tolist()
    columns = keys, ids, names, weights, times, regions, serials, hashes, misfit, pending, texts
    return [(*each, sealed(*each)) for each in zip(*columns, strict=True)]


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


def _differ(record: Separator, known: Separator) -> bool:
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


def _parts(old: State | None, new: State, notes: str | None) -> list[Record]:
    found: dict[str, Any] = {} if notes is None else {"notes": notes}
    facts = core.facts_of(new).to_json()
    about = {name: each for name, each in facts.items() if name not in COUNTERS}
    if old is None or not about.items() <= core.facts_of(old).to_json().items():
        found["about"] = json.dumps(about)
    if old is None or new.schema is not old.schema:
        found["schema"] = json.dumps(new.schema.to_notes())
        found["features"] = json.dumps(describe_features(new.schema.features))
    before = {} if old is None else core.shared(old)
    for name, values in core.shared(new).items():
        was, now = before.get(name, {}), values.items()
        if old is None or len(was) != len(now) or any(was[key] is not each for key, each in now):
            found[name] = encode_arrays(core.arrays_of(name, values))
    return [(*each, sealed(*each)) for each in found.items()]


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
    key, *others = (*COLUMNS[table], "seal", "version")
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
