"""The steps: teach, relabel, forget. Each returns the state after it and a certificate."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.core.draft import Draft
from minout.core.examples import About
from minout.core.frame import chosen, divided, expansion_of, measured, next_priors
from minout.core.images import Images
from minout.core.pool import Pool, trim_heap
from minout.core.prediction import winners
from minout.core.regions import among, overlap
from minout.core.reports import NOTHING_MOVED, Certificate, Refresh
from minout.core.separators import (
    NO_PLACES,
    SUFFICIENT_MARGIN,
    carried,
    pair_number,
    pairs_between,
    regions_of,
)
from minout.core.settings import Settings
from minout.core.settle import Job
from minout.core.state import State, Step, compacted
from minout.core.window import falling_out, outside
from minout.errors import NotConverged


class New(NamedTuple):
    """An example to learn; with a codec, x is its code."""

    x: NDArray[Any]
    label: Label
    id: Id
    about: About


def renewal_due(state: State, c: int | None, out: Ints = NO_PLACES) -> bool:
    """Return whether one more example in region c brings a refresh or priors.

    None stands for the region of a new label; `out` are the places that fall out of the window.
    """
    settings, schedule = state.settings, state.frame.schedule
    if len(state.regions.names) == (c is not None):  # with a single label there is no separator
        return False
    if _refresh_due(state, c, out):
        return True
    if c is None and _turns_far(state, out):
        return True
    if c is None or not state.frame.choice.lda_prior:
        return False
    members = state.regions.members[c].count + 1
    if len(out):
        members -= int(np.count_nonzero(state.examples.regions[out] == c))
    return schedule.priors_due(settings, c, members)


def _turns_far(state: State, out: Ints) -> bool:
    # Whether a new label is the one with which far pairs begin.
    return state.settings.turns_far(len(state.regions) + 1 - len(_emptied(state, out)))


def _refresh_due(state: State, c: int | None, out: Ints) -> bool:
    regions, due = state.regions, state.frame.schedule.refresh_due
    own = 1 if c is None else 1 + regions.size(regions.labels[c])
    largest, count = max(regions.largest, own), state.count + 1 - len(out)
    turnover, least = state.turnover + 1 + len(out), largest - len(out)
    if not len(out) or not due(state.settings, turnover, count - least):
        return due(state.settings, turnover, count - least)
    sizes = {label: regions.size(label) for label in regions.names}
    if c is not None:
        sizes[regions.labels[c]] += 1
    for place in out.tolist():
        sizes[state.label_at(place)] -= 1
    return due(state.settings, turnover, count - max(1, *sizes.values()))


def teach(
    state: State,
    x: NDArray[Any],
    label: Label,
    example_id: Id,
    next_id: int | None = None,
    *,
    weight: float = 1.0,
    time: float = 0.0,
) -> Step:
    """Learn a row x (d,), or a code, under a label; the id must not be in use.

    `next_id` is where the next free id is searched from now on. Raises NotConverged if a separator
    cannot be solved in double precision.
    """
    x = state.examples.coded(x[None])[0]
    new = New(x, label, example_id, About(weight, time, state.taught))
    out, is_out = falling_out(state, label, new.about, state.by_age)
    step = _learned(state, new, out, is_out=is_out)
    return _taught_last(state, step, state.next_id if next_id is None else next_id)


def update(state: State, place: int, x: NDArray[Any]) -> Step:
    """Give a stored example another row x (d,), or another code.

    It is forgotten and taught again, last of all, with its id, label, weight and time.
    """
    x, about = state.examples.coded(x[None])[0], state.examples.about(place)
    example_id, label = state.examples.ids[place], state.label_at(place)
    new = New(x, label, example_id, about._replace(serial=state.taught))
    step = _learned(state, new, np.array([place]), may_wait=False)
    certificate = _without_twice(step.certificate)._replace(forgotten=())
    return _taught_last(state, step._replace(certificate=certificate), state.next_id)


def _without_twice(certificate: Certificate) -> Certificate:
    # An example that leaves as a misfit and comes back as one was and is a misfit.
    both = set(certificate.misfits) & set(certificate.cleared)
    return certificate._replace(
        misfits=tuple(each for each in certificate.misfits if each not in both),
        cleared=tuple(each for each in certificate.cleared if each not in both),
    )


def _taught_last(state: State, step: Step, next_id: int) -> Step:
    # The step that taught an example, with the numbers that follow from it.
    new = _with_sums(state, step.state).replaced(
        next_id=next_id,
        taught=state.taught + 1,
        corrected=_still_corrected(state, step.certificate.forgotten),
    )
    place = new.examples.end - 1
    if new.examples.end > state.examples.end:
        new = compacted(new)
        if new.examples.end > place:
            state.followed_by(new, place)
    return step._replace(state=new)


def _still_corrected(state: State, gone: Sequence[Id]) -> dict[Id, tuple[Label, ...]]:
    if not any(each in state.corrected for each in gone):
        return state.corrected
    return {each: had for each, had in state.corrected.items() if each not in gone}


@kernels.one_blas_thread()
def relabel(state: State, place: int, label: Label, weight: float | None = None) -> Step:
    """Give a stored example another label, and another weight if given."""
    if weight is None:
        weight = float(state.examples.weights[place])
    try:
        return _relabelled(state, place, label, weight)
    except NotConverged:  # a refresh that fails is postponed
        return _relabelled(state, place, label, weight, put_off=True)


def _relabelled(
    state: State, place: int, label: Label, weight: float, *, put_off: bool = False
) -> Step:
    one, old = np.array([place]), int(state.examples.regions[place])
    is_same = state.label_at(place) == label
    out, is_out, limits = NO_PLACES, False, state.settings.window
    if not is_same and limits is not None and limits.per_label is not None:
        out, is_out = falling_out(state, label, state.examples.about(place), state.by_age)
    if is_out:  # the new label has enough later ones
        return forget(state, np.sort(np.append(out, place)))
    found = old if is_same else state.placed(state.examples.table[place], label)[0]
    emptied = _emptied(state, np.sort(np.append(out, place)), found)
    draft = Draft(state, emptied=emptied, label=label)
    c = len(draft.labels) - 1 if found is None else draft.number(found)
    draft.drop_sums(NO_PLACES)  # it stays in the scatter, which does not know labels
    left = draft.leave(one)
    draft.relabel(place, c)
    draft.weigh(place, weight)
    if len(draft.labels) == 1 and draft.far is not None:  # it knows no region of this label
        draft.replace_all(None)
    draft.settle(_jobs_of(draft, left), SUFFICIENT_MARGIN)
    left = draft.evict(out)
    if put_off:
        _put_off(draft)
    refresh = _settle_around(draft, place, c, at_once=True, may_refresh=not put_off, left=left)
    step = draft.finish(refresh)
    return step._replace(state=compacted(step.state))


def _emptied(state: State, places: Ints, but: int | None = None) -> list[int]:
    # The regions that have no example when these leave, except one that gets another.
    counts = Counter(state.examples.regions[places].tolist())
    members = state.regions.members
    return [c for c in sorted(counts) if c != but and members[c].count == counts[c]]


@kernels.one_blas_thread()
def forget(state: State, places: Ints) -> Step:
    """Remove the examples at some places, ascending."""
    draft = Draft(state, emptied=_emptied(state, places))
    left = draft.evict(places, may_wait=False)
    draft.settle(_jobs_of(draft, left), SUFFICIENT_MARGIN)
    step = draft.finish()
    return step._replace(state=compacted(step.state))


def rewindow(state: State, settings: Settings) -> Step:
    """Change to other settings, of which only `keep` differs."""
    step = forget(state, outside(state, settings.window))
    corrected = _still_corrected(state, step.certificate.forgotten)
    return step._replace(state=step.state.replaced(settings=settings, corrected=corrected))


@kernels.one_blas_thread()
def settle_pending(state: State) -> Step:
    """Settle every separator with pending examples.

    Also those that support vectors have left since they were settled.
    """
    draft, waiting = Draft(state), state.separators.waiting()
    if not waiting:
        return Step(state, NOTHING_MOVED)
    draft.settle(_jobs_of(draft, waiting), SUFFICIENT_MARGIN)
    return draft.finish()


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
        jobs.append(draft.job(pair, pool))
    if jobs:
        images = draft.frame.images.fork()
        images.of(draft.examples.table, np.unique(np.concatenate([j.pool.places for j in jobs])))
        draft.frame = draft.frame._replace(images=images)
    draft.settle(jobs, bound)
    others = draft.count - draft.largest
    schedule = draft.frame.schedule.refreshed(draft.turnover, draft.count, others)
    draft.set_schedule(
        refresh_at=schedule.refresh_at,
        prior_at=tuple(next_priors(draft.members(c).count) for c in range(len(draft.labels))),
    )


def _pairs_to_settle(draft: Draft, old: Iterable[int], low: Iterable[int]) -> list[int]:
    if draft.far is None:
        return pairs_between(draft.owner)
    first, second = draft.far.near_pairs()
    return sorted({*(second * (second - 1) // 2 + first).tolist(), *old, *low})


def _learned(
    state: State, new: New, out: Ints, *, is_out: bool = False, may_wait: bool = True
) -> Step:
    # The examples at the places `out` leave; `is_out` is whether the new one does not stay, either.
    c, margins = state.placed(state.expanded(new.x[None])[0], new.label)
    least, was_right = float(margins.min(initial=np.inf)), None
    if c is not None:
        was_right = least > 0.0 or _winner(state, new.x) == new.label
    if is_out:
        certificate = NOTHING_MOVED._replace(forgotten=(new.id,))
        unmoved = state.replaced(last_move=None, consolidated=False)
        return Step(unmoved, certificate, was_right=was_right)
    suffices = c is not None and least >= SUFFICIENT_MARGIN and not renewal_due(state, c, out)
    if c is not None and suffices and all(_is_unused(state, place) for place in out.tolist()):
        return _stored(state, new, c, least, out)._replace(was_right=was_right)
    near = Near(c, margins, out, may_wait)
    with kernels.one_blas_thread():
        try:
            return _taught(state, new, near)._replace(was_right=was_right)
        except NotConverged:
            turns_far = c is None and _turns_far(state, out)
            if not (turns_far or _refresh_due(state, c, out)):
                raise
        # A refresh that fails is postponed; the example is learned without it.
        return _taught(state, new, near, put_off=True)._replace(was_right=was_right)


def _is_unused(state: State, place: int) -> bool:
    # Whether an example can leave without a change of its separators; its region has others.
    separators, c = state.separators, int(state.examples.regions[place])
    if state.examples.violations[place] or state.regions.members[c].count < 2:
        return False
    if separators.far is not None:
        return False
    owner = state.regions.order.owner
    others = (o for o in range(len(owner)) if owner[o] != owner[c])
    return not overlap(separators.in_use(c, others), np.array([place]))


def _winner(state: State, x: NDArray[Any]) -> Label:
    return state.regions.labels[int(winners(state, x[None]).regions[0])]


def _with_sums(before: State, state: State) -> State:
    # Add rows to the sums of the metric in blocks, so that a refresh need not add all of them.
    examples, frame = state.examples, state.frame
    moments, settings, taught = frame.moments, state.settings, before.taught + 1
    if not (frame.choice.whiten and settings.refresh == "auto" and moments.lacks(taught)):
        return state
    rows = examples.rows_in(examples.places())
    with kernels.one_blas_thread():
        moments = moments.for_classes(len(state.regions))
        moments = moments.with_rows(rows.since(moments.seen))
        moments = moments.seen_to(taught).with_scatter(rows)
    return state.replaced(frame=frame._replace(moments=moments))


def _stored(state: State, new: New, c: int, least: float, out: Ints) -> Step:
    # The fast path: all margins of the row are large enough, so nothing moves.
    place, frame = state.examples.end, state.frame
    examples = state.examples.appended(new.x, c, new.id, new.about)
    members = {c: state.regions.members[c].appended(place)}
    for leaving in out.tolist():
        region = int(examples.regions[leaving])
        mine = members.get(region, state.regions.members[region])
        members[region] = mine.without(np.array([leaving]))
    if len(out):
        examples = examples.without(out)
        frame = frame._replace(moments=frame.moments.without(examples.serials[out]))
    misfits = (new.id,) if bytes(examples.digests[place]) in state.listed else ()
    after = state.replaced(
        examples=examples,
        regions=state.regions.with_members(members),
        frame=frame,
        last_move=None,
        consolidated=False,
    )
    return Step(after, Certificate((), 0, least, misfits, (), forgotten=state.names(out)))


class Near(NamedTuple):
    """The region c of a new row, None for a new one, and the margins that the row has in it.

    The examples at the places `out` leave the state; `may_wait` is whether separators with many
    support vectors may keep terms of them for now.
    """

    c: int | None
    margins: Floats
    out: Ints
    may_wait: bool


def _taught(state: State, new: New, near: Near, *, put_off: bool = False) -> Step:
    c, margins, out, may_wait = near
    emptied = _emptied(state, out, c)
    draft = Draft(state, emptied=emptied, label=new.label)
    if not len(draft.labels) > 1 and c is None:
        draft.begin(state.examples.read(new.x[None])[0])
    region = len(draft.labels) - 1 if c is None else draft.number(c)
    place = draft.add(new.x, region, new.id, new.about)
    left = draft.evict(out, may_wait=may_wait)
    if put_off:
        _put_off(draft)
    known = None if c is None or emptied else margins
    refresh = _settle_around(draft, place, region, known, may_refresh=not put_off, left=left)
    step = draft.finish(refresh)
    if c is not None and not (step.certificate.moved or step.certificate.pending):
        least = float(draft.margins(draft.examples.table[place], region).min(initial=np.inf))
        step = step._replace(certificate=step.certificate._replace(least_margin=least))
    return step


def _put_off(draft: Draft) -> None:
    draft.set_schedule(**draft.frame.schedule.postponed(draft.turnover, draft.count)._asdict())


def _jobs_of(draft: Draft, pairs: Iterable[int]) -> list[Job]:
    return [draft.job_from(pair, draft.separator(pair)) for pair in sorted(pairs)]


def _settle_around(
    draft: Draft,
    place: int,
    c: int,
    margins: Floats | None = None,
    *,
    at_once: bool = False,
    may_refresh: bool = True,
    left: Sequence[int] = (),
) -> Refresh | None:
    # Settle the separators in which a new member has a low margin, now or when it pays, and those
    # in `left`, which have lost support vectors; or all if a refresh is due.
    others = draft.others(c)
    if not others:
        return None
    settings, is_new = draft.state.settings, draft.is_added(c)
    turns_far = is_new and settings.turns_far(len(draft.labels))
    due = turns_far or _is_refresh_due_after(draft)
    if due and may_refresh:
        return _refresh(draft, begins_far=turns_far)
    done: Sequence[int] = ()
    if draft.far is not None and left:
        draft.settle(_jobs_of(draft, left), SUFFICIENT_MARGIN)
        margins, left, done = None, (), left
    if draft.far is not None and (is_new or _priors_due(draft, c)):
        _renew(draft, place, c)
        return None
    if margins is None:
        margins = draft.margins(draft.examples.table[place], c)
    renewed = _renew_priors(draft, c)
    jobs, start = [], None
    if draft.far is not None:
        others = np.flatnonzero(margins < SUFFICIENT_MARGIN).tolist()
    for o in others:
        pair = pair_number(c, o)
        short = margins[o] < SUFFICIENT_MARGIN
        fresh = draft.is_new(pair)
        if pair in done or not (short or renewed or fresh or pair in left):
            continue
        old = draft.separator(pair)
        rows = draft.members(c).count + draft.members(o).count
        waits = not (at_once or renewed or fresh or old.is_far or pair in left)
        if waits and old.waits(margins[o], rows):
            draft.postpone(pair, place, margins[o])
            continue
        job = draft.job_from(pair, old)
        if renewed or fresh:
            start = start or draft.starts()
            job.pool.restart(start(job.low, job.high))
        if (short or fresh) and place not in job.pool.places:
            job.pool.join(np.array([place]), np.array([1.0 if c < o else -1.0]))
        jobs.append(job)
    settled = {job.pair for job in jobs}
    jobs += _jobs_of(draft, [pair for pair in left if pair not in settled])
    draft.settle(jobs, SUFFICIENT_MARGIN)
    return None


def _is_refresh_due_after(draft: Draft) -> bool:
    settings, schedule = draft.state.settings, draft.frame.schedule
    least = draft.state.regions.largest - 1 - draft.removed  # what the largest label has left
    if not schedule.refresh_due(settings, draft.turnover, draft.count - least):
        return False
    return schedule.refresh_due(settings, draft.turnover, draft.count - draft.largest)


def _renew_priors(draft: Draft, c: int) -> bool:
    # Return whether the priors of region c are due; if so, or if it is new, update the sums.
    if not draft.frame.choice.lda_prior or draft.far is not None:
        return False
    due = _priors_due(draft, c)
    if due or draft.is_added(c):
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
    assert draft.far is not None
    row, supported = draft.renew(c), draft.far.supported(c)
    low = draft.low_around(SUFFICIENT_MARGIN)
    others = np.flatnonzero(row.near | supported).tolist()
    jobs, start = [], draft.starts()
    for pair in sorted({*(pair_number(c, o) for o in others), *low}):
        job = draft.job_from(pair, draft.separator(pair))
        job.pool.restart(start(job.low, job.high))
        if pair in low:
            places, signs = low[pair]
            new = ~among(places, job.pool.places)  # some may have been settled in this step
            job.pool.join(places[new], signs[new])
        if not len(job.pool.places) and not draft.is_far(job.low, job.high):
            job.pool.join(np.array([place]), np.array([1.0 if c == job.low else -1.0]))
        jobs.append(job)
    draft.settle(jobs, SUFFICIENT_MARGIN)


def _refresh(draft: Draft, *, begins_far: bool) -> Refresh:
    start, settings = time.perf_counter(), draft.state.settings
    draft.catch_up()
    rows, owner, frame = draft.rows(), draft.owner, None
    labels, turnover, count = len(set(owner.tolist())), draft.turnover, draft.count
    # Far pairs need the prior, so settings without it are not to stay.
    schedule, others = draft.frame.schedule, count - draft.largest
    if begins_far or schedule.choice_due(turnover, count, labels, others):
        frame = chosen(draft.frame, settings, draft.examples.rows, rows, owner, turnover)
        draft.frame = frame or draft.frame
    trim_heap()  # each of these steps needs much memory, not at the same time
    old = draft.supports()
    if draft.frame.choice.hats or draft.examples.expansion.is_needed:
        draft.expand(expansion_of(draft.frame, settings, draft.examples, rows.order))
        rows = draft.rows()
    draft.frame = measured(draft.frame, settings, rows, owner)
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
