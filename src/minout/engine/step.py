"""The steps: teach, relabel, forget. Each reads a state and returns a change of it."""

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.engine.draft import Draft
from minout.engine.examples import About
from minout.engine.frame import chosen, divided, expansion_of, measured, next_priors
from minout.engine.heap import trim_heap
from minout.engine.images import Images
from minout.engine.pool import Pool
from minout.engine.prediction import winners
from minout.engine.reference import Reference
from minout.engine.reports import Certificate, Refresh
from minout.engine.separators import (
    SUFFICIENT_MARGIN,
    carried,
    pair_count,
    pair_number,
    pairs_between,
    regions_of,
)
from minout.engine.settle import Job
from minout.engine.state import Delta, State
from minout.errors import NotConverged

LOST = 1e-6
"""If less than this is left of the weights in a sum, its rounding errors are too large a part."""


class New(NamedTuple):
    """An example to learn."""

    x: Floats
    label: Label
    id: Id
    about: About


def renewal_due(state: State, c: int | None) -> bool:
    """Return whether one more example in region c brings a refresh or priors.

    None stands for the region of a new label.
    """
    settings, schedule = state.settings, state.frame.schedule
    if len(state.regions.names) == (c is not None):  # with a single label there is no separator
        return False
    if _refresh_due(state, c):
        return True
    if c is None and settings.turns_far(len(state.regions) + 1):
        return True
    if c is None or not state.frame.choice.lda_prior:
        return False
    return schedule.priors_due(settings, c, state.regions.members[c].count + 1)


def _refresh_due(state: State, c: int | None) -> bool:
    own = 1 if c is None else 1 + state.regions.size(state.regions.labels[c])
    largest = max(state.regions.largest, own)
    return state.frame.schedule.refresh_due(state.settings, len(state.place_of) + 1, largest)


def teach(
    state: State,
    x: Floats,
    label: Label,
    example_id: Id,
    next_id: int | None = None,
    *,
    weight: float = 1.0,
    time: float = 0.0,
) -> Delta:
    """Return the change that learns a row x (d,) under a label.

    Parameters
    ----------
    state : State
        The present state; it is only read.
    x : ndarray of shape (d,)
        A row of the state's dtype.
    label, example_id : int or str
        Its label, and an id that is not in use.
    next_id : int, optional
        The number from which the next free id is searched from now on.
    weight, time : float
        Its weight, and when it happened.

    Raises
    ------
    NotConverged
        If a separator cannot be solved in double precision.
    """
    new = New(x, label, example_id, About(weight, time, state.taught))
    delta, was_right = _learned(state, new)
    delta = delta._replace(next_id=next_id, taught=state.taught + 1, was_right=was_right)
    return _with_sums(state, delta)


@kernels.one_blas_thread()
def relabel(state: State, place: int, label: Label, weight: float | None = None) -> Delta:
    """Return the change that gives a stored example another label, and another weight if given."""
    if weight is None:
        weight = float(state.examples.weights[place])
    try:
        return _relabelled(state, place, label, weight)
    except NotConverged:  # a refresh that fails is postponed
        return _relabelled(state, place, label, weight, put_off=True)


def _relabelled(
    state: State, place: int, label: Label, weight: float, *, put_off: bool = False
) -> Delta:
    old = int(state.examples.regions[place])
    is_alone, is_same = state.regions.members[old].count == 1, state.label_at(place) == label
    emptied = [old] if is_alone and not is_same else []
    found = old if is_same else state.placed(state.examples.table[place], label)[0]
    draft = Draft(state, emptied=emptied, label=label)
    c, one = len(draft.labels) - 1 if found is None else draft.number(found), np.array([place])
    _take_out(draft, one, emptied)
    left = draft.leave(one)
    draft.relabel(place, c)
    draft.weigh(place, weight)
    if len(draft.labels) == 1 and draft.far is not None:  # it knows no region of this label
        draft.replace_all(None)
    moments = draft.frame.moments.for_classes(len(draft.labels))
    seen = one[one < moments.seen]
    table, weights = state.examples.table, draft.examples.weights
    moments = moments.with_rows(table, weights, seen, np.full(len(seen), c))
    draft.frame = draft.frame._replace(moments=moments)
    draft.settle(_jobs_of(draft, left), SUFFICIENT_MARGIN)
    if put_off:
        _put_off(draft)
    return draft.delta(_settle_around(draft, place, c, at_once=True, may_refresh=not put_off))


