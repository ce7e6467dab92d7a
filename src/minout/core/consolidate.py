"""Compute a new state from the set of stored examples, independent of their order."""

import time
from dataclasses import replace

import numpy as np

from minout import kernels, maths
from minout._typing import Id, Ints, Label
from minout.core.calibration import calibrated
from minout.core.draft import Draft
from minout.core.examples import Examples
from minout.core.frame import FIRST_PRIORS, Frame, chosen, divided, expansion_of, measured
from minout.core.images import Images
from minout.core.moments import RunningMoments
from minout.core.pool import trim_heap
from minout.core.regions import NO_PLACES, Members, Regions, pair_number, regions_of
from minout.core.reports import NOTHING_MOVED, Certificate, Consolidation, Refresh
from minout.core.scores import ClassScores
from minout.core.separators import Separators
from minout.core.settings import Settings
from minout.core.state import State, Widths
from minout.core.step import settle_all
from minout.core.table import Rows
from minout.core.work import HERE, Work
from minout.kernels import Pool

REFINEMENTS = 3  # how often support vectors may move to another region of their label
TIGHT = 1.0 - 1e-9  # the smallest margin of an example without slack after consolidation
CERTAIN_SLACK = 1e-7
"""Examples with more slack are support vectors in whatever order they were taught.

With less, a row may have been left out because its margin was within 1e-9 of the target, or kept
because it had been in the pool before. Such rows are taken out, and added again if they fall short.
"""


@kernels.one_blas_thread()
def consolidate(old: State, work: Work = HERE) -> tuple[State, Consolidation]:
    """Return a new state with the same examples; the old one stays as it is.

    Regions are in the order of their labels, sums and choices are taken over the rows in the order
    of their digests, and every separator is solved in double precision. `work` takes sums and
    settles separators; whoever does it, the state has the same bits.
    """
    start = time.perf_counter()
    new, order = _without_model(old)
    certificate = NOTHING_MOVED
    if len(new.regions):
        new = _with_frame(new, order, work)
    if len(new.regions.names) > 1:
        new, certificate = _solve(new, order, _carried_pools(old, new), work)
        for _ in range(REFINEMENTS if len(new.regions) > len(new.regions.names) else 0):
            refined, pools = _refined(new, order, work)
            if refined is new:
                break
            new, certificate = _solve(refined, order, pools, work)
        new = calibrated(new)
    elif len(new.regions):
        draft = Draft(new)
        draft.rescore()
        new = draft.finish().state
    new = new.replaced(last_move=None, consolidated=True)
    misfits, cleared = _changed_misfits(old, new)
    certificate = certificate._replace(misfits=misfits, cleared=cleared)
    trim_heap()
    refresh = Refresh(time.perf_counter() - start, new.frame.choice, chose_settings=True)
    return new, Consolidation(certificate, refresh)


def rebuilt(settings: Settings, examples: Examples, labels: list[Label], widths: Widths) -> State:
    """Return a consolidated state of some examples, one label for each.

    Equal to that of a learner that was taught them one by one and consolidated. The numbers of the
    regions of `examples` do not matter. Blocks that the rows are too short for are dropped.
    """
    width = examples.rows.shape[1]
    fitting = tuple(block for block in settings.blocks if block[1] <= width)
    settings = replace(settings, blocks=fitting)
    old = State(settings, examples.given.shape[1], examples.dtype).replaced(widths=widths)
    return consolidate(unsolved(old, examples, labels))[0]


def unsolved(state: State, examples: Examples, labels: list[Label]) -> State:
    """Return a state with other examples, one label for each, and without their separators.

    It is for `consolidate` only, which makes the model.
    """
    names = sorted(set(labels))
    number = {label: c for c, label in enumerate(names)}
    regions = np.array([number[label] for label in labels], dtype=np.int64)
    return state.replaced(
        examples=examples.in_regions(regions),
        taught=len(labels),
        regions=Regions(names, [Members(np.flatnonzero(regions == c)) for c in number.values()]),
    )


def _solve(
    new: State, order: Ints, pools: dict[int, Pool], work: Work
) -> tuple[State, Certificate]:
    # Solve all separators from these pools, then again from their support in a fixed order.
    draft = Draft(new, work=work)
    settle_all(draft, TIGHT, pools)
    new, pools = _sorted_pools(draft.finish().state, order)
    draft = Draft(new, work=work)
    settle_all(draft, TIGHT, pools)
    new, certificate, *_ = draft.finish()
    return new, certificate


def _changed_misfits(old: State, new: State) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
    # The examples that became misfits, and those that no longer are, in the order of teaching.
    before, after = old.names(old.misfits()), new.names(new.misfits())
    were, are = set(before), set(after)
    appeared = tuple(each for each in after if each not in were)
    return appeared, tuple(each for each in before if each not in are)


def _refined(new: State, order: Ints, work: Work) -> tuple[State, dict[int, Pool]]:
    # Move support vectors to the regions of their labels where their least margin is highest.
    # Return the state and the pools without them, or the same state if none moves.
    examples, separators, old = new.examples, new.separators, new.regions
    pools = {pair: separators.support_of(pair) for pair in separators.stored()}
    used = [pool.places[pool.alpha > 0.0] for pool in pools.values()]
    regions = examples.regions[: examples.end].copy()
    for place in np.unique(np.concatenate(used)).tolist():
        found = new.placed(examples.table[place], new.label_at(place))[0]
        assert found is not None
        regions[place] = found
    moved = np.flatnonzero(regions != examples.regions[: examples.end])
    if not len(moved):
        return new, {}
    kept, renumbered = np.unique(regions, return_inverse=True)
    number = {c: n for n, c in enumerate(kept.tolist())}
    carried = {}
    for pair, pool in pools.items():
        low, high = regions_of(pair)
        if low in number and high in number:
            carried[pair_number(number[low], number[high])] = pool.without(moved)
    labels = [old.labels[c] for c in kept.tolist()]
    return _divided(new, order, labels, renumbered, work), carried


