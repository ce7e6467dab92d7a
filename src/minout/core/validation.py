"""Check that what was read from a file describes a state, before it is restored.

A file whose checksums are right was written by minout, or forged. Checked is what the engine and
its kernels rely on: names, types, shapes, and that the numbers of places and regions exist.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.codecs import ExactCodec, OwnCodec, restored
from minout.core.choice import Choice
from minout.core.examples import LARGEST_WEIGHT, LEAST_WEIGHT, Examples
from minout.core.frame import Schedule
from minout.core.regions import LONGEST_LABEL, pair_count, regions_of_all
from minout.core.scores import FIELDS as SCORES
from minout.core.settings import Settings
from minout.errors import InvalidInputError

Arrays = Mapping[str, NDArray[Any]]

REAL, INT = np.dtype(np.float64), np.dtype(np.int64)
FLAG = np.dtype(np.bool_)
MEMORY = "memory."  # what the names of a codec's arrays begin with
BLOCK = 256
LARGEST = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e15}
"""The largest absolute value of a number in a row."""
NAMES: dict[str, frozenset[str]] = {
    "sums": frozenset({"shift", "counts", "rows", "squares"}),
    "metric": frozenset({"origin", "K", "K.lower", "precision", "precision.lower", "share"}),
    "hats": frozenset(
        {"of", "left", "middle", "right", "height", "missing.fill", "missing.of", "missing.mark"}
    ),
    "scores": frozenset({*SCORES, "near_classes", "within"}),
}
"""The arrays that a part may have; the part `memory` has those of a codec."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class MalformedError(ValueError):
    """What was read does not describe a state."""


class SeparatorRecord(NamedTuple):
    """What a file has of a separator; arrays name examples by their keys."""

    w: Floats
    b: float
    arrays: Arrays


def expect(condition: bool, name: str) -> None:
    """Raise MalformedError, about what is named, unless a condition holds."""
    if not condition:
        raise MalformedError(name)


# Metadata


def check_about(about: Any) -> None:
    """Raise MalformedError unless these metadata are those of a state."""
    expect(isinstance(about, dict), "state")
    for name, kind in (
        ("settings", dict),
        ("labels", list),
        ("choice", dict),
        ("schedule", dict),
        ("widths", list),
        ("consolidated", bool),
        ("exact_sums", bool),
        ("stale_sums", bool),
    ):
        expect(isinstance(about.get(name), kind), name)
    labels, schedule = about["labels"], about["schedule"]
    expect(all(_is_label(each) for each in labels), "labels")
    expect(len({type(each) for each in labels}) <= 1, "labels")
    _settings(about["settings"], about["choice"])
    expect(max(Counter(labels).values(), default=1) <= about["choice"]["regions"], "labels")
    expect(set(schedule) == set(Schedule._fields), "schedule")
    counts = [schedule["choose_at"], schedule["measured_at"]]
    counts += [about.get(name) for name in ("next_id", "next_key", "seen", "taught")]
    for name, length in (("refresh_at", 2), ("chosen_at", 3), ("prior_at", len(labels))):
        numbers = schedule[name]
        expect(isinstance(numbers, list) and len(numbers) == length, "schedule")
        counts += numbers
    expect(all(map(_is_count, counts)), "counts")
    expect(about["seen"] <= about["taught"], "seen")
    expect(about.get("dtype") in ("float32", "float64", "uint8"), "dtype")
    expect(_is_count(about.get("width")) and len(about["widths"]) == 2, "width")