@kernels.one_blas_thread()
def forget(state: State, places: Ints) -> Delta:
    """Return the change that removes examples, at ascending places."""
    regions, counts = np.unique(state.examples.regions[places], return_counts=True)
    emptied = [
        c
        for c, count in zip(regions.tolist(), counts.tolist(), strict=True)
        if state.regions.members[c].count == count
    ]
    draft = Draft(state, emptied=emptied)
    _take_out(draft, places, emptied)
    moments = draft.frame.moments.without_scatter_of(places)
    draft.frame = draft.frame._replace(moments=moments)
    left = draft.leave(places)
    draft.remove(places)
    draft.settle(_jobs_of(draft, left), SUFFICIENT_MARGIN)
    return draft.delta()


@kernels.one_blas_thread()
def settle_pending(state: State) -> Delta:
    """Return the change that settles every separator with pending examples."""
    draft, known = Draft(state), pair_count(len(state.regions))
    pending = state.separators.pending.items()
    pairs = [pair for pair, places in pending if len(places) and pair < known]
    draft.settle(_jobs_of(draft, pairs), SUFFICIENT_MARGIN)
    return draft.delta()


def settle_all(draft: Draft, bound: float, old: dict[int, Pool]) -> None:
    """Settle every separator again, from support vectors and new priors.

    `old` has a pool with the support vectors of each pair for which there are some.
    """
    near_classes = draft.state.settings.near(len(draft.labels), draft.frame.choice)
    if near_classes is not None or draft.far is not None:
        draft.replace_all(near_classes)
    start = draft.starts()
    settled = {pair for pair, pool in old.items() if (pool.alpha > 0.0).any()}
    low = {} if draft.far is None else draft.low_anywhere(settled, bound)
    jobs = []
    for pair in _pairs_to_settle(draft, old, low):
        a, b = regions_of(pair)
        prior = start(a, b)
        pool = Pool(prior)
        if pair in old:
            pool = old[pair].support(prior)
        if pair in low:
            pool.join(*low[pair])
        if not len(pool.places):
            if draft.is_far(a, b):
                continue
            firsts = [draft.members(c).places[0] for c in (a, b)]
            pool.join(np.array(firsts), np.array([1.0, -1.0]))
        jobs.append(draft.job(pair, pool, Reference()))
    if jobs:
        images = draft.frame.images.fork()
        images.of(draft.examples.table, np.unique(np.concatenate([j.pool.places for j in jobs])))
        draft.frame = draft.frame._replace(images=images)
    draft.settle(jobs, bound)
    schedule = draft.frame.schedule.refreshed(draft.count, draft.largest)
    draft.set_schedule(
        refresh_at=schedule.refresh_at,
        prior_at=tuple(next_priors(draft.members(c).count) for c in range(len(draft.labels))),
    )


