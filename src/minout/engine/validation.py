"""Check that metadata and arrays from a file describe a state, before it is restored.

A file that passes its checksum was written by minout, or forged. Checked is what the engine and its
kernels rely on: names, types, shapes, and that the numbers of places and classes exist. Whatever
takes memory is compared with the arrays first: few labels make many pairs, and few hat functions
make wide rows.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.codecs import ExactCodec, OwnCodec, restored
from minout.engine.choice import Choice
from minout.engine.examples import LARGEST_WEIGHT, LEAST_WEIGHT
from minout.engine.frame import Schedule
from minout.engine.regions import LONGEST_LABEL, order_of
from minout.engine.separators import pair_count, pairs_between, regions_of_all
from minout.engine.settings import Settings
from minout.errors import InvalidInputError

Arrays = Mapping[str, NDArray[Any]]

REAL, INT, WORD = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64)
FLAG, SIGN, SINGLE = np.dtype(np.bool_), np.dtype(np.int8), np.dtype(np.float32)
FINITE = (
    "rows",
    "time",
    "W",
    "b",
    "prior.W",
    "prior.b",
    "origin",
    "K",
    "K.lower",
    "precision",
    "precision.lower",
    "sums.shift",
    "sums.counts",
    "sums.rows",
    "sums.squares",
    "sums.scatter",
    "sums.scatter.lower",
    "pool.alpha",
    "far.mean",
    "far.V",
    "far.within",
    "far.counts",
    "far.square",
    "far.half",
    "far.scale",
    "far.coef",
)
"""Arrays that a state never has infinite numbers in; caches of unused rows may overflow."""


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


MEMORY = "memory."
"""What the names of a codec's arrays begin with."""
BLOCK = 256
LARGEST = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e15}
"""The largest absolute value of a number in a row."""


class MalformedError(ValueError):
    """The metadata and arrays do not describe a state."""


def coded_with(about: Any, arrays: Arrays, own: ExactCodec | None) -> ExactCodec | None:
    """Return the codec of the rows; `own` if it is the user's. None if rows are numbers.

    Raises
    ------
    MalformedError
        If it is not described properly, or the user's own is missing or another.
    """
    _expect(isinstance(about, dict), "state")
    if "memory" not in about:
        return None
    memory = about["memory"]
    named = {name.removeprefix(MEMORY): arrays[name] for name in arrays if name.startswith(MEMORY)}
    try:
        codec = restored(memory, named) or own
    except ValueError as error:
        raise MalformedError("memory") from error
    _expect(codec is not None and memory.get("dtype") in ("float32", "float64"), "memory")
    assert codec is not None
    for name, value in (
        ("fingerprint", codec.fingerprint),
        ("width", codec.width),
        ("bytes", codec.bytes_per_row),
    ):
        _expect(name in memory and memory[name] == value, "memory")
    return codec


def validate(about: Any, arrays: Arrays, codec: ExactCodec | None = None) -> None:
    """Raise MalformedError unless `packed` could have returned these values.

    With a codec, the rows are codes.
    """
    _about(about)
    rows = arrays.get("rows")
    _expect(rows is not None and rows.ndim == 2, "rows")
    assert rows is not None
    if codec is None:
        _expect(rows.dtype in (REAL, np.float32), "rows")
        decoded, (n, given) = rows.dtype, rows.shape
    else:
        decoded, n = np.dtype(about["memory"]["dtype"]), len(rows)
        given = 0 if about["widths"][1:] == [None] else codec.width or 0
        _codes(rows, arrays, codec, decoded)
    blocks = about["settings"]["blocks"] or [[0, 0]]
    _expect(given == 0 or blocks[-1][1] <= given, "settings")
    d = given + _hats(arrays, given, about["choice"])
    fills = about["settings"]["missing"] == "mean"
    _expect((fills and given > 0) == ("missing.fill" in arrays), "missing")
    _expect(codec is None or not fills, "missing")
    d += _missing(rows, arrays) if fills and given else 0
    classes = len(about["labels"])
    _regions(about, arrays)
    owner = order_of(about["labels"]).owner
    pairs = _far(arrays, owner, d) if "far.near" in arrays else np.array(pairs_between(owner), INT)
    _expect(len(_array(arrays, "sums.counts", REAL, (None,))) <= classes, "sums.counts")
    places = _array(arrays, "images.of", INT, (None,))
    _shapes(arrays, decoded, n, d, len(pairs), fills=fills)
    for name in ("K", "precision", "sums.scatter"):
        _square(arrays, name, d, required=name == "K")
    stored = np.flatnonzero(arrays["stored"])
    _within(arrays["class"][stored], classes, "class")
    _expect(not arrays["class"][~arrays["stored"]].any(), "class")
    _ids(about, stored, n, given)
    _serials(about, arrays, stored)
    _lists(arrays, stored, classes, pairs)
    _expect(bool(np.isin(places, stored).all() and (np.diff(places) > 0).all()), "images.of")
    _carried(arrays, d)
    if "left" in arrays:
        _expect(bool((_array(arrays, "left", INT, (len(pairs),)) >= 0).all()), "left")


