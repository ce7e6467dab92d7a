"""What a file has of a state beside its examples, and the check that it describes a state.

A file whose checksums are right was written by minout, or forged. Checked is what the engine and
its kernels rely on: names, types, shapes, and that the numbers of places and regions exist.
"""

import re
from collections import Counter
from collections.abc import Mapping
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints, Label
from minout.codecs import ExactCodec, OwnCodec, restored
from minout.core.choice import Choice
from minout.core.examples import LARGEST_WEIGHT, LEAST_WEIGHT, Columns, Examples
from minout.core.frame import Schedule
from minout.core.regions import LONGEST_LABEL, pair_count
from minout.core.settings import Settings
from minout.errors import InvalidInputError
from minout.features import LARGEST

Arrays = Mapping[str, NDArray[Any]]
SHAPES = {
    "sums": {"shift": "f8 d", "counts": "f8 n", "sums": "f8 n d", "squares": "f8 d"},
    "metric": {"origin": "f8 d", "K": "f8 k", "precision": "f8 p", "share": "f8"},
    "hats": dict.fromkeys(("left", "middle", "right", "height"), "f8 hats")
    | {"of": "i8 hats", "fill": "f8 fill", "missing": "i8 missing", "mark": "f8 missing"},
    "scores": dict.fromkeys(("squares", "counts", "reach"), "f8 regions")
    | {"V": "f8 regions d", "means": "f8 regions d", "scale": "f8 pairs", "near": "b1 pairs"}
    | {"within": "f8", "near_classes": "i8"},
    "separator": {"pool": "i8 pool", "alpha": "f8 pool", "idle": "i8 pool", "misfits": "i8 n"}
    | {"pending": "i8 m", "left": "i8", "bounds": "f8 bounds"},
}
"""The arrays of each part that all separators share, and of a separator: dtype and axes.

Axes with the same name in a part are of the same length; d is the width of rows as separators see
them. The part `memory` has the arrays of a codec.
"""
BLOCK = 256
SETTINGS = tuple(Settings.__dataclass_fields__)
LARGEST_NUMBER = LARGEST[np.dtype(np.float64)]
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class MalformedError(ValueError):
    """What was read does not describe a state."""


class Facts(NamedTuple):
    """What a file says of a state in JSON; see `State`, `Frame` and `RunningMoments`.

    `width` and `dtype` are those of stored rows, or codes; `memory` says which codec they have.
    """

    settings: Any
    labels: Any
    memory: Any
    choice: Choice
    schedule: Schedule
    widths: tuple[int | None, int | None]
    width: int
    dtype: str
    seen: int
    exact_sums: bool
    stale_sums: bool
    consolidated: bool
    next_key: int
    next_id: int
    taught: int

    def to_json(self) -> dict[str, Any]:
        """Return them as values that JSON can hold."""
        return self._asdict() | {
            "settings": {name: getattr(self.settings, name) for name in SETTINGS},
            "choice": self.choice._asdict(),
            "schedule": self.schedule._asdict(),
        }


class SeparatorRecord(NamedTuple):
    """What a file has of a separator; arrays name examples by their keys."""

    w: Floats
    b: float
    arrays: Arrays


def expect(condition: bool, name: str) -> None:
    """Raise MalformedError, about what is named, unless a condition holds."""
    if not condition:
        raise MalformedError(name)


# Facts


def facts_from(about: Any) -> Facts:
    """Return the facts that were written as JSON; raise MalformedError unless a state has them."""
    facts: Facts = _typed(Facts, about)
    expect(isinstance(facts.settings, dict), "settings")
    expect(facts.settings.keys() == set(SETTINGS), "settings")
    labels, choice, (given, row) = facts.labels, facts.choice, facts.widths
    expect(isinstance(labels, list) and all(map(_is_label, labels)), "labels")
    expect(len({type(each) for each in labels}) <= 1, "labels")
    expect(max(Counter(labels).values(), default=1) <= choice.regions, "labels")
    expect(len(facts.schedule.prior_at) == len(labels), "schedule")
    expect(facts.dtype in ("float32", "float64", "uint8"), "dtype")
    expect(row is not None or (given is None and facts.taught == 0), "widths")
    try:
        settings = Settings(**facts.settings)
        Settings(C=choice.C, regions=choice.regions, expand=choice.hats or None)
    except InvalidInputError as error:
        raise MalformedError("settings") from error
    expect(choice.regions in settings.region_counts(), "choice")
    expect(choice.sharpness > 0.0 and 0.0 < choice.lead <= 1.0, "choice")
    expect(choice.hats in settings.hat_counts(), "choice")
    return facts._replace(settings=settings)


