"""A state as records, so that a store can write those that a change concerns, and no others.

`separator_record` returns the arrays of one pair, and `gathered` puts records together to what
`unpacked` takes, which checks it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Id, Ints, Label, Words
from minout.engine.packing import Arrays, pool_arrays
from minout.engine.regions import order_of
from minout.engine.separators import NO_PLACES, pairs_between, regions_of
from minout.engine.state import State
from minout.engine.validation import MalformedError

LAST_POSITION = 2**62
"""Positions are below this, so that the next one can be counted."""
LISTS = ("misfits", "pending", "pool")
PLACED = (*LISTS, "far.support", "far.misfits")
"""The arrays of a separator's record that list places."""
POOLED = (("pool.signs", np.int8), ("pool.alpha", np.float64), ("pool.idle", np.int64))


class Columns(NamedTuple):
    """What is stored of each example, by place, and the order of the members of a region."""

    ids: list[Id]
    corrected: dict[int, tuple[Label, ...]]
    rows: Floats
    regions: Ints
    positions: Ints
    digests: Words
    stored: Bools
    weights: Floats
    times: Floats
    serials: Ints


def separator_record(state: State, pair: int) -> Arrays | None:
    """Return the arrays of one pair of regions; None if nothing is stored for it."""
    separators = state.separators
    if pair in separators.pools:
        one, far = separators[pair], separators.far is not None
        arrays = pool_arrays([separators.pools[pair]], with_priors=not far)
        del arrays["pool.sizes"]
        if "prior.W" in arrays:
            arrays["prior.W"] = arrays["prior.W"][0]
        return {
            "W": one.w,
            "b": np.array([one.b]),
            "misfits": one.misfits,
            "pending": one.pending,
            "left": np.array([one.left], dtype=np.int64),
            **arrays,
        }
    far_pairs, (low, high) = separators.far, regions_of(pair)
    if far_pairs is None or not separators.has(pair):
        return None
    support = far_pairs.support(low, high)
    floor, norm = far_pairs.floor, far_pairs.norm
    return {
        "far.support": support.places,
        "far.coef": support.coef,
        "far.bounds": np.array([floor[low, high], floor[high, low], norm[low, high]]),
        "far.misfits": separators.misfits.get(pair, NO_PLACES),
    }


def renumbered(record: Arrays, numbers: Ints) -> Arrays:
    """Return the arrays of a separator's record, with `numbers[place]` for each place."""
    placed = {name: numbered(record[name], numbers) for name in PLACED if name in record}
    return {**record, **placed}


def numbered(places: Ints, numbers: Ints) -> Ints:
    """Return `numbers[place]` of each place; -1 is the number of a place that is free.

    Raises
    ------
    MalformedError
        If a place does not exist or is free.
    """
    if places.dtype != np.int64 or ((places < 0) | (places >= len(numbers))).any():
        raise MalformedError("places")
    found = numbers[places]
    if (found < 0).any():
        raise MalformedError("places")
    return found


def gathered(
    about: Any,
    notes: Any,
    columns: Columns,
    separators: Mapping[int, Arrays],
    images: tuple[Floats, Ints],
    shared: Arrays,
) -> tuple[dict[str, Any], Arrays]:
    """Return metadata and arrays as `packed` does, from the records of a state.

    Raises
    ------
    MalformedError
        If the records do not fit together. `unpacked` checks everything else.
    """
    if not isinstance(about, dict) or not isinstance(about.get("labels"), list):
        raise MalformedError("labels")
    try:
        owner = order_of(about["labels"]).owner
        sizes = list(Counter(about["labels"]).values())
    except TypeError:  # labels of several types cannot be sorted
        raise MalformedError("labels") from None
    pairs = (len(owner) ** 2 - sum(size**2 for size in sizes)) // 2
    near = {pair: each for pair, each in separators.items() if "W" in each}
    far = {pair: each for pair, each in separators.items() if "W" not in each}
    is_far = "far.V" in shared
    # Pairs are counted before they are listed: few labels make many.
    if not is_far and (far or len(near) != pairs or list(near) != pairs_between(owner)):
        raise MalformedError("separators")
    about = {**about, "ids": columns.ids, "notes": notes, "corrected": _corrected(columns)}
    arrays = {
        **_by_place(columns),
        **_members(columns, len(owner)),
        **_weights(list(near.values()), len(shared.get("origin", ())), with_priors=not is_far),
        **shared,
        "images": images[0],
        "images.of": images[1],
    }
    if is_far:
        arrays["far.near"] = np.array(list(near), dtype=np.int64)
        arrays |= _far(far)
    return about, arrays