def _shapes(
    arrays: Arrays, decoded: np.dtype[Any], n: int, d: int, pairs: int, *, fills: bool
) -> None:
    # Arrays by place, by pair and by column. Rows with missing values have been checked.
    is_far, counts, places = "far.near" in arrays, arrays["sums.counts"], arrays["images.of"]
    for name, dtype, shape in (
        ("rows", arrays["rows"].dtype, (n, arrays["rows"].shape[1])),
        ("class", INT, (n,)),
        ("digest", WORD, (n,)),
        ("stored", FLAG, (n,)),
        ("weight", REAL, (n,)),
        ("time", REAL, (n,)),
        ("serial", INT, (n,)),
        ("W", REAL, (pairs, d)),
        ("b", REAL, (pairs,)),
        ("prior.W", REAL, (pairs, d)),
        ("prior.b", REAL, (pairs,)),
        ("origin", REAL, (d,)),
        ("sums.shift", REAL, (d,)),
        ("sums.squares", REAL, (d,)),
        ("sums.rows", REAL, (len(counts), d)),
        ("images", REAL if is_far else decoded, (len(places), d)),
    ):
        is_optional = name in ("prior.W", "weight") or (name == "prior.b" and is_far)
        if (name in arrays or not is_optional) and not (name == "rows" and fills):
            _array(arrays, name, dtype, shape)


def _regions(about: Any, arrays: Arrays) -> None:
    # As many regions and pairs as there are lists of them; pairs are counted before they are made.
    labels = about["labels"]
    regions, counts = len(labels), Counter(labels)
    _array(arrays, "members.sizes", INT, (regions,))
    _expect(max(counts.values(), default=1) <= about["choice"]["regions"], "labels")
    if "far.near" in arrays:
        _array(arrays, "far.scale", SINGLE, (pair_count(regions),))
        return
    between = (regions**2 - sum(count**2 for count in counts.values())) // 2
    _array(arrays, "b", REAL, (between,))


def _codes(rows: NDArray[Any], arrays: Arrays, codec: ExactCodec, dtype: np.dtype[Any]) -> None:
    # Codes of the right size, and those in use stand for finite numbers.
    _expect(rows.dtype == np.uint8 and rows.shape[1] == codec.bytes_per_row, "rows")
    stored = np.flatnonzero(_array(arrays, "stored", FLAG, (len(rows),)))
    if isinstance(codec, OwnCodec):
        return  # what it decodes is checked whenever it does
    for start in range(0, len(stored), BLOCK):
        decoded = codec.decode(rows[stored[start : start + BLOCK]], dtype)
        _expect(bool((np.abs(decoded) <= LARGEST[dtype]).all()), "rows")