def _typed(kind: Any, value: Any) -> Any:
    # A value that was read from JSON as one of an annotated type; numbers are counts, or finite.
    if kind is Any:
        return value
    if isinstance(kind, UnionType):
        return None if value is None else _typed(get_args(kind)[0], value)
    if hasattr(kind, "_fields"):
        expect(isinstance(value, dict) and value.keys() == set(kind._fields), kind.__name__)
        return kind(**{name: _typed(kind.__annotations__[name], value[name]) for name in value})
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        expect(isinstance(value, list), "list")
        kinds = kinds[:1] * len(value) if kinds[-1] is ... else kinds
        expect(len(kinds) == len(value), "list")
        return tuple(map(_typed, kinds, value))
    expect(type(value) is kind, kind.__name__)
    expect(kind is not int or 0 <= value < 2**62, "count")
    expect(kind is not float or bool(np.isfinite(value)), "number")
    return value


def coded_with(facts: Facts, arrays: Arrays, own: ExactCodec | None) -> ExactCodec | None:
    """Return the codec of the rows; `own` if it is the user's. None if rows are numbers."""
    memory = facts.memory
    if memory is None:
        expect(facts.dtype != "uint8" and not arrays, "memory")
        return None
    try:
        codec = restored(memory, arrays) or own
    except ValueError as error:
        raise MalformedError("memory") from error
    expect(codec is not None and memory.get("dtype") in ("float32", "float64"), "memory")
    assert codec is not None
    size = codec.bytes_per_row
    known = {"fingerprint": codec.fingerprint, "width": codec.width, "bytes": size}
    expect(known.items() <= memory.items(), "memory")
    expect((facts.dtype, facts.width) == ("uint8", size), "memory")
    return codec


# Examples


def check_examples(
    facts: Facts,
    columns: Columns,
    rows: NDArray[Any],
    corrected: Mapping[Any, tuple[Label, ...]],
    codec: ExactCodec | None,
) -> None:
    """Raise MalformedError unless a model can have these examples."""
    kind = {type(each) for each in facts.labels}
    for labels in corrected.values():
        expect(all(map(_is_label, labels)) and {*map(type, labels)} | kind == kind, "corrected")
    keys, weights = columns.keys, columns.weights
    expect(bool((np.diff(keys) > 0).all()), "key")
    _within(keys, facts.next_key, "key")
    _within(columns.regions, len(facts.labels), "region")
    _within(columns.serials, facts.taught, "serial")
    expect(bool(((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT)).all()), "weight")
    expect(bool(np.isfinite(columns.times).all()), "time")
    if isinstance(codec, OwnCodec):
        return  # what it decodes is checked whenever it does
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        if codec is not None:
            some = codec.decode(some, np.dtype(facts.memory["dtype"]))
        is_right = np.abs(some) <= LARGEST[some.dtype]
        if codec is None and facts.settings.missing == "mean":  # of all bits for NaN, NumPy's
            words = np.dtype(f"u{some.itemsize}")
            is_right |= some.view(words) == np.array(np.nan, some.dtype).view(words)
        expect(bool(is_right.all()), "rows")


def places_of(examples: Examples, keys: NDArray[Any]) -> Ints:
    """Return the places of stored examples with some keys; raise MalformedError if one is not."""
    known = examples.keys[: examples.end]
    places = np.searchsorted(known, keys)
    expect(bool((places < len(known)).all()), "key")
    expect(bool(((known[places] == keys) & examples.stored[places]).all()), "key")
    return places


