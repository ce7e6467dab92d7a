"""Convert a state to records for a file, and back; caches are left out.

Records name examples by their keys, which never change, not by their places. Everything that is
read is checked (`core/validation.py`) before a state is made of it.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.codecs import ExactCodec, described
from minout.core.examples import About, Columns, Examples
from minout.core.frame import Frame
from minout.core.images import Images
from minout.core.misfits import counts_after, listed_in
from minout.core.moments import RunningMoments
from minout.core.regions import NO_PLACES, Members, Regions, regions_of_all
from minout.core.scores import ClassScores
from minout.core.separators import NO_WEIGHTS, Bounds, Separator, Separators, empty_separator
from minout.core.state import State, Widths
from minout.core.validation import (
    SHAPES,
    Arrays,
    Facts,
    SeparatorRecord,
    check_arrays,
    check_examples,
    check_shared,
    coded_with,
    expect,
    places_of,
)
from minout.kernels import Pool
from minout.maths import Expansion, Geometry

SHARED = ("sums", "metric", "hats", "scores", "memory")
"""The parts of a state that all separators, or all rows, share; see `shared`."""
LEAST = 64  # up to so many places of forgotten examples are left as they are


class Update(NamedTuple):
    """What changed since an earlier state, or all of a state: records, and keys of those gone.

    Examples are in the order of their keys, with the earlier labels of those that have some; `rows`
    are those of the new ones, which are the last ones.
    """

    ids: list[Id]
    columns: Columns
    rows: NDArray[Any]
    corrected: dict[Id, tuple[Label, ...]]
    separators: Mapping[int, SeparatorRecord]
    shared: Mapping[str, Arrays]
    gone: Ints = NO_PLACES
    gone_pairs: Sequence[int] = ()


class NotAnUpdateError(Exception):
    """Too much has changed: all records must be read."""


# From a state


def facts_of(state: State) -> Facts:
    """Return what JSON says of a state; it does not grow with the examples."""
    moments, examples, memory = state.frame.moments, state.examples, None
    if examples.codec is not None:
        memory = {**described(examples.codec)[0], "dtype": examples.dtype.name}
    return Facts(
        settings=state.settings,
        labels=state.regions.labels,
        memory=memory,
        choice=state.frame.choice,
        schedule=state.frame.schedule,
        widths=(state.widths.given, state.widths.row),
        width=examples.given.shape[1],
        dtype=examples.given.dtype.name,
        seen=moments.seen,
        exact_sums=moments.exact,
        stale_sums=moments.stale,
        consolidated=state.consolidated,
        next_key=examples.next_key,
        next_id=state.next_id,
        taught=state.taught,
    )


def shared(state: State) -> dict[str, dict[str, Any]]:
    """Return the values of the parts that all share: if they are the same objects, so is a part."""
    (origin, K, precision, share), moments = state.frame.geometry, state.frame.moments
    scores, codec = state.separators.scores, state.examples.codec
    has_scores = state.choice.lda_prior and len(scores.V)
    return {
        "sums": {name: getattr(moments, name) for name in SHAPES["sums"]},
        "metric": {
            "origin": origin,
            "K": K,
            "precision": NO_WEIGHTS if precision is None else precision,
            "share": share,
        },
        "hats": state.examples.expansion._asdict(),
        "scores": {name: getattr(scores, name) for name in SHAPES["scores"] if has_scores},
        "memory": {} if codec is None else described(codec)[1],
    }


def arrays_of(part: str, values: Mapping[str, Any]) -> Arrays:
    """Return the values of a part as arrays; of a metric the lower half, as it is symmetric."""
    if part == "metric":
        return {name: _half(np.asarray(each)) for name, each in values.items()}
    return {name: np.asarray(0 if each is None else each) for name, each in values.items()}


def separator_record(state: State, pair: int) -> SeparatorRecord:
    """Return what is stored for a pair."""
    one, keys = state.separators.records[pair], state.examples.keys
    arrays = {
        "pool": keys[one.pool.places],
        "alpha": one.pool.alpha,
        "idle": one.pool.idle,
        "misfits": keys[one.misfits],
        "pending": keys[one.pending],
        "left": np.array(one.left),
        "bounds": np.array(() if state.separators.scores.near[pair] else one.bounds),
    }
    return SeparatorRecord(one.w, one.b, arrays)


def support_size(state: State, pair: int) -> int:
    """Return the number of support vectors of a pair."""
    return int(np.count_nonzero(state.separators.support_of(pair).alpha > 0.0))


# To a state


@kernels.one_blas_thread()
def restored(
    known: State | None, facts: Facts, update: Update, own: ExactCodec | None = None
) -> State:
    """Return the state that all records describe, or those that changed since a known state.

    The latter takes time in proportion to the changes. `own` is the codec of the rows if it is the
    user's own, which is not saved. Raises MalformedError if the records describe no state, and
    NotAnUpdateError if all of them are needed.
    """
    if known is None:
        codec, d = coded_with(facts, update.shared["memory"], own), None
    else:
        _require_alike(known, facts, update)
        codec, d = known.examples.codec, known.examples.width
    d = check_shared(facts, update.shared, codec, d)
    check_examples(facts, update.columns, update.rows, update.corrected, codec)
    corrected = dict(update.corrected)
    if known is None:
        examples = _all_examples(facts, update, codec)
    else:
        gone = _known_places(known.examples, update.gone)
        again = {*known.names(gone), *update.ids}
        corrected |= {id: had for id, had in known.corrected.items() if id not in again}
        examples = _updated_examples(known.examples, gone, update)
    examples = examples.numbered_from(facts.next_key)  # the last ones may be gone already
    if known is not None and 2 * examples.count < examples.end - LEAST:
        raise NotAnUpdateError  # most are gone: reading numbers them anew
    if "hats" in update.shared:
        examples = examples.expanded_by(Expansion(**update.shared["hats"]))
    expect(examples.width == d, "width")
    if known is None:
        known = State(facts.settings, examples.width, examples.dtype, codec)
    is_same = not len(update.ids) and not len(update.gone) and known.regions.labels == facts.labels
    regions = known.regions if is_same else _regions(facts.labels, examples)
    known = known.replaced(examples=examples, regions=regions, corrected=corrected)
    return _finished(known, facts, update)


def _require_alike(known: State, facts: Facts, update: Update) -> None:
    examples, labels = known.examples, known.regions.labels
    is_same = (facts.width, facts.dtype) == (examples.given.shape[1], examples.given.dtype.name)
    if not is_same or "memory" in update.shared or labels != facts.labels[: len(labels)]:
        raise NotAnUpdateError


def _all_examples(facts: Facts, update: Update, codec: ExactCodec | None) -> Examples:
    ids, columns, rows = update[:3]
    expect(len(np.unique(columns.serials)) == len(ids), "serial")
    dtype = facts.dtype if codec is None else facts.memory["dtype"]
    examples = Examples.of(rows, ids, columns, codec, dtype)
    expect(len(examples.places_of_ids) == len(ids), "ids")
    return examples


def _updated_examples(known: Examples, gone: Ints, update: Update) -> Examples:
    ids, columns, rows, *_ = update
    examples, first = known.without(gone), len(ids) - len(rows)
    old = places_of(examples, columns.keys[:first])
    if not np.array_equal(examples.digests[old], columns.digests[:first]):
        raise NotAnUpdateError  # rows have changed
    expect([examples.ids[place] for place in old.tolist()] == ids[:first], "ids")
    for name in ("regions", "weights", "times", "serials") if len(old) else ():
        column = getattr(examples, name).copy()
        column[old] = getattr(columns, name)[:first]
        setattr(examples, name, column)
    for n in range(first, len(ids)):
        expect(examples.place_of(ids[n]) is None, "ids")
        about = About(float(columns.weights[n]), float(columns.times[n]), int(columns.serials[n]))
        examples = examples.numbered_from(int(columns.keys[n]))
        examples = examples.appended(rows[n - first], int(columns.regions[n]), ids[n], about)
    return examples


def _known_places(examples: Examples, keys: Ints) -> Ints:
    # The places of stored examples; keys of others are left out.
    if not len(keys):
        return NO_PLACES
    known = examples.keys[: examples.end]
    return np.flatnonzero(np.isin(known, keys) & examples.stored[: examples.end])


def _finished(known: State, facts: Facts, update: Update) -> State:
    # A state that has its examples, regions and corrections; the rest is in the records.
    examples, owner = known.examples, known.regions.order.owner
    base, scores, changed = known.separators, known.separators.scores, dict[int, Separator]()
    if update.shared.get("scores"):
        arrays: dict[str, Any] = dict(update.shared["scores"])
        near = int(arrays["near_classes"]) or None
        scores = ClassScores(**arrays | {"within": float(arrays["within"]), "near_classes": near})
    elif not facts.choice.lda_prior:
        sizes = [len(each.w) for each in update.separators.values()] or [scores.has_weights]
        scores = ClassScores.zero(owner, examples.width, has_weights=any(sizes))
    expect(len(scores.V) == len(owner), "scores")
    if base.W.shape[1] != examples.width:
        base, changed = Separators(scores), dict(base.records)
    changed |= _separators(update.separators, examples, owner, scores)
    gone = [pair for pair in update.gone_pairs if pair < len(scores.scale)]
    changed |= {pair: empty_separator(pair, scores) for pair in gone}
    frame = _frame(known.frame, facts, update.shared)
    separators = base.replaced(changed, scores)
    _complete(separators, frame, examples)
    old = [known.separators.misfits(pair) for pair in changed]
    new = [separators.misfits(pair) for pair in changed]
    examples = examples.violating(*counts_after(known, old, new))
    return known.replaced(
        settings=facts.settings,
        examples=examples,
        separators=separators,
        listed=listed_in(examples),
        frame=frame,
        widths=Widths(*facts.widths),
        next_id=facts.next_id,
        taught=facts.taught,
        consolidated=facts.consolidated,
        last_move=None,
    )


def _complete(separators: Separators, frame: Frame, examples: Examples) -> None:
    # Near pairs have weights, and no others; kernels need the images of all support vectors.
    scores, records = separators.scores, separators.records.items()
    near, far = (np.flatnonzero(each).tolist() for each in (scores.near, ~scores.near))
    with_weights = sorted(pair for pair, each in records if not each.is_far)
    expect(with_weights == (near if scores.has_weights else []), "near")
    expect(separators.records.keys() >= {*near}, "near")
    used = [separators.records[pair].pool.places for pair in far if pair in separators.records]
    places = np.unique(np.concatenate([NO_PLACES, *used]))
    if len(places):
        frame.images.of(examples.table, places)


def _regions(labels: list[Label], examples: Examples) -> Regions:
    order = examples.places()
    small = np.uint16 if len(labels) < 2**16 else np.int64  # sorted faster
    order = order[np.argsort(examples.regions[order].astype(small), kind="stable")]
    bounds = np.searchsorted(examples.regions[order], np.arange(len(labels) + 1)).tolist()
    expect(all(start < end for start, end in pairwise(bounds)), "members")
    return Regions(labels, [Members(order[start:end]) for start, end in pairwise(bounds)])


def _frame(known: Frame, facts: Facts, parts: Mapping[str, Arrays]) -> Frame:
    # The scatter is not stored: the next refresh computes it from the rows.
    moments, geometry, images = known.moments, known.geometry, known.images
    sums: Any = parts.get("sums") or {name: getattr(moments, name) for name in SHAPES["sums"]}
    if "metric" in parts:
        origin, K, precision, share = (parts["metric"][name] for name in SHAPES["metric"])
        d = len(origin)
        whole = _whole(precision, d) if len(precision) else None
        geometry = Geometry(origin, _whole(K, d), whole, float(share))
        images = Images(geometry)
    is_exact, is_stale = facts.exact_sums, facts.stale_sums
    moments = RunningMoments(**sums, seen=facts.seen, exact=is_exact, stale=is_stale)
    return Frame(facts.choice, geometry, moments, facts.schedule, images.fork())


def _separators(
    records: Mapping[int, SeparatorRecord], examples: Examples, owner: Ints, scores: ClassScores
) -> dict[int, Separator]:
    # owner[c] is the number of the label of region c.
    pairs, found, near = np.array([*records], dtype=np.int64), dict[int, Separator](), scores.near
    expect(bool((pairs < len(near)).all()), "pair")
    low, high = regions_of_all(pairs)
    expect(bool((owner[low] != owner[high]).all()), "pair")
    for record in records.values():
        check_arrays("separator", record.arrays, {})
    named = ("misfits", "pending", "pool")
    lists = [_listed(records, name, examples, (low, high)) for name in named]
    for pair, c, misfits, pending, pool in zip(pairs.tolist(), low.tolist(), *lists, strict=True):
        w, b, arrays = records[pair]
        alpha, idle, left, bounds = (arrays[name] for name in ("alpha", "idle", "left", "bounds"))
        is_near = bool(near[pair])
        sizes = (examples.width * scores.has_weights, 0) if is_near else (0, 3)
        expect((len(w), len(bounds)) == sizes and bool(np.isfinite(w).all()), "w")
        expect(bool((alpha >= 0.0).all() and (idle >= 0).all() and left >= 0), "pool")
        expect(not (len(pending) and np.isin(pending, pool).any()), "pending")
        expect(is_near or (not len(pending) and bool((alpha > 0.0).all())), "pool")
        signs = np.where(examples.regions[pool] == c, 1.0, -1.0)
        rows = Pool(pool, signs, alpha, idle)
        found[pair] = Separator(w, b, rows, misfits, pending, int(left), Bounds(*bounds.tolist()))
    return found


def _listed(
    records: Mapping[int, SeparatorRecord],
    name: str,
    examples: Examples,
    regions: tuple[Ints, Ints],
) -> list[Ints]:
    # The places that the records list under a name: examples of their two regions, each once.
    lists = [each.arrays[name] for each in records.values()]
    sizes = [len(each) for each in lists]
    places = places_of(examples, np.concatenate([NO_PLACES, *lists]))
    which = np.repeat(np.arange(len(lists)), sizes)
    expect(len(np.unique(which * max(examples.end, 1) + places)) == len(places), name)
    own = examples.regions[places]
    low, high = (each[which] for each in regions)
    expect(bool(((own == low) | (own == high)).all()), name)
    ends = np.cumsum(sizes).tolist()
    return [places[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _half(A: Floats) -> Floats:
    # The other half is the same but for rounding.
    return A if A.ndim < 2 else A[np.tri(len(A), dtype=bool)]


def _whole(half: Floats, d: int) -> Floats:
    if len(half) == d:
        return half
    whole, lower = np.zeros((d, d)), np.tri(d, dtype=bool)
    whole[lower] = half
    return np.where(lower, whole, whole.T)
