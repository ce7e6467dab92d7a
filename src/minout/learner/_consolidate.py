"""Makes anew all that depends on order: a learner that is a function of the stored set alone."""

import time

import numpy as np

from minout import kernels
from minout._typing import Ints
from minout.learner._before import Before
from minout.learner._margin import TIGHT, Margin
from minout.learner._members import Members
from minout.learner._moments import RunningMoments
from minout.learner.certificate import Certificate, Refresh
from minout.memory import give_back
from minout.rules import Pictures, Pool


@kernels.one_blas_thread()
def consolidated(old: Margin) -> tuple[Margin, Certificate, Refresh]:
    """Gives a new learner with the same examples; the old one is as it was.

    Classes are in the order of their labels, sums and choices are taken over the rows in the order
    of their digests, and every separator is solved in double precision.
    """
    start = time.perf_counter()
    labels = sorted(old.labels)
    number = np.array([labels.index(label) for label in old.labels], dtype=np.int64)
    places = old.memory.ids()
    new = Margin(old.rule, old.memory.renamed(places, number))
    moved_to = np.zeros(max(old.memory.end, 1), dtype=np.int64)
    moved_to[places] = new.memory.ids()
    new.ids = [old.ids[place] for place in places.tolist()]
    new.place_of = {example_id: place for place, example_id in enumerate(new.ids)}
    new.short = np.zeros(max(len(places), 8), dtype=np.int64)
    for label in labels:
        new._add_class(label, new.memory.table[0])
    of = new.memory.labels(new.memory.ids())
    by_digest = np.lexsort((of, new.memory.digests(new.memory.ids())))
    new.members = [Members(by_digest[of[by_digest] == c]) for c in range(len(labels))]
    nothing = Certificate((), 0, np.inf, (), ())
    if not labels:
        return new, nothing, _told(new, start)
    new.moments = RunningMoments(new.memory.rows(by_digest[:1])[0], exact=True)
    new.moments.take_in(new.memory, by_digest, len(labels))
    new._choose(by_digest)
    new._measure(by_digest)
    new.pictures = Pictures(new.geometry, np.dtype(np.float64))
    if len(labels) < 2:
        return new, nothing, _told(new, start)
    for c, label in enumerate(labels):
        for o in range(c):
            pool = old.pools[old.pair_of(label, labels[o])]
            new.pools[c * (c - 1) // 2 + o] = _carried(pool, moved_to, of, o, new)
    new._settle_all(TIGHT, Before(new))
    rank = np.empty(len(by_digest), dtype=np.int64)
    rank[by_digest] = np.arange(len(by_digest))
    new.pools = [pool.sorted_by(rank) for pool in new.pools]
    new.pictures = Pictures(new.geometry, np.dtype(np.float64))
    used = np.unique(np.concatenate([pool.places for pool in new.pools]))
    new.pictures.of(new.memory.table, used[np.argsort(rank[used])])
    certificate = new._settle_all(TIGHT, Before(new))
    new.pictures.round_to(new.memory.dtype)
    if new.memory.dtype != np.float64:
        for pool in new.pools:
            pool.forget_products()
    give_back()
    return new, certificate, _told(new, start)


def _carried(pool: Pool, moved_to: Ints, of: Ints, low: int, new: Margin) -> Pool:
    # What the old separator rested on is where the new one starts to look.
    twin = Pool(new._no_prior())
    used = pool.alpha > 0.0
    places = moved_to[pool.places[used]]
    twin.join(places, np.where(of[places] == low, 1.0, -1.0))
    twin.alpha = pool.alpha[used]
    return twin


def _told(new: Margin, start: float) -> Refresh:
    return Refresh(time.perf_counter() - start, new.choice, chosen_anew=True)
