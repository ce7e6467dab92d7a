"""Convert a state to records for a file, and back; caches are left out.

Records name examples by their keys, which never change, not by their places. Everything that is
read is checked (`core/validation.py`) before a state is made of it.
"""

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.codecs import ExactCodec, described
from minout.core.choice import Choice
from minout.core.examples import About, Columns, Examples
from minout.core.frame import Frame, Schedule
from minout.core.images import Images
from minout.core.misfits import listed_in
from minout.core.moments import RunningMoments
from minout.core.pool import Pool
from minout.core.regions import NO_PLACES, Members, Regions, regions_of_all
from minout.core.scores import FIELDS as SCORES
from minout.core.scores import ClassScores
from minout.core.separators import NO_PRIOR, Bounds, Separator, Separators, with_prior
from minout.core.settings import Settings
from minout.core.state import State, Widths
from minout.core.validation import (
    MEMORY,
    SeparatorRecord,
    check_about,
    check_examples,
    check_separators,
    check_shared,
    coded_with,
    expect,
    places_of,
)
from minout.maths import NO_EXPANSION, Geometry

Arrays = dict[str, NDArray[Any]]

HATS = ("of", "left", "middle", "right", "height")
MISSING = {"fill": "fill", "of": "missing", "mark": "mark"}
"""Fields of an expansion: those of hat functions, and those of missing values by their names."""
SHARED = ("sums", "metric", "hats", "scores", "memory")
"""The parts of a state that all separators, or all rows, share; see `shared`."""
LEAST = 64  # up to so many places of forgotten examples are left as they are


class ExampleRecords(NamedTuple):
    """Some examples in the order of their keys, and the earlier labels of those that have some.

    `rows` are those of the examples that are new: the last ones.
    """

    ids: list[Id]
    columns: Columns
    rows: NDArray[Any]
    corrected: dict[Id, tuple[Label, ...]]


class Update(NamedTuple):
    """What changed since an earlier state: records, and the keys of those that are gone."""

    examples: ExampleRecords
    gone: Ints
    separators: Mapping[int, SeparatorRecord]
    gone_pairs: Sequence[int]
    shared: Mapping[str, Arrays]


class NotAnUpdateError(Exception):
    """Too much has changed: all records must be read."""


# From a state


def summary(state: State) -> dict[str, Any]:
    """Return the metadata of a state that do not grow with its examples."""
    frame, moments, examples = state.frame, state.frame.moments, state.examples
    memory, codec = {}, examples.codec
    if codec is not None:
        memory = {"memory": {**described(codec)[0], "dtype": examples.dtype.name}}
    return {
        "settings": {name: getattr(state.settings, name) for name in Settings.__dataclass_fields__},
        "widths": list(state.widths),
        "width": examples.given.shape[1],
        "dtype": examples.given.dtype.name,
        "next_key": examples.next_key,
        "next_id": state.next_id,
        "taught": state.taught,
        "labels": list(state.regions.labels),
        "choice": frame.choice._asdict(),
        "schedule": frame.schedule._asdict(),
        "seen": moments.seen,
        "exact_sums": moments.exact,
        "stale_sums": moments.stale,
        "consolidated": state.consolidated,
        **memory,
    }


def shared(state: State, part: str) -> Arrays:
    """Return the arrays of one part of what all separators share; none if there are none."""
    moments, geometry, scores = state.frame.moments, state.frame.geometry, state.separators.scores
    arrays: Arrays = {}
    if part == "sums":
        sums = (moments.shift, moments.counts, moments.sums, moments.squares)
        arrays = dict(zip(("shift", "counts", "rows", "squares"), sums, strict=True))
    elif part == "metric":
        arrays = {"origin": geometry.origin, **_half("K", geometry.K)}
        if geometry.precision is not None:
            arrays |= _half("precision", geometry.precision)
        arrays["share"] = np.array([geometry.share])
    elif part == "hats":
        expansion = state.examples.expansion._asdict()
        if len(expansion["of"]):
            arrays = {name: expansion[name] for name in HATS}
        if len(expansion["fill"]):
            arrays |= {f"missing.{name}": expansion[field] for name, field in MISSING.items()}
    elif part == "scores" and state.choice.lda_prior and len(scores.V):
        arrays = {name: getattr(scores, name) for name in SCORES}
        arrays["within"] = np.array([scores.within])
        arrays["near_classes"] = np.array([scores.near_classes or 0])
    elif part == "memory" and state.examples.codec is not None:
        own = described(state.examples.codec)[1].items()
        arrays = {f"{MEMORY}{name}": each for name, each in own}
    return arrays