def _hats(arrays: Arrays, width: int, choice: Any) -> int:
    # The number of hat functions of columns: of each, at most as many as were chosen.
    if "hats.of" not in arrays:
        return 0
    count = len(_array(arrays, "hats.of", INT, (None,)))
    _within(arrays["hats.of"], width, "hats.of")
    most = min(choice["hats"], len(arrays["rows"]))
    _expect(int(np.bincount(arrays["hats.of"]).max(initial=0)) <= most, "hats.of")
    names = ("left", "middle", "right", "height")
    left, middle, right, height = (_array(arrays, f"hats.{n}", REAL, (count,)) for n in names)
    in_order = (-np.inf < left) & (left < middle) & (middle < right) & (right < np.inf)
    _expect(bool((in_order & (height > 0.0) & (height < np.inf)).all()) and count > 0, "hats")
    return count


def _about(about: Any) -> None:
    _expect(isinstance(about, dict), "state")
    for name, kind in (
        ("settings", dict),
        ("ids", list),
        ("labels", list),
        ("corrected", list),
        ("choice", dict),
        ("schedule", dict),
        ("notes", dict),
        ("widths", list),
        ("consolidated", bool),
        ("exact_sums", bool),
        ("stale_sums", bool),
    ):
        _expect(isinstance(about.get(name), kind), name)
    ids, labels = about["ids"], about["labels"]
    _expect(all(_is_name(each) for each in ids), "ids")
    _expect(all(_is_label(each) for each in labels), "labels")
    _expect(len({type(each) for each in labels}) <= 1, "labels")
    _settings(about["settings"], about["choice"])
    schedule = about["schedule"]
    _expect(set(schedule) == set(Schedule._fields), "schedule")
    counts = [about.get(name) for name in ("next_id", "seen", "scattered", "taught")]
    for name, length in (("refresh_at", 2), ("chosen_at", 3), ("prior_at", len(labels))):
        numbers = schedule[name]
        _expect(isinstance(numbers, list | tuple) and len(numbers) == length, "schedule")
        counts += numbers
    _expect(all(map(_is_count, (*counts, schedule["choose_at"]))), "counts")
    for each in about["corrected"]:
        _expect(isinstance(each, list) and len(each) == 2 and _is_name(each[0]), "corrected")
        _expect(isinstance(each[1], list) and all(map(_is_label, each[1])), "corrected")
        _expect(len({type(label) for label in (*labels, *each[1])}) <= 1, "corrected")


def _settings(settings: Any, choice: Any) -> None:
    # What the user set, and the choice: a shape, C as a user could set it, and a sharpness.
    switches = ("whiten", "lda_prior", "standardize")
    _expect(set(settings) == {field.name for field in fields(Settings)}, "settings")
    _expect(set(choice) == set(Choice._fields), "choice")
    _expect(all(isinstance(choice[name], bool) for name in switches), "choice")
    numbers = (choice["C"], choice["sharpness"])
    _expect(all(isinstance(each, float) and 0.0 < each < np.inf for each in numbers), "choice")
    try:
        own = Settings(**settings)
        regions, hats = choice["regions"], choice["hats"]
        _expect(_is_count(regions) and _is_count(hats), "choice")
        _expect(regions in own.region_counts() and hats in own.hat_counts(), "choice")
        Settings(C=choice["C"], regions=regions, expand=hats or None)
    except InvalidInputError as error:
        raise MalformedError("settings") from error


def _missing(rows: NDArray[Any], arrays: Arrays) -> int:
    # How many columns have a mark for missing values. Rows are finite numbers but for NaN.
    words, largest = rows.view(f"u{rows.dtype.itemsize}"), LARGEST[rows.dtype]
    nan = np.array(np.nan, dtype=rows.dtype).view(words.dtype)
    _expect(bool(((np.abs(rows) <= largest) | (words == nan)).all()), "rows")
    fill = _array(arrays, "missing.fill", REAL, (rows.shape[1],))
    of = _array(arrays, "missing.of", INT, (None,))
    mark = _array(arrays, "missing.mark", REAL, (len(of),))
    _within(of, rows.shape[1], "missing.of")
    _expect(bool((np.diff(of) > 0).all()), "missing.of")
    _expect(bool((np.abs(fill) <= largest).all()), "missing.fill")
    _expect(bool(((mark > 0.0) & (mark <= largest)).all()), "missing.mark")
    return len(of)