def _corrected(columns: Columns) -> list[list[Any]]:
    if not all(columns.stored[place] for place in columns.corrected):
        raise MalformedError("corrected")
    places = sorted(columns.corrected, key=lambda place: int(columns.serials[place]))
    return [[columns.ids[place], list(columns.corrected[place])] for place in places]


def _by_place(columns: Columns) -> Arrays:
    arrays: Arrays = {
        "rows": columns.rows,
        "class": columns.regions,
        "digest": columns.digests,
        "stored": columns.stored,
        "time": columns.times,
        "serial": columns.serials,
        "weight": columns.weights,
    }
    if (columns.weights == 1.0).all():
        del arrays["weight"]
    return arrays


def _members(columns: Columns, regions: int) -> Arrays:
    if ((columns.positions < 0) | (columns.positions >= LAST_POSITION)).any():
        raise MalformedError("position")
    stored = np.flatnonzero(columns.stored)
    own = columns.regions[stored]
    if ((own < 0) | (own >= regions)).any():
        raise MalformedError("class")
    order = np.lexsort((columns.positions[stored], own))
    sizes = np.bincount(own, minlength=regions).astype(np.int64)
    return {"members": stored[order], "members.sizes": sizes}


def _weights(records: Sequence[Arrays], width: int, *, with_priors: bool) -> Arrays:
    arrays: Arrays = {
        "W": _stacked(records, "W", width),
        "b": _joined(records, "b", np.float64),
        "left": _joined(records, "left", np.int64),
    }
    if not arrays["left"].any():
        del arrays["left"]
    for name in LISTS:
        arrays |= _list(records, name)
    for name, dtype in POOLED:
        arrays[name] = _joined(records, name, dtype)
    if with_priors:
        arrays["prior.b"] = _joined(records, "prior.b", np.float64)
        if any("prior.W" in record for record in records):
            nothing = {"prior.W": np.zeros(width)}
            priors = [{**nothing, **record} for record in records]
            arrays["prior.W"] = _stacked(priors, "prior.W", width)
    for number, record in enumerate(records):
        for name in record:
            kind, _, rest = name.partition(".0")
            if kind in ("factor", "newton"):
                arrays[f"{kind}.{number}{rest}"] = record[name]
    return arrays


def _far(records: Mapping[int, Arrays]) -> Arrays:
    listed = list(records.values())
    if any(_one(record, "far.bounds", np.float32).size != 3 for record in listed):
        raise MalformedError("far.bounds")
    return {
        "far.pairs": np.array(list(records), dtype=np.int64),
        **_list(listed, "far.support"),
        "far.coef": _joined(listed, "far.coef", np.float64),
        "far.bounds": _joined(listed, "far.bounds", np.float32).reshape(-1, 3),
        **_list(listed, "far.misfits"),
    }


def _list(records: Sequence[Arrays], name: str) -> Arrays:
    sizes = np.array([_one(record, name, np.int64).size for record in records], dtype=np.int64)
    return {name: _joined(records, name, np.int64), f"{name}.sizes": sizes}


def _joined(records: Sequence[Arrays], name: str, dtype: Any) -> Any:
    parts = [_one(record, name, dtype) for record in records]
    return np.concatenate([np.empty(0, dtype=dtype), *parts])


def _stacked(records: Sequence[Arrays], name: str, width: int) -> Floats:
    found = [_one(record, name, np.float64) for record in records]
    if any(len(each) != width for each in found):
        raise MalformedError(name)
    return np.array(found).reshape(len(found), width)


def _one(record: Arrays, name: str, dtype: Any) -> Any:
    array = record.get(name)
    if array is None or array.ndim != 1 or array.dtype != dtype:
        raise MalformedError(name)
    return array