def shared_objects(state: State) -> dict[str, tuple[Any, ...]]:
    """Return the objects that each part is made of: if they are the same, so is the part."""
    moments, geometry = state.frame.moments, state.frame.geometry
    return {
        "sums": (moments.shift, moments.counts, moments.sums, moments.squares),
        "metric": (geometry.origin, geometry.K, geometry.precision),
        "hats": tuple(state.examples.expansion),
        "scores": tuple(state.separators.scores),
        "memory": (state.examples.codec,),
    }


def separator_record(state: State, pair: int) -> SeparatorRecord:
    """Return what is stored for a pair."""
    one, keys = state.separators.records[pair], state.examples.keys
    pool = one.pool
    arrays: Arrays = {"pool": keys[pool.places], "alpha": pool.alpha, "idle": pool.idle}
    arrays |= {"misfits": keys[one.misfits], "pending": keys[one.pending]}
    arrays |= {"left": np.array([one.left])}
    if one.is_far:
        arrays["bounds"] = np.array(one.bounds)
    return SeparatorRecord(one.w, one.b, arrays)


def support_size(state: State, pair: int) -> int:
    """Return the number of support vectors of a pair."""
    return int(np.count_nonzero(state.separators.support_of(pair).alpha > 0.0))


# To a state


@kernels.one_blas_thread()
def restored(about: Any, update: Update, codec: ExactCodec | None = None) -> State:
    """Return the state that all its records describe; raise MalformedError if they describe none.

    `codec` is the codec of the rows if it is the user's own, which is not saved.
    """
    check_about(about)
    codec = coded_with(about, update.shared["memory"], codec)
    ids, columns, rows, corrected = update.examples
    d = check_shared(about, update.shared, codec)
    check_examples(about, update.examples, codec)
    expect(len(np.unique(columns.serials)) == len(ids), "serial")
    expect(about["next_key"] > int(columns.keys.max(initial=-1)), "key")
    dtype = about["memory"]["dtype"] if codec is not None else about["dtype"]
    examples = Examples.of(rows, ids, columns, codec, dtype).numbered_from(about["next_key"])
    expect(len(examples.places_of_ids) == len(ids), "ids")
    examples = examples.expanded_by(_expansion(update.shared["hats"]))
    expect(examples.width == d, "width")
    regions = _regions(about["labels"], examples)
    known = State(Settings(**about["settings"]), examples.width, examples.dtype, codec)
    known = known.replaced(examples=examples, regions=regions, corrected=corrected)
    return _finished(known, about, update)


@kernels.one_blas_thread()
def updated(known: State, about: Any, update: Update) -> State:
    """Return a state after changes, in time proportional to them.

    Raises NotAnUpdateError if all records are needed, MalformedError if they are not valid.
    """
    check_about(about)
    examples, labels = known.examples, known.regions.labels
    is_same = (about["width"], about["dtype"]) == (examples.given.shape[1], examples.given.dtype)
    if not is_same or "memory" in update.shared or labels != about["labels"][: len(labels)]:
        raise NotAnUpdateError
    ids, _, _, corrected = update.examples
    d = check_shared(about, update.shared, examples.codec, examples.width)
    check_examples(about, update.examples, examples.codec)
    gone = _known_places(examples, update.gone)
    had = dict(known.corrected)
    for each in (*known.names(gone), *ids):
        had.pop(each, None)
    had |= corrected
    examples = _updated_examples(examples.without(gone) if len(gone) else examples, update)
    examples = examples.numbered_from(about["next_key"])  # the last ones may be gone already
    if 2 * examples.count < examples.end - LEAST:
        raise NotAnUpdateError  # most are gone: reading numbers them anew
    if "hats" in update.shared:
        examples = examples.expanded_by(_expansion(update.shared["hats"]))
    expect(examples.width == d, "width")
    is_new = len(ids) or len(update.gone) or labels != about["labels"]
    regions = _regions(about["labels"], examples) if is_new else known.regions
    known = known.replaced(examples=examples, regions=regions, corrected=had)
    return _finished(known, about, update)


