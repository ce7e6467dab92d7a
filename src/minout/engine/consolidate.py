"""Compute a new state from the set of stored examples, independent of their order."""

import time

import numpy as np

from minout import kernels
from minout._typing import Ints
from minout.engine.classes import Classes, Members
from minout.engine.draft import Draft
from minout.engine.frame import FIRST_PRIORS, Frame, Rows, Schedule, chosen, measured
from minout.engine.heap import trim_heap
from minout.engine.images import Images
from minout.engine.moments import RunningMoments
from minout.engine.pool import Pool
from minout.engine.reports import NOTHING_MOVED, Consolidation, Refresh
from minout.engine.separators import classes_of, pair_count, pair_number
from minout.engine.state import State, apply
from minout.engine.step import settle_all
from minout.maths import Prior

TIGHT = 1.0 - 1e-9
"""The smallest margin of an example without slack after consolidation."""
CERTAIN_SLACK = 1e-7
"""Examples with more slack are support vectors in whatever order they were taught.

With less, a row may have been left out because its margin was within 1e-9 of the target, or kept
because it had been in the pool before. Such rows are taken out, and added again if they fall short.
"""


@kernels.one_blas_thread()
def consolidate(old: State) -> tuple[State, Consolidation]:
    """Return a new state with the same examples; the old one stays as it is.

    Classes are in the order of their labels, sums and choices are taken over the rows in the order
    of their digests, and every separator is solved in double precision.
    """
    start = time.perf_counter()
    new, order = _without_model(old)
    certificate = NOTHING_MOVED
    if len(new.classes):
        new.frame = _framed(new, order)
    if len(new.classes) > 1:
        if new.settings.near(len(new.classes), new.frame.choice) is None:
            new.separators.make_room(pair_count(len(new.classes)), new.examples.end)
        draft = Draft(new)
        settle_all(draft, TIGHT, _carried_pools(old, new))
        apply(new, draft.delta())
        pools = _sorted_pools(new, order)
        draft = Draft(new)
        settle_all(draft, TIGHT, pools)
        delta = draft.delta()
        apply(new, delta)
        certificate = delta.certificate
    _round_caches(new)
    new.last_move, new.consolidated = None, True
    trim_heap()
    refresh = Refresh(time.perf_counter() - start, new.frame.choice, chose_settings=True)
    return new, Consolidation(certificate, refresh)


def _without_model(old: State) -> tuple[State, Ints]:
    # A state with the examples only, and their places in the order of digests.
    labels = sorted(old.classes.labels)
    number = np.array([labels.index(label) for label in old.classes.labels], dtype=np.int64)
    places = old.examples.places()
    new = State(old.settings, old.examples.width, old.examples.dtype)
    new.examples = old.examples.only(places, number)
    new.ids = [old.ids[place] for place in places.tolist()]
    new.place_of = {example_id: place for place, example_id in enumerate(new.ids)}
    new.widths, new.next_id = old.widths, old.next_id
    new.corrected, new.notes = dict(old.corrected), old.notes
    end = new.examples.end
    classes = new.examples.classes[:end]
    order = np.lexsort((classes, new.examples.digests[:end]))
    members = [Members(order[classes[order] == c]) for c in range(len(labels))]
    new.classes = Classes(labels, members)
    new.separators.make_room(0, end)
    return new, order


def _framed(new: State, order: Ints) -> Frame:
    examples, classes = new.examples, len(new.classes)
    rows = Rows(examples.table, order, examples.classes[order], examples.digests[order])
    frame = Frame.first(new.settings, examples.table[0], examples.end)
    moments = RunningMoments.about(examples.table[order[0]], exact=True).for_classes(classes)
    moments = moments.with_rows(examples.table, order, rows.classes).seen_to(examples.end)
    schedule = Schedule(prior_at=(FIRST_PRIORS,) * classes)
    frame = frame._replace(moments=moments, schedule=schedule)
    frame = chosen(frame, new.settings, rows, classes) or frame
    return measured(frame, rows, np.dtype(np.float64))


def _carried_pools(old: State, new: State) -> dict[int, Pool]:
    # The old support vectors are the first members of the new pools.
    moved_to = np.zeros(max(old.examples.end, 1), dtype=np.int64)
    moved_to[old.examples.places()] = np.arange(new.examples.end)
    number = [new.classes.number[label] for label in old.classes.labels]
    nowhere, carried = Prior(np.zeros(new.examples.width), 0.0), {}
    for pair in old.separators.stored(len(old.classes)):
        a, b = (number[c] for c in classes_of(pair))
        pool = old.separators[pair].pool
        used = pool.alpha > 0.0
        places = moved_to[pool.places[used]]
        twin = Pool(nowhere)
        twin.join(places, np.where(new.examples.classes[places] == min(a, b), 1.0, -1.0))
        twin.alpha = pool.alpha[used]
        carried[pair_number(a, b)] = twin
    return carried


def _sorted_pools(new: State, order: Ints) -> dict[int, Pool]:
    # Order the pools and the images by digest, so that rounding does not depend on the history.
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    separators = new.separators
    least_alpha, stored = CERTAIN_SLACK / new.frame.choice.lam, separators.stored(len(new.classes))
    pools = {pair: separators.support_of(pair).sorted_by(rank, least_alpha) for pair in stored}
    images = Images(new.frame.geometry, np.dtype(np.float64))
    used = np.unique(np.concatenate([pool.places for pool in pools.values()]))
    images.of(new.examples.table, used[np.argsort(rank[used])])
    new.frame = new.frame._replace(images=images)
    return pools


def _round_caches(new: State) -> None:
    dtype = new.examples.dtype
    if new.separators.far is None:
        new.frame.images.round_to(dtype)
    if dtype != np.float64:
        for pool in new.separators.pools.values():
            pool.forget_products()