# Arrays


def check_shared(
    facts: Facts, parts: Mapping[str, Arrays], codec: ExactCodec | None, d: int | None = None
) -> int:
    """Check the arrays of some parts; return the width of the rows that separators see.

    `d` is that width before, if the hat functions have not changed.
    """
    expect(facts.seen <= facts.taught, "seen")
    width = facts.width if codec is None else codec.width or 0
    row, blocks, classes = facts.widths[1], facts.settings.blocks, len(facts.labels)
    expect(row is None or (row == width > 0 and (not blocks or blocks[-1][1] <= row)), "widths")
    expect(facts.widths[0] != 0, "widths")
    if "hats" in parts:
        d = width + _hats(facts, parts["hats"], width)
    assert d is not None
    sizes = {"d": d, "regions": classes, "pairs": pair_count(classes)}
    for name in parts.keys() & {"sums", "metric"}:
        check_arrays(name, parts[name], sizes)
    if "sums" in parts:
        expect(len(parts["sums"]["counts"]) <= classes, "counts")
    if "metric" in parts:  # a diagonal or the lower half of a matrix
        sizes_of = d, d * (d + 1) // 2
        expect(len(parts["metric"]["K"]) in sizes_of, "K")
        expect(len(parts["metric"]["precision"]) in (0, *sizes_of), "precision")
        expect(bool(parts["metric"]["share"] >= 0.0), "share")
    if "scores" in parts:
        scores = parts["scores"]
        expect(bool(scores) == (facts.choice.lda_prior and classes > 0), "scores")
        if scores:
            check_arrays("scores", scores, sizes)
            expect(bool((scores["counts"] > 0.0).all() and scores["near_classes"] >= 0), "scores")
    return d


def _hats(facts: Facts, arrays: Arrays, width: int) -> int:
    # The number of columns that are added: of each column, at most as many hats as were chosen.
    fill = width if facts.settings.missing == "mean" else 0
    check_arrays("hats", arrays, {"fill": fill})
    of, left, middle, right, height = (
        arrays[name] for name in ("of", "left", "middle", "right", "height")
    )
    missing, mark = arrays["missing"], arrays["mark"]
    _within(of, width, "of")
    _within(missing, fill, "missing")
    expect(bool((np.diff(missing) > 0).all()), "missing")
    most = min(facts.choice.hats, facts.taught)
    expect(int(np.bincount(of).max(initial=0)) <= most, "hats")
    expect(bool(((left < middle) & (middle < right) & (height > 0.0)).all()), "hats")
    expect(bool((np.abs(arrays["fill"]) <= LARGEST_NUMBER).all()), "fill")
    expect(bool(((mark > 0.0) & (mark <= LARGEST_NUMBER)).all()), "mark")
    return len(of) + len(missing)


def check_arrays(kind: str, arrays: Arrays, sizes: Mapping[str, int]) -> None:
    """Raise MalformedError unless arrays are finite, and those of `SHAPES` with some sizes."""
    shapes, sizes = SHAPES[kind], dict(sizes)
    expect(arrays.keys() == shapes.keys(), kind)
    for name, shape in shapes.items():
        array, (dtype, *axes) = arrays[name], shape.split()
        expect(array.dtype == dtype and array.ndim == len(axes), name)
        for axis, size in zip(axes, array.shape, strict=True):
            expect(sizes.setdefault(axis, size) == size, name)
        expect(name == "reach" or bool(np.isfinite(array).all()), name)


# Values


def _within(numbers: NDArray[Any], end: int, name: str) -> None:
    expect(bool(((numbers >= 0) & (numbers < end)).all()), name)


def _is_label(value: object) -> bool:
    # As a user can set it: NumPy holds numbers of 64 bits, and text without NUL.
    if isinstance(value, str):
        is_whole = value.isascii() or not _HALF_CHARACTER.search(value)
        return len(value) <= LONGEST_LABEL and is_whole and "\0" not in value
    return type(value) is int and -(2**63) < value < 2**63