def _ids(about: Any, stored: NDArray[Any], n: int, d: int) -> None:
    # Ids, and numbers that depend on how many rows there are and how long they are.
    _expect(len(about["ids"]) == n, "ids")
    ids = {about["ids"][place] for place in stored.tolist()}
    _expect(len(ids) == len(stored), "ids")
    _expect(all(example_id in ids for example_id, _ in about["corrected"]), "corrected")
    _expect(about["scattered"] <= about["seen"] <= about["taught"], "seen")
    _expect(len(about["widths"]) == 2, "widths")
    given, row = about["widths"]
    _expect(given is None or (_is_count(given) and given > 0), "widths")
    if row is None:
        _expect(given is None and n == 0, "widths")
    else:
        _expect(_is_count(row) and row == d > 0, "widths")


def _serials(about: Any, arrays: Arrays, stored: NDArray[Any]) -> None:
    # Weights that a user could have set; serial numbers, each once, below the number taught.
    if "weight" in arrays:
        weights = arrays["weight"]
        _expect(bool(((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT)).all()), "weight")
    serials = arrays["serial"][stored]
    _within(serials, about["taught"], "serial")
    _expect(len(np.unique(serials)) == len(stored), "serial")


def _lists(arrays: Arrays, stored: NDArray[Any], classes: int, pairs: NDArray[Any]) -> None:
    # Concatenated lists of places: members of each class; misfits, pending and pool of each pair.
    _list(arrays, "members", classes, stored)
    members, sizes = arrays["members"], arrays["members.sizes"]
    _expect(bool((sizes > 0).all()), "members.sizes")
    _expect(np.array_equal(np.sort(members), stored), "members")
    _expect(np.array_equal(arrays["class"][members], np.repeat(np.arange(classes), sizes)), "class")
    for name in ("misfits", "pending", "pool"):
        of_low = _of_pairs(arrays, name, pairs, stored)
    _expect(not np.isin(_keys(arrays, "pending"), _keys(arrays, "pool")).any(), "pending")
    for name, dtype in (("pool.signs", SIGN), ("pool.alpha", REAL), ("pool.idle", INT)):
        _array(arrays, name, dtype, (len(arrays["pool"]),))
    _expect(np.array_equal(arrays["pool.signs"], np.where(of_low, 1, -1)), "pool.signs")
    _expect(bool((arrays["pool.alpha"] >= 0.0).all()), "pool.alpha")
    if "far.near" in arrays:
        _of_pairs(arrays, "far.misfits", arrays["far.pairs"], stored)
        of_low = _of_pairs(arrays, "far.support", arrays["far.pairs"], stored)
        _expect(bool((arrays["far.support.sizes"] > 0).all()), "far.support.sizes")
        coef = _array(arrays, "far.coef", REAL, (len(of_low),))
        _expect(np.array_equal(np.sign(coef), np.where(of_low, 1.0, -1.0)), "far.coef")
        _expect(bool(np.isin(arrays["far.support"], arrays["images.of"]).all()), "images.of")


def _list(arrays: Arrays, name: str, count: int, stored: NDArray[Any]) -> None:
    places = _array(arrays, name, INT, (None,))
    sizes = _array(arrays, f"{name}.sizes", INT, (count,))
    _expect(bool(((sizes >= 0) & (sizes <= len(places))).all()), f"{name}.sizes")
    _expect(int(sizes.sum()) == len(places), name)
    _expect(bool(np.isin(places, stored).all()), name)


def _of_pairs(
    arrays: Arrays, name: str, pairs: NDArray[Any], stored: NDArray[Any]
) -> NDArray[np.bool_]:
    # In the list of a pair: examples of its two classes, each once. Return which are of low.
    _list(arrays, name, len(pairs), stored)
    places, sizes = arrays[name], arrays[f"{name}.sizes"]
    which = np.repeat(np.arange(len(pairs)), sizes)
    _expect(len(np.unique(_keys(arrays, name))) == len(places), name)
    low, high = (each[which] for each in regions_of_all(pairs))
    of_low = arrays["class"][places] == low
    _expect(bool((of_low | (arrays["class"][places] == high)).all()), name)
    return np.asarray(of_low)