def _settings(settings: Any, choice: Any) -> None:
    # What the user set, and the choice: a shape, C as a user could set it, and a sharpness.
    switches = ("whiten", "lda_prior", "standardize")
    expect(set(settings) == {field.name for field in fields(Settings)}, "settings")
    expect(set(choice) == set(Choice._fields), "choice")
    expect(all(isinstance(choice[name], bool) for name in switches), "choice")
    numbers = (choice["C"], choice["sharpness"])
    expect(all(isinstance(each, float) and 0.0 < each < np.inf for each in numbers), "choice")
    try:
        own = Settings(**settings)
        regions, hats = choice["regions"], choice["hats"]
        expect(_is_count(regions) and _is_count(hats), "choice")
        expect(regions in own.region_counts() and hats in own.hat_counts(), "choice")
        Settings(C=choice["C"], regions=regions, expand=hats or None)
    except InvalidInputError as error:
        raise MalformedError("settings") from error


def coded_with(about: Any, arrays: Arrays, own: ExactCodec | None) -> ExactCodec | None:
    """Return the codec of the rows; `own` if it is the user's. None if rows are numbers."""
    if "memory" not in about:
        expect(about["dtype"] != "uint8" and not arrays, "memory")
        return None
    memory = about["memory"]
    try:
        codec = restored(memory, {name.removeprefix(MEMORY): arrays[name] for name in arrays})
    except ValueError as error:
        raise MalformedError("memory") from error
    codec = codec or own
    expect(codec is not None and memory.get("dtype") in ("float32", "float64"), "memory")
    assert codec is not None
    for name, value in (
        ("fingerprint", codec.fingerprint),
        ("width", codec.width),
        ("bytes", codec.bytes_per_row),
    ):
        expect(name in memory and memory[name] == value, "memory")
    expect((about["dtype"], about["width"]) == ("uint8", codec.bytes_per_row), "memory")
    return codec


# Examples


def check_examples(about: Any, examples: Any, codec: ExactCodec | None) -> None:
    """Raise MalformedError unless a model can have these examples (`packing.ExampleRecords`)."""
    _, columns, rows, corrected = examples
    kind = {type(each) for each in about["labels"]}
    for labels in corrected.values():
        expect(all(map(_is_label, labels)) and {*map(type, labels)} | kind == kind, "corrected")
    expect(bool((np.diff(columns.keys) > 0).all() and (columns.keys >= 0).all()), "key")
    expect(bool((columns.keys < about["next_key"]).all()), "key")
    _within(columns.regions, len(about["labels"]), "region")
    _within(columns.serials, about["taught"], "serial")
    weights = columns.weights
    expect(bool(((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT)).all()), "weight")
    expect(bool(np.isfinite(columns.times).all()), "time")
    if codec is not None:
        _codes(rows, codec, np.dtype(about["memory"]["dtype"]))
    elif about["settings"]["missing"] == "mean":
        words = rows.view(f"u{rows.dtype.itemsize}")
        nan = np.array(np.nan, dtype=rows.dtype).view(words.dtype)
        expect(bool(((np.abs(rows) <= LARGEST[rows.dtype]) | (words == nan)).all()), "rows")
    else:
        for start in range(0, len(rows), BLOCK):
            some = np.abs(rows[start : start + BLOCK])
            expect(bool((some <= LARGEST[rows.dtype]).all()), "rows")


def _codes(rows: NDArray[Any], codec: ExactCodec, dtype: np.dtype[Any]) -> None:
    # Codes stand for finite numbers.
    if isinstance(codec, OwnCodec):
        return  # what it decodes is checked whenever it does
    for start in range(0, len(rows), BLOCK):
        decoded = codec.decode(rows[start : start + BLOCK], dtype)
        expect(bool((np.abs(decoded) <= LARGEST[dtype]).all()), "rows")


def places_of(examples: Examples, keys: NDArray[Any]) -> Ints:
    """Return the places of stored examples with some keys; raise MalformedError if one is not."""
    known = examples.keys[: examples.end]
    places = np.searchsorted(known, keys)
    expect(bool((places < len(known)).all()), "key")
    expect(bool(((known[places] == keys) & examples.stored[places]).all()), "key")
    return places


# What all separators share