def _updated_examples(examples: Examples, update: Update) -> Examples:
    ids, columns, rows, _ = update.examples
    first = len(ids) - len(rows)
    old = places_of(examples, columns.keys[:first])
    if not np.array_equal(examples.digests[old], columns.digests[:first]):
        raise NotAnUpdateError  # rows have changed
    if len(old):
        expect([examples.ids[place] for place in old.tolist()] == ids[:first], "ids")
        examples = copy.copy(examples)
        for name in ("regions", "weights", "times", "serials"):
            column = getattr(examples, name).copy()
            column[old] = getattr(columns, name)[:first]
            setattr(examples, name, column)
    for n in range(first, len(ids)):
        expect(examples.place_of(ids[n]) is None, "ids")
        about = About(float(columns.weights[n]), float(columns.times[n]), int(columns.serials[n]))
        examples = examples.numbered_from(int(columns.keys[n]))
        examples = examples.appended(rows[n - first], int(columns.regions[n]), ids[n], about)
    return examples


def _finished(known: State, about: Any, update: Update) -> State:
    # A state that has its examples, regions and corrections; the rest is in the records.
    examples, owner = known.examples, known.regions.order.owner
    base, scores, changed = known.separators, known.separators.scores, dict[int, Separator]()
    if update.shared.get("scores"):
        scores = _scores(update.shared["scores"])
    elif not about["choice"]["lda_prior"]:
        scores = ClassScores.zero(owner, examples.width)
    expect(len(scores.V) == len(owner), "scores")
    if base.W.shape[1] != examples.width:
        base, changed = Separators(scores), dict(base.records)
    lists = check_separators(update.separators, examples, owner, scores.near)
    changed |= _separators(update.separators, lists, examples)
    gone = [pair for pair in update.gone_pairs if pair < len(scores.scale)]
    changed |= {pair: with_prior(None, pair, scores) for pair in gone}
    frame = _frame(known.frame, about, update.shared, examples)
    separators = base.replaced(changed, scores)
    _complete(separators, frame, examples)
    old = [known.separators.misfits(pair) for pair in changed]
    new = [separators.misfits(pair) for pair in changed]
    examples = _with_violations(examples, old, new)
    return known.replaced(
        settings=Settings(**about["settings"]),
        examples=examples,
        separators=separators,
        listed=listed_in(examples),
        frame=frame,
        widths=Widths(*about["widths"]),
        next_id=about["next_id"],
        taught=about["taught"],
        consolidated=about["consolidated"],
        last_move=None,
    )


def _scores(arrays: Arrays) -> ClassScores:
    by_name: dict[str, Any] = {name: arrays[name] for name in SCORES}
    near = int(arrays["near_classes"][0]) or None
    return ClassScores(**by_name, within=float(arrays["within"][0]), near_classes=near)


def _complete(separators: Separators, frame: Frame, examples: Examples) -> None:
    # Near pairs have weights, and no others; kernels need the images of all support vectors.
    near = np.flatnonzero(separators.scores.near)
    records = separators.records.items()
    expect(sorted(pair for pair, each in records if not each.is_far) == near.tolist(), "near")
    used = [each.pool.places for _, each in records if each.is_far]
    places = np.unique(np.concatenate([NO_PLACES, *used]))
    if len(places):
        frame.images.of(examples.table, places)


def _with_violations(examples: Examples, old: list[Ints], new: list[Ints]) -> Examples:
    fewer, more = np.concatenate([NO_PLACES, *old]), np.concatenate([NO_PLACES, *new])
    if not len(fewer) and not len(more):
        return examples
    twin = copy.copy(examples)
    twin.violations = examples.violations.copy()
    np.add.at(twin.violations, fewer, -1)
    np.add.at(twin.violations, more, 1)
    return twin