def _keys(arrays: Arrays, name: str) -> NDArray[Any]:
    # A number for each entry of the lists of all pairs: the same for the same place and pair.
    sizes = arrays[f"{name}.sizes"]
    which = np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(which * len(arrays["class"]) + arrays[name])


def _far(arrays: Arrays, owner: NDArray[Any], d: int) -> NDArray[Any]:
    # The discriminants of all regions, and which pairs are near; these are returned.
    classes = len(owner)
    near_classes = _array(arrays, "far.near_classes", INT, (1,))
    _expect(bool(near_classes[0] >= 1), "far.near_classes")
    for name in ("far.near", "far.pairs"):
        pairs = _array(arrays, name, INT, (None,))
        _within(pairs, pair_count(classes), name)
        low, high = regions_of_all(pairs)
        _expect(bool((owner[low] != owner[high]).all() and (np.diff(pairs) > 0).all()), name)
    _expect(not np.isin(arrays["far.near"], arrays["far.pairs"]).any(), "far.pairs")
    for name, dtype, shape in (
        ("far.mean", REAL, (classes, d)),
        ("far.V", REAL, (classes, d)),
        ("far.within", REAL, (1,)),
        ("far.square", REAL, (classes,)),
        ("far.half", REAL, (classes,)),
        ("far.counts", REAL, (classes,)),
        ("far.reach", REAL, (classes,)),
        ("far.scale", SINGLE, (pair_count(classes),)),
        ("far.bounds", SINGLE, (len(arrays["far.pairs"]), 3)),
    ):
        _array(arrays, name, dtype, shape)
    _expect(bool((arrays["far.counts"] > 0.0).all()), "far.counts")
    return arrays["far.near"]


def _carried(arrays: Arrays, d: int) -> None:
    # The warm-start data of large pools.
    for pair, members in enumerate(arrays["pool.sizes"].tolist()):
        if f"factor.{pair}.order" in arrays:
            order = _array(arrays, f"factor.{pair}.order", INT, (None,))
            _within(order, members, "factor")
            _expect(len(order) <= members, "factor")
            _array(arrays, f"factor.{pair}", REAL, (len(order) * (len(order) + 1) // 2,))
        if f"newton.{pair}.L" in arrays:
            _array(arrays, f"newton.{pair}.L", REAL, ((d + 1) * (d + 2) // 2,))
            _array(arrays, f"newton.{pair}.q", REAL, (d + 1,))
            _array(arrays, f"newton.{pair}.inside", FLAG, (members,))
        if f"newton.{pair}.departed" in arrays:
            _array(arrays, f"newton.{pair}.departed", REAL, (None, d + 1))
        if f"newton.{pair}.u" in arrays:
            _array(arrays, f"newton.{pair}.u", REAL, (d + 1,))


def _array(
    arrays: Arrays, name: str, dtype: np.dtype[Any], shape: tuple[int | None, ...]
) -> NDArray[Any]:
    # An array of exactly this dtype and shape; None stands for any length.
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != len(shape):
        raise MalformedError(name)
    if any(wanted not in (None, n) for wanted, n in zip(shape, array.shape, strict=True)):
        raise MalformedError(name)
    if name in FINITE and not np.isfinite(array).all():
        raise MalformedError(name)
    return array


def _square(arrays: Arrays, name: str, d: int, *, required: bool) -> None:
    # A matrix (d, d), its lower half, or the diagonal (d,) of a metric.
    if f"{name}.lower" in arrays:
        _array(arrays, f"{name}.lower", REAL, (d * (d + 1) // 2,))
    elif name in arrays:
        is_diagonal = arrays[name].ndim == 1 and name != "sums.scatter"
        _array(arrays, name, REAL, (d,) if is_diagonal else (d, d))
    else:
        _expect(not required, name)


def _within(numbers: NDArray[Any], end: int, name: str) -> None:
    _expect(bool(((numbers >= 0) & (numbers < end)).all()), name)


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


def _expect(condition: bool, name: str) -> None:
    if not condition:
        raise MalformedError(name)