def check_shared(
    about: Any, parts: Mapping[str, Arrays], codec: ExactCodec | None, d: int | None = None
) -> int:
    """Check the arrays of some parts; return the width of the rows that separators see.

    `d` is that width before, if the hat functions have not changed.
    """
    for part, arrays in parts.items():
        ours = part == "memory" or arrays.keys() <= NAMES[part]
        expect(ours, part)
    width = about["width"] if codec is None else codec.width or 0
    _widths(about, width)
    if "hats" in parts:
        d = width + _hats(about, parts["hats"], width)
    assert d is not None
    classes = len(about["labels"])
    if "sums" in parts:
        counts = _array(parts["sums"], "counts", REAL, (None,))
        expect(len(counts) <= classes, "counts")
        for name in ("shift", "squares"):
            _array(parts["sums"], name, REAL, (d,))
        _array(parts["sums"], "rows", REAL, (len(counts), d))
    if "metric" in parts:
        _array(parts["metric"], "origin", REAL, (d,))
        _metric(parts["metric"], "K", d)
        expect(bool((_array(parts["metric"], "share", REAL, (1,)) >= 0.0).all()), "share")
        if {"precision", "precision.lower"} & set(parts["metric"]):
            _metric(parts["metric"], "precision", d)
    if "scores" in parts:
        expect(bool(parts["scores"]) == (about["choice"]["lda_prior"] and classes > 0), "scores")
    if parts.get("scores"):
        _scores(parts["scores"], classes, d)
    return d


def _widths(about: Any, width: int) -> None:
    # The lengths of an example as passed in, and of its row.
    given, row = about["widths"]
    expect(given is None or (_is_count(given) and given > 0), "widths")
    blocks = about["settings"]["blocks"] or [[0, 0]]
    if row is None:
        expect(given is None and about["taught"] == 0, "widths")
    else:
        expect(_is_count(row) and row == width > 0 and blocks[-1][1] <= row, "widths")


def _hats(about: Any, arrays: Arrays, width: int) -> int:
    # The number of columns that are added: of each column, at most as many hats as were chosen.
    fills = about["settings"]["missing"] == "mean" and width > 0
    expect(fills == ("missing.fill" in arrays), "missing")
    more = _missing(arrays, width) if fills else 0
    if "of" not in arrays:
        return more
    count = len(_array(arrays, "of", INT, (None,)))
    _within(arrays["of"], width, "hats")
    most = min(about["choice"]["hats"], about["taught"])
    expect(int(np.bincount(arrays["of"]).max(initial=0)) <= most, "hats")
    names = ("left", "middle", "right", "height")
    left, middle, right, height = (_array(arrays, name, REAL, (count,)) for name in names)
    in_order = (left < middle) & (middle < right) & (height > 0.0)
    expect(bool(in_order.all()) and count > 0, "hats")
    return more + count


def _missing(arrays: Arrays, width: int) -> int:
    # How many columns have a mark for missing values.
    fill = _array(arrays, "missing.fill", REAL, (width,))
    of = _array(arrays, "missing.of", INT, (None,))
    mark = _array(arrays, "missing.mark", REAL, (len(of),))
    _within(of, width, "missing.of")
    expect(bool((np.diff(of) > 0).all()), "missing.of")
    expect(bool((np.abs(fill) <= LARGEST[REAL]).all()), "missing.fill")
    expect(bool(((mark > 0.0) & (mark <= LARGEST[REAL])).all()), "missing.mark")
    return len(of)


def _scores(arrays: Arrays, classes: int, d: int) -> None:
    # The scores of all regions, and which pairs are near.
    for name in ("V", "means"):
        _array(arrays, name, REAL, (classes, d))
    for name in ("squares", "counts", "reach"):
        _array(arrays, name, REAL, (classes,), is_finite=name != "reach")
    _array(arrays, "within", REAL, (1,))
    _array(arrays, "near_classes", INT, (1,))
    _array(arrays, "scale", REAL, (pair_count(classes),))
    _array(arrays, "near", FLAG, (pair_count(classes),))
    expect(bool((arrays["counts"] > 0.0).all() and arrays["near_classes"][0] >= 0), "scores")