def _known_places(examples: Examples, keys: Ints) -> Ints:
    # The places of stored examples; keys of others are left out.
    known = examples.keys[: examples.end]
    return np.flatnonzero(np.isin(known, keys) & examples.stored[: examples.end])


def _regions(labels: list[Label], examples: Examples) -> Regions:
    order = examples.places()
    small = np.uint16 if len(labels) < 2**16 else np.int64  # sorted faster
    order = order[np.argsort(examples.regions[order].astype(small), kind="stable")]
    bounds = np.searchsorted(examples.regions[order], np.arange(len(labels) + 1)).tolist()
    expect(all(start < end for start, end in pairwise(bounds)), "members")
    return Regions(labels, [Members(order[start:end]) for start, end in pairwise(bounds)])


def _expansion(arrays: Arrays) -> Any:
    expansion = NO_EXPANSION
    if "of" in arrays:
        expansion = expansion._replace(**{name: arrays[name] for name in HATS})
    if "missing.fill" in arrays:
        missing = {field: arrays[f"missing.{name}"] for name, field in MISSING.items()}
        expansion = expansion._replace(**missing)
    return expansion


def _frame(known: Frame, about: Any, parts: Mapping[str, Arrays], examples: Examples) -> Frame:
    moments, geometry, images = known.moments, known.geometry, known.images
    d = examples.width
    sums = (moments.shift, moments.counts, moments.sums, moments.squares)
    if "sums" in parts:
        arrays = parts["sums"]
        sums = (arrays["shift"], arrays["counts"], arrays["rows"], arrays["squares"])
    if "metric" in parts:
        K = _whole("K", parts["metric"], d)
        assert K is not None
        precision = _whole("precision", parts["metric"], d)
        share = float(parts["metric"]["share"][0])
        geometry = Geometry(parts["metric"]["origin"], K, precision, share)
    if geometry is not known.geometry:
        images = Images(geometry)
    at = about["schedule"]
    schedule = Schedule(*(_tupled(at[name]) for name in Schedule._fields))
    # The scatter is not stored: the next refresh computes it from the rows.
    is_exact, is_stale = about["exact_sums"], about["stale_sums"]
    moments = RunningMoments(*sums, seen=about["seen"], exact=is_exact, stale=is_stale)
    return Frame(Choice(**about["choice"]), geometry, moments, schedule, images.fork())


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _separators(
    records: Mapping[int, SeparatorRecord], lists: Mapping[str, list[Ints]], examples: Examples
) -> dict[int, Separator]:
    # `lists` has the places of the examples that the records name, in the order of the records.
    found: dict[int, Separator] = {}
    lows, _ = regions_of_all(np.array(list(records), dtype=np.int64))
    named = zip(records.items(), lows.tolist(), *lists.values(), strict=True)
    for (pair, record), low, misfits, pending, pool in named:
        arrays = record.arrays
        signs = np.where(examples.regions[pool] == low, 1.0, -1.0)
        rows = Pool.restored(NO_PRIOR, pool, signs, arrays["alpha"], arrays["idle"])
        bounds = Bounds(*arrays["bounds"].tolist()) if "bounds" in arrays else Bounds()
        left = int(arrays["left"][0])
        found[pair] = Separator(record.w, record.b, rows, misfits, pending, left, bounds)
    return found


def _half(name: str, A: Floats) -> Arrays:
    # A metric as a named array: a diagonal, or the lower half. The other half is the same but for
    # rounding.
    if A.ndim == 1:
        return {name: A}
    return {f"{name}.lower": np.concatenate([A[i, : i + 1] for i in range(len(A))])}


def _whole(name: str, arrays: Arrays, n: int) -> Floats | None:
    half = arrays.get(f"{name}.lower")
    if half is None:
        return arrays.get(name)
    whole, start = np.zeros((n, n)), 0
    for i in range(n):
        whole[i, : i + 1] = whole[: i + 1, i] = half[start : start + i + 1]
        start += i + 1
    return whole