def _pairs_to_settle(draft: Draft, old: Iterable[int], low: Iterable[int]) -> list[int]:
    if draft.far is None:
        return pairs_between(draft.owner)
    first, second = draft.far.near_pairs()
    return sorted({*(second * (second - 1) // 2 + first).tolist(), *old, *low})


def _learned(state: State, new: New) -> tuple[Delta, bool | None]:
    # The change, and whether the state gives the row its label before.
    c, margins = state.placed(state.expanded(new.x[None])[0], new.label)
    least, was_right = float(margins.min(initial=np.inf)), None
    if c is not None:
        was_right = least > 0.0 or _winner(state, new.x) == new.label
    if c is not None and not renewal_due(state, c) and least >= SUFFICIENT_MARGIN:
        return _stored(state, new, c, least), was_right
    with kernels.one_blas_thread():
        try:
            return _taught(state, new, c, margins), was_right
        except NotConverged:
            turns_far = c is None and state.settings.turns_far(len(state.regions) + 1)
            if not (turns_far or _refresh_due(state, c)):
                raise
        # A refresh that fails is postponed; the example is learned without it.
        return _taught(state, new, c, margins, put_off=True), was_right


def _winner(state: State, x: Floats) -> Label:
    return state.regions.labels[int(winners(state, x[None]).regions[0])]


def _with_sums(state: State, delta: Delta) -> Delta:
    # Add rows to the sums of the metric in blocks, so that a refresh need not add all of them.
    examples, frame = delta.examples or state.examples, delta.frame or state.frame
    moments, settings = frame.moments, state.settings
    if not (frame.choice.whiten and settings.refresh == "auto" and moments.lacks(examples.end)):
        return delta
    regions = state.regions if delta.all_regions is None else delta.all_regions
    places, count = examples.places(), len(regions) + (delta.label is not None)
    late = places[places >= moments.seen]
    with kernels.one_blas_thread():
        moments = moments.for_classes(count)
        table, weights = examples.table, examples.weights
        moments = moments.with_rows(table, weights, late, examples.regions[late])
        moments = moments.seen_to(examples.end).with_scatter(table, weights, places)
    return delta._replace(frame=frame._replace(moments=moments))


def _stored(state: State, new: New, c: int, least: float) -> Delta:
    # The fast path: all margins of the row are large enough, so nothing moves.
    place, examples = state.examples.end, state.examples.staged(new.x, c, new.about)
    digest = int(examples.digests[place])
    misfits = (new.id,) if digest in state.separators.listed else ()
    return Delta(
        certificate=Certificate((), 0, least, misfits, ()),
        examples=examples,
        added=new.id,
        members={c: state.regions.members[c].appended(place)},
    )


def _taught(
    state: State, new: New, c: int | None, margins: Floats, *, put_off: bool = False
) -> Delta:
    # Region c of the label, None for a new one, with the margins that the row has in it.
    draft = Draft(state, label=new.label)
    if not len(state.regions):
        draft.begin(new.x)
    if put_off:
        _put_off(draft)
    if c is None:
        place = draft.add(new.x, len(draft.labels) - 1, new.id, new.about)
        refresh = _settle_around(draft, place, len(draft.labels) - 1, may_refresh=not put_off)
    else:
        place = draft.add(new.x, c, new.id, new.about)
        refresh = _settle_around(draft, place, c, margins, may_refresh=not put_off)
    return draft.delta(refresh)


def _put_off(draft: Draft) -> None:
    examples, others = draft.frame.schedule.refresh_at
    draft.set_schedule(refresh_at=(2 * examples, 2 * others))


def _take_out(draft: Draft, places: Ints, emptied: list[int]) -> None:
    # Subtract rows from the sums, under the regions that they have in the state.
    state, moments = draft.state, draft.frame.moments
    seen = places[places < moments.seen]
    regions = state.examples.regions[seen]
    table, weights, before = state.examples.table, state.examples.weights, moments.counts
    moments = moments.with_rows(table, weights, seen, regions, -1.0)
    if _are_lost(before, moments.counts, emptied):
        kept = state.examples.places()
        kept = kept[(kept < moments.seen) & ~np.isin(kept, places)]
        regions = state.examples.regions[kept]
        moments = moments.regrouped(table, weights, kept, regions, len(before))
    if emptied:
        moments = moments.only_classes([c for c in range(len(state.regions)) if c not in emptied])
    draft.frame = draft.frame._replace(moments=moments)


def _are_lost(before: Floats, after: Floats, emptied: list[int]) -> bool:
    # Whether what is left of the sums is too small a part of them to be exact.
    left = np.delete(after < LOST * before, [c for c in emptied if c < len(before)])
    return bool(left.any() or after.sum() < LOST * before.sum())


def _jobs_of(draft: Draft, pairs: list[int]) -> list[Job]:
    return [draft.job_from(pair, draft.separator(pair)) for pair in sorted(pairs)]


def _settle_around(
    draft: Draft,
    place: int,
    c: int,
    margins: Floats | None = None,
    *,
    at_once: bool = False,
    may_refresh: bool = True,
) -> Refresh | None:
    # Settle the separators in which a new member has a low margin, now or when it pays, or all if
    # a refresh is due.
    if not draft.others(c):
        return None
    settings, is_new = draft.state.settings, draft.members(c).count == 1
    turns_far = is_new and settings.turns_far(len(draft.labels))
    due = turns_far or _is_refresh_due_after(draft)
    if due and may_refresh:
        return _refresh(draft, begins_far=turns_far)
    if draft.far is not None and (is_new or _priors_due(draft, c)):
        _renew(draft, place, c)
        return None
    if margins is None:
        margins = draft.margins(draft.examples.table[place], c)
    renewed = _renew_priors(draft, c)
    jobs, start = [], None
    others = draft.others(c)
    if draft.far is not None:
        others = np.flatnonzero(margins < SUFFICIENT_MARGIN).tolist()
    for o in others:
        pair = pair_number(c, o)
        short = margins[o] < SUFFICIENT_MARGIN
        old = draft.separator(pair)
        fresh = draft.is_new(pair)
        if not (short or renewed or fresh):
            continue
        rows = draft.members(c).count + draft.members(o).count
        if not (at_once or renewed or fresh or old.is_far) and old.waits(margins[o], rows):
            draft.postpone(pair, place, margins[o])
            continue
        job = draft.job_from(pair, old)
        if renewed or fresh:
            start = start or draft.starts()
            job.pool.restart(start(job.low, job.high))
        if (short or fresh) and place not in job.pool.places:
            job.pool.join(np.array([place]), np.array([1.0 if c < o else -1.0]))
        jobs.append(job)
    draft.settle(jobs, SUFFICIENT_MARGIN)
    return None


def _is_refresh_due_after(draft: Draft) -> bool:
    settings, schedule = draft.state.settings, draft.frame.schedule
    least = draft.state.regions.largest - 1  # the largest label has lost one example at most
    if not schedule.refresh_due(settings, draft.count, least):
        return False
    return schedule.refresh_due(settings, draft.count, draft.largest)


def _renew_priors(draft: Draft, c: int) -> bool:
    # Return whether the priors of region c are due; if so, or if it is new, update the sums.
    if not draft.frame.choice.lda_prior or draft.far is not None:
        return False
    due = _priors_due(draft, c)
    if due or draft.members(c).count == 1:
        _set_next_priors(draft, c)
        draft.catch_up()
    return due


def _priors_due(draft: Draft, c: int) -> bool:
    count = draft.members(c).count
    return draft.frame.schedule.priors_due(draft.state.settings, c, count)


def _set_next_priors(draft: Draft, c: int) -> None:
    count, prior_at = draft.members(c).count, draft.frame.schedule.prior_at
    draft.set_schedule(prior_at=(*prior_at[:c], next_priors(count), *prior_at[c + 1 :]))


def _renew(draft: Draft, place: int, c: int) -> None:
    # With far pairs: a new discriminant of region c, and what follows from it.
    _set_next_priors(draft, c)
    row = draft.renew(c)
    low = draft.low_around(SUFFICIENT_MARGIN)
    others = np.flatnonzero(row.near | draft.supported(c)).tolist()
    jobs, start = [], draft.starts()
    for pair in sorted({*(pair_number(c, o) for o in others), *low}):
        job = draft.job_from(pair, draft.separator(pair))
        job.pool.restart(start(job.low, job.high))
        if pair in low:
            job.pool.join(*low[pair])
        if not len(job.pool.places) and not draft.is_far(job.low, job.high):
            job.pool.join(np.array([place]), np.array([1.0 if c == job.low else -1.0]))
        jobs.append(job)
    draft.settle(jobs, SUFFICIENT_MARGIN)


def _refresh(draft: Draft, *, begins_far: bool) -> Refresh:
    start, settings = time.perf_counter(), draft.state.settings
    draft.catch_up()
    rows, owner, frame = draft.rows(), draft.owner, None
    labels = len(set(owner.tolist()))
    # Far pairs need the prior, so settings without it are not to stay.
    if begins_far or draft.frame.schedule.choice_due(draft.count, labels, draft.largest):
        frame = chosen(draft.frame, settings, draft.examples.given, rows, owner)
        draft.frame = frame or draft.frame
    trim_heap()  # each of these steps needs much memory, not at the same time
    old = draft.supports()
    if draft.frame.choice.hats or len(draft.examples.expansion.of):
        draft.expand(expansion_of(draft.frame, draft.examples))
        rows = draft.rows()
    draft.frame = measured(draft.frame, rows, owner)
    if draft.frame.choice.regions > 1 or labels < len(owner):
        numbers, members = divided(draft.frame, rows, owner)
        names = sorted(set(draft.labels))
        draft.regroup([names[n] for n in numbers], members)
        old = carried(old, rows.order, rows.regions, draft.rows().regions)
    if settings.near(len(draft.labels), draft.frame.choice) is not None:  # exact images
        images = Images(draft.frame.geometry, np.dtype(np.float64))
        draft.frame = draft.frame._replace(images=images)
    trim_heap()
    draft.state.separators.drop_products()  # a cache for the old metric: free its memory now
    settle_all(draft, SUFFICIENT_MARGIN, old)
    return Refresh(time.perf_counter() - start, draft.frame.choice, frame is not None)