# Separators


def check_separators(
    records: Mapping[int, SeparatorRecord], examples: Examples, owner: Ints, near: Bools
) -> dict[str, list[Ints]]:
    """Check some separators, and return the places that each lists: misfits, pending, and pool.

    owner[c] is the number of the label of region c, near[pair] whether a pair is near.
    """
    pairs, d = np.array(list(records), dtype=np.int64), examples.width
    _within(pairs, len(near), "pair")
    low, high = regions_of_all(pairs)
    expect(bool((owner[low] != owner[high]).all()), "pair")
    found = {
        name: _listed(records, name, examples, (low, high))
        for name in ("misfits", "pending", "pool")
    }
    for pair, record, pending, pool in zip(
        pairs.tolist(), records.values(), found["pending"], found["pool"], strict=True
    ):
        arrays = record.arrays
        _array({"w": record.w}, "w", REAL, (d if near[pair] else 0,))
        alpha = _array(arrays, "alpha", REAL, (len(pool),))
        idle = _array(arrays, "idle", INT, (len(pool),))
        left = _array(arrays, "left", INT, (1,))
        expect(bool((alpha >= 0.0).all() and (idle >= 0).all() and left[0] >= 0), "pool")
        expect(not (len(pending) and np.isin(pending, pool).any()), "pending")
        if not near[pair]:
            _array(arrays, "bounds", REAL, (3,))
            expect(not len(pending) and bool((alpha > 0.0).all()), "pool")
    return found


def _listed(
    records: Mapping[int, SeparatorRecord],
    name: str,
    examples: Examples,
    regions: tuple[Ints, Ints],
) -> list[Ints]:
    # The places that the records list under a name: examples of their two regions, each once.
    empty = np.empty(0, dtype=np.int64)
    lists = [each.arrays.get(name, empty) for each in records.values()]
    expect(all(each.dtype == INT and each.ndim == 1 for each in lists), name)
    sizes = [len(each) for each in lists]
    places = places_of(examples, np.concatenate([empty, *lists]))
    which = np.repeat(np.arange(len(lists)), sizes)
    expect(len(np.unique(which * max(examples.end, 1) + places)) == len(places), name)
    own = examples.regions[places]
    low, high = (each[which] for each in regions)
    expect(bool(((own == low) | (own == high)).all()), name)
    ends = np.cumsum(sizes).tolist()
    return [places[end - size : end] for end, size in zip(ends, sizes, strict=True)]


# Values


def _array(
    arrays: Arrays,
    name: str,
    dtype: np.dtype[Any],
    shape: tuple[int | None, ...],
    *,
    is_finite: bool = True,
) -> NDArray[Any]:
    # An array of exactly this dtype and shape; None stands for any length.
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != len(shape):
        raise MalformedError(name)
    if any(wanted not in (None, n) for wanted, n in zip(shape, array.shape, strict=True)):
        raise MalformedError(name)
    if is_finite and not np.isfinite(array).all():
        raise MalformedError(name)
    return array


def _metric(arrays: Arrays, name: str, d: int) -> None:
    # The lower half of a matrix (d, d), or its diagonal (d,).
    lower = f"{name}.lower" in arrays
    _array(arrays, f"{name}.lower" if lower else name, REAL, (d * (d + 1) // 2 if lower else d,))


def _within(numbers: NDArray[Any], end: int, name: str) -> None:
    expect(bool(((numbers >= 0) & (numbers < end)).all()), name)


def _is_name(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() or not _HALF_CHARACTER.search(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_label(value: object) -> bool:
    # As a user can set it: NumPy holds numbers of 64 bits, and text without NUL.
    if isinstance(value, str):
        return len(value) <= LONGEST_LABEL and _is_name(value) and "\0" not in value
    return _is_name(value) and isinstance(value, int) and -(2**63) < value < 2**63


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