def _divided(new: State, order: Ints, labels: list[Label], regions: Ints, work: Work) -> State:
    # Put the examples into regions, one number per place, and start without separators.
    examples, frame = new.examples.in_regions(regions).without_history(), new.frame
    members = [Members(order[regions[order] == c]) for c in range(len(labels))]
    moments = frame.moments.regrouped(examples.rows_in(order, work), len(labels))
    schedule = frame.schedule._replace(prior_at=(FIRST_PRIORS,) * len(labels))
    return new.replaced(
        examples=examples,
        regions=Regions(labels, members),
        frame=frame._replace(moments=moments, schedule=schedule),
        separators=_no_separators(examples.width),
        listed={},
    )


def _without_model(old: State) -> tuple[State, Ints]:
    # A state with the examples only, one region per label, and their places in order of digests.
    labels, number = sorted(old.regions.names), old.regions.order.owner
    places, width = old.examples.places(), old.examples.rows.shape[1]
    new = State(old.settings, width, old.examples.dtype, old.examples.codec)
    regions = number[old.examples.regions[places]] if len(places) else places
    examples = old.examples.only(places).in_regions(regions).without_history()
    end = examples.end
    order = np.lexsort((examples.weights[:end], regions, examples.digests[:end]))
    if old.settings.missing == "mean":
        examples = examples.expanded_by(maths.filling(width))
    if old.settings.missing == "mean" and len(places):
        no_hats = new.frame._replace(choice=new.frame.choice._replace(hats=0))
        fills = expansion_of(no_hats, new.settings, examples, order)
        examples = examples.expanded_by(fills)
    return old.replaced(
        examples=examples,
        regions=Regions(labels, [Members(order[regions[order] == c]) for c in range(len(labels))]),
        separators=_no_separators(examples.width),
        listed={},
        frame=new.frame,
        taught=len(places),
    ), order


def _with_frame(new: State, order: Ints, work: Work) -> State:
    # Choose settings, divide labels into regions, and measure.
    examples, labels = new.examples, new.regions.labels
    rows = examples.rows_in(order, work)
    frame = Frame.first(new.settings, examples.table[0], new.taught)
    frame = frame._replace(moments=_sums(rows, len(labels), examples.end))
    owner = np.arange(len(labels))
    frame = chosen(frame, new.settings, examples.rows, rows, owner, new.turnover) or frame
    if frame.choice.hats and len(labels) > 1:
        examples = examples.expanded_by(expansion_of(frame, new.settings, examples, order))
        rows = examples.rows_in(order, work)
        frame = frame._replace(moments=_sums(rows, len(labels), examples.end))
    frame = measured(frame, new.settings, rows, owner)
    frame = frame._replace(
        images=Images(frame.geometry),
        schedule=frame.schedule._replace(prior_at=(FIRST_PRIORS,) * len(labels)),
    )
    separators = _no_separators(examples.width)
    new = new.replaced(examples=examples, frame=frame, separators=separators)
    if frame.choice.regions == 1 or len(labels) == 1:
        return new
    numbers, members = divided(frame, rows, owner)
    regions = np.zeros(examples.end, dtype=np.int64)
    for c, places in enumerate(members):
        regions[places] = c
    return _divided(new, order, [labels[n] for n in numbers], regions, work)


def _no_separators(width: int) -> Separators:
    return Separators(ClassScores.zero(NO_PLACES, width))


def _sums(rows: Rows, regions: int, end: int) -> RunningMoments:
    moments = RunningMoments.about(rows.table[rows.order[0]], exact=True).for_classes(regions)
    return moments.with_rows(rows).seen_to(end)


def _carried_pools(old: State, new: State) -> dict[int, Pool]:
    # The old support vectors are the first members of the new pools, if labels have one region.
    if not len(old.regions) == len(new.regions) == len(new.regions.names):
        return {}
    if not old.separators.records:
        return {}
    moved_to = np.zeros(max(old.examples.end, 1), dtype=np.int64)
    moved_to[old.examples.places()] = np.arange(new.examples.end)
    number = old.regions.order.owner.tolist()
    carried = {}
    for pair in old.separators.stored():
        a, b = (number[c] for c in regions_of(pair))
        pool = old.separators.support_of(pair)
        used = pool.alpha > 0.0
        places = moved_to[pool.places[used]]
        signs = np.where(new.examples.regions[places] == min(a, b), 1.0, -1.0)
        carried[pair_number(a, b)] = Pool(places, signs, pool.alpha[used], np.zeros_like(places))
    return carried


def _sorted_pools(new: State, order: Ints) -> tuple[State, dict[int, Pool]]:
    # Order the pools and the images by digest, so that rounding does not depend on the history.
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    separators = new.separators
    least_alpha = CERTAIN_SLACK / new.frame.choice.lam * new.examples.weights
    pools = {}
    for pair in separators.stored():
        pool = separators.support_of(pair)
        used = np.flatnonzero(pool.alpha > least_alpha[pool.places])
        pools[pair] = pool.picked(used[np.argsort(rank[pool.places[used]], kind="stable")])
    images = Images(new.frame.geometry)
    if not images.are_cheap:
        used = np.unique(np.concatenate([pool.places for pool in pools.values()]))
        images.of(new.examples.table, used[np.argsort(rank[used])])
    return new.replaced(frame=new.frame._replace(images=images)), pools
