"""The steps: teach, relabel, forget. Each returns the state after it and a certificate."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Id, Ints, Label
from minout.core.draft import Draft
from minout.core.examples import About
from minout.core.frame import chosen, divided, expansion_of, measured, next_priors
from minout.core.plan import Plan, Row, plan, plan_to_teach
from minout.core.pool import support, trim_heap
from minout.core.prediction import winners
from minout.core.regions import NO_PLACES, regions_of
from minout.core.reports import NOTHING_MOVED, Certificate, Refresh
from minout.core.separators import SUFFICIENT_MARGIN, carried
from minout.core.settings import Settings
from minout.core.state import State, Step, compacted
from minout.core.window import falling_out, outside
from minout.errors import NotConverged
from minout.kernels import Pool


class New(NamedTuple):
    """An example to learn; with a codec, x is its code."""

    x: NDArray[Any]
    label: Label
    id: Id
    about: About


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
    X = state.examples.coded(x[None])
    new = New(X[0], label, example_id, About(weight, time, state.taught))
    row = Row(state.expanded(X)[0], label)
    step = _learned(state, new, row, plan_to_teach(state, row, new.about, state.by_age))
    return _taught_last(state, step, state.next_id if next_id is None else next_id)


def update(state: State, place: int, x: NDArray[Any]) -> Step:
    """Give a stored example another row x (d,), or another code.

    It is forgotten and taught again, last of all, with its id, label, weight and time.
    """
    x, about = state.examples.coded(x[None])[0], state.examples.about(place)
    example_id, label = state.examples.ids[place], state.label_at(place)
    new = New(x, label, example_id, about._replace(serial=state.taught))
    row = Row(state.expanded(x[None])[0], label)
    step = _learned(state, new, row, plan(state, row, np.array([place]), may_wait=False))
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
    # The step that taught an example, with the numbers that follow from it in its state, which
    # nobody has seen yet.
    new = _with_sums(state, step.state)
    new.next_id, new.taught = next_id, state.taught + 1
    new.corrected = _still_corrected(state, step.certificate.forgotten)
    place = new.examples.end - 1
    if new.examples.end > state.examples.end:
        new = compacted(new)
        if new.examples.end > place:
            state.followed_by(new, place)
    return step if new is step.state else step._replace(state=new)


def _still_corrected(state: State, gone: Sequence[Id]) -> dict[Id, tuple[Label, ...]]:
    if not gone or state.corrected.keys().isdisjoint(gone):
        return state.corrected
    return {each: had for each, had in state.corrected.items() if each not in gone}


@kernels.one_blas_thread()
def relabel(state: State, place: int, label: Label, weight: float | None = None) -> Step:
    """Give a stored example another label, and another weight if given."""
    examples, out, limits = state.examples, NO_PLACES, state.settings.window
    if weight is None:
        weight = float(examples.weights[place])
    if limits is not None and limits.per_label is not None and state.label_at(place) != label:
        out, is_out = falling_out(state, label, examples.about(place), state.by_age)
        if is_out:  # the new label has enough later ones
            return forget(state, np.sort(np.append(out, place)))
    row = Row(examples.table[place], label, place)
    planned = plan(state, row, out, may_wait=False)
    try:
        return _relabelled(state, row, weight, planned)
    except NotConverged:
        if not planned.refresh:
            raise
    planned = plan(state, row, out, may_wait=False, may_refresh=False)
    return _relabelled(state, row, weight, planned, put_off=True)


def _relabelled(
    state: State, row: Row, weight: float, planned: Plan, *, put_off: bool = False
) -> Step:
    assert row.place is not None
    place, draft = row.place, Draft(state, emptied=planned.emptied, label=row.label)
    region = len(draft.labels) - 1 if planned.region is None else draft.number(planned.region)
    draft.drop_sums(NO_PLACES)  # it stays in the scatter, which does not know labels
    draft.leave(np.sort(np.append(planned.out, place)), planned.left)
    draft.relabel(place, region)
    draft.weigh(place, weight)
    draft.evict(planned.out)
    step = _executed(draft, planned, place, region, put_off=put_off)
    return step._replace(state=compacted(step.state))


@kernels.one_blas_thread()
def forget(state: State, places: Ints) -> Step:
    """Remove the examples at some places, ascending."""
    planned = plan(state, None, places)
    draft = Draft(state, emptied=planned.emptied)
    draft.leave(places, planned.left)
    draft.evict(places)
    draft.settle(draft.pools(map(draft.pair, planned.settled)), SUFFICIENT_MARGIN)
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
    draft.settle(draft.pools(waiting), SUFFICIENT_MARGIN)
    return draft.finish()


def settle_all(draft: Draft, bound: float, old: dict[int, Pool]) -> None:
    """Settle every separator again, from support vectors and new priors.

    `old` has a pool with the support vectors of each pair for which there are some.
    """
    draft.rescore()
    scores, settled = draft.scores, [pair for pair, pool in old.items() if (pool.alpha > 0.0).any()]
    low, pools = draft.low_anywhere(settled, bound), {}
    for pair in sorted({*np.flatnonzero(scores.near).tolist(), *settled, *low}):
        pool = support(old[pair]) if pair in old else Pool()
        if pair in low:
            pool = pool.joined(*low[pair])
        if not len(pool):
            firsts = [draft.members(c).places[0] for c in regions_of(pair)]
            pool = pool.joined(np.array(firsts), np.array([1.0, -1.0]))
        pools[pair] = pool
    draft.settle(pools, bound)
    others = draft.count - draft.largest
    schedule = draft.frame.schedule.refreshed(draft.turnover, draft.count, others)
    draft.set_schedule(
        refresh_at=schedule.refresh_at,
        prior_at=tuple(next_priors(draft.members(c).count) for c in range(len(draft.labels))),
    )


def _learned(state: State, new: New, row: Row, planned: Plan) -> Step:
    if planned.moves_nothing:
        return _stored(state, new, planned)
    was_right = None
    if planned.region is not None:
        is_fitted = planned.least > 0.0 and not planned.emptied
        was_right = is_fitted or _winner(state, new.x) == new.label
    if planned.is_out:
        certificate = NOTHING_MOVED._replace(forgotten=(new.id,))
        unmoved = state.replaced(last_move=None, consolidated=False)
        return Step(unmoved, certificate, was_right=was_right)
    with kernels.one_blas_thread():
        try:
            return _taught(state, new, planned)._replace(was_right=was_right)
        except NotConverged:
            if not planned.refresh:
                raise
        # A refresh that fails is postponed; the example is learned without it.
        planned = plan(state, row, planned.out, may_wait=False, may_refresh=False)
        return _taught(state, new, planned, put_off=True)._replace(was_right=was_right)


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


def _stored(state: State, new: New, planned: Plan) -> Step:
    # The fast path: all margins of the row are large enough, so nothing moves.
    place, frame, c, out = state.examples.end, state.frame, planned.region, planned.out
    forgotten: tuple[Id, ...] = ()
    assert c is not None
    examples = state.examples.appended(new.x, c, new.id, new.about)
    members = {c: state.regions.members[c].appended(place)}
    for leaving in out.tolist():
        region = int(examples.regions[leaving])
        mine = members.get(region, state.regions.members[region])
        members[region] = mine.without(np.array([leaving]))
    if len(out):
        examples, forgotten = examples.without(out), state.names(out)
        frame = frame._replace(moments=frame.moments.without(examples.serials[out]))
    is_listed = state.listed and bytes(examples.digests[place]) in state.listed
    misfits = (new.id,) if is_listed else ()
    after = state.replaced(
        examples=examples,
        regions=state.regions.with_members(members),
        frame=frame,
        last_move=None,
        consolidated=False,
    )
    certificate = Certificate((), 0, planned.least, misfits, (), (), forgotten)
    return Step(after, certificate, None, was_right=planned.least > 0.0)


def _taught(state: State, new: New, planned: Plan, *, put_off: bool = False) -> Step:
    draft = Draft(state, emptied=planned.emptied, label=new.label)
    if len(draft.labels) == 1 and planned.region is None:
        draft.begin(state.examples.read(new.x[None])[0])
    region = len(draft.labels) - 1 if planned.region is None else draft.number(planned.region)
    place = draft.add(new.x, region, new.id, new.about)
    draft.leave(planned.out, planned.left)
    draft.evict(planned.out)
    return _executed(draft, planned, place, region, put_off=put_off)


def _executed(draft: Draft, planned: Plan, place: int, c: int, *, put_off: bool) -> Step:
    # Do what is planned around a row that has come into region c.
    refresh = None
    if put_off:
        schedule = draft.frame.schedule.postponed(draft.turnover, draft.count)
        draft.set_schedule(**schedule._asdict())
    if planned.refresh:
        refresh = _refresh(draft)
    else:
        _settle_around(draft, planned, place, c)
    step = draft.finish(refresh)
    certificate = step.certificate
    if planned.region is not None and not (certificate.moved or certificate.pending):
        step = step._replace(certificate=certificate._replace(least_margin=planned.least))
    return step


def _settle_around(draft: Draft, planned: Plan, place: int, c: int) -> None:
    pairs = {draft.pair(pair) for pair in planned.settled}
    short = {draft.pair(pair) for pair in planned.short}
    is_renewed, low = planned.renews or draft.is_added(c), {}
    if is_renewed:
        draft.renew(c)
        low = draft.low_around(c, SUFFICIENT_MARGIN)
        pairs |= draft.stored_around(c) | low.keys()
    row, signs, pools = np.array([place]), (np.array([-1.0]), np.array([1.0])), draft.pools(pairs)
    for pair in pools:
        both = regions_of(pair)
        if pair in low:
            pools[pair] = pools[pair].joined(*low[pair])
        joins = pair in short or (is_renewed and not len(pools[pair]) and c in both)
        if joins and not (pair in low and place in pools[pair].places):
            pools[pair] = pools[pair].joined(row, signs[c == both[0]])
    draft.settle(pools, SUFFICIENT_MARGIN)
    for pair in planned.waits:
        both = regions_of(pair)
        other = both[0] + both[1] - (planned.region or 0)
        draft.postpone(draft.pair(pair), place, float(planned.margins[other]))


def _refresh(draft: Draft) -> Refresh:
    start, settings = time.perf_counter(), draft.state.settings
    draft.catch_up()
    rows, owner, frame = draft.rows(), draft.owner, None
    labels, turnover, count = len(set(owner.tolist())), draft.turnover, draft.count
    schedule, others = draft.frame.schedule, count - draft.largest
    # Far pairs need the prior, so settings without it are not to stay.
    begins_far = draft.is_added(len(owner) - 1) and settings.turns_far(len(owner))
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
    trim_heap()
    draft.state.separators.drop_products()  # a cache for the old metric: free its memory now
    settle_all(draft, SUFFICIENT_MARGIN, old)
    return Refresh(time.perf_counter() - start, draft.frame.choice, frame is not None)
