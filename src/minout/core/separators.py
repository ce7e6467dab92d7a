"""The separators: one per pair of regions of different labels, and an index of misfits.

The separator of regions low < high has the number high(high - 1)/2 + low and is positive on the
side of low. The kernels number them alike. Numbers of two regions of one label are not used.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.core.far import NO_SUPPORT, NO_WEIGHTS, ClassRow, FarPairs, Support, pool_of
from minout.core.pool import Pool
from minout.core.regions import overlap
from minout.maths import Prior

Slots = NDArray[np.int32]
NO_PLACES: Ints = np.empty(0, dtype=np.int64)
SUFFICIENT_MARGIN = 0.5
"""While streaming, a separator does not move as long as all margins in it reach this."""
LARGE_POOL = 150  # if the pool has more rows than this, all examples with a low margin wait …
PENDING_SHARE = 0.03  # … until they are this share of the pool
COSTLY = 1_000_000
"""If a check takes this many multiplications, examples with a low margin above 0 wait …"""
FITTED_SHARE = 0.1  # … until they are this share of the pool


class Separator(NamedTuple):
    """One separator: f(x) = w·(x - origin) + b, its pool, and the places of its misfits.

    `pending` are places with a margin below the bound that wait for the next settle; those at 0 or
    less are also among the misfits. `left` is the number of support vectors that have fallen out of
    the window since the last settle: until the next one, w still has their terms. For a far pair
    (`core/far.py`) w is empty, and `support` is stored in place of the pool.
    """

    w: Floats
    b: float
    pool: Pool
    misfits: Ints
    pending: Ints = NO_PLACES
    support: Support = NO_SUPPORT
    left: int = 0

    @property
    def is_far(self) -> bool:
        """Whether it is that of a far pair, which has no weights."""
        return not len(self.w)

    def holds(self, places: Ints) -> bool:
        """Return whether one of some places is a candidate, pending or a misfit here."""
        candidates = self.support.places if self.is_far else self.pool.places
        parts = (candidates, self.pending, self.misfits)
        return any(overlap(part, places) for part in parts)

    def waits(self, margin: float, rows: int) -> bool:
        """Return whether a new example with a low margin waits for the next settle.

        That would check so many rows: those of both regions, the new one included.
        """
        size, waiting = len(self.pool.places), len(self.pending) + self.left + 1
        if size > LARGE_POOL and waiting < PENDING_SHARE * size:
            return True
        return margin > 0.0 and self.may_wait(1, rows)

    def may_wait(self, more: int, rows: int) -> bool:
        """Return whether a settle for support vectors that left, or low margins above 0, may wait.

        There are `more` of them beside those that have left and those that are pending.
        """
        if self.is_far:
            return False
        size, waiting = len(self.pool.places), len(self.pending) + self.left + more
        is_costly = rows * len(self.w) >= COSTLY
        share = FITTED_SHARE if is_costly else PENDING_SHARE if size > LARGE_POOL else 0.0
        return waiting < share * size

    def after(self, places: Ints) -> "Separator":
        """Return this separator without some examples; its weights stay as they are."""
        leaving = np.isin(self.pool.places, places)
        left = self.left + int(np.count_nonzero(self.pool.alpha[leaving] > 0.0))
        pending = self.pending[~np.isin(self.pending, places)]
        return self._replace(pool=self.pool.only(~leaving), left=left, pending=pending)

    def moved(self, number: Ints) -> "Separator":
        """Return the same separator after the example at place p has moved to number[p]."""
        support = self.support._replace(places=number[self.support.places])
        return self._replace(
            pool=self.pool.moved(number),
            misfits=number[self.misfits],
            pending=number[self.pending],
            support=support,
        )

    @classmethod
    def new(cls, width: int) -> "Separator":
        """Return a separator that has not been solved yet."""
        nowhere = np.zeros(width)
        return cls(nowhere, 0.0, Pool(Prior(nowhere, 0.0)), NO_PLACES)


NO_PRIOR = Prior(NO_WEIGHTS, 0.0)
NO_POOL = Pool(NO_PRIOR)
FAR = Separator(NO_WEIGHTS, 0.0, NO_POOL, NO_PLACES)  # a far pair without support


class Proposal(NamedTuple):
    """One linear score per region, V[c]·(x - origin) + v[c], to guess the region of a row.

    V (regions, d) and v are the sums of the separators of each region, in float32, at the time when
    `moves` separators had been replaced.
    """

    V: NDArray[np.float32]
    v: NDArray[np.float32]
    moves: int


def pair_number(a: int, b: int) -> int:
    """Return the number of the separator of regions a and b."""
    high, low = max(a, b), min(a, b)
    return high * (high - 1) // 2 + low


def regions_of(pair: int) -> tuple[int, int]:
    """Return the regions (low, high) of a separator."""
    high = (1 + math.isqrt(8 * pair + 1)) // 2
    return pair - high * (high - 1) // 2, high


def regions_of_all(pairs: Ints) -> tuple[Ints, Ints]:
    """Return the regions low and high of some separators."""
    high = ((1.0 + np.sqrt(8.0 * pairs + 1.0)) / 2.0).astype(np.int64)
    high -= high * (high - 1) // 2 > pairs  # rounding
    high += high * (high + 1) // 2 <= pairs
    return pairs - high * (high - 1) // 2, high


def pair_count(regions: int) -> int:
    """Return how many numbers of separators there are with a number of regions."""
    return regions * (regions - 1) // 2


def pairs_between(owner: Ints) -> list[int]:
    """Return the numbers of all pairs of regions of different labels, ascending."""
    parts = [
        pair_count(high) + np.flatnonzero(owner[:high] != owner[high])
        for high in range(1, len(owner))
    ]
    between: list[int] = np.concatenate([NO_PLACES, *parts]).tolist()
    return between


class Separators:
    """All separators by number, with weights packed for the kernels; never changed.

    Without far pairs there is a record for each pair of regions that was solved. With them (`far`)
    there is one for each near pair, and for far pairs with support vectors or misfits; the priors
    of near pairs are not stored, but computed from the discriminants.

    W and b have spare capacity and are shared: a separator that moves gets a new row, behind those
    that anybody sees. at[pair] is the row of a separator; row 0 is empty.

    `moves` counts how often a separator was replaced. `proposal` is a cache for predictions, None
    if there is none (`core/prediction.py`).
    """

    def __init__(self, width: int, far: FarPairs | None = None) -> None:
        self.W: Floats = np.zeros((1, width))
        self.b: Floats = np.zeros(1)
        self.at: Slots = np.zeros(0, dtype=np.int32)
        self.records: dict[int, Separator] = {}
        self.far = far
        self.moves = 0
        self.proposal: Proposal | None = None
        self._tail = [1]  # how many rows of the shared W are in use
        self._in_use: dict[int, Ints] = {}

    def __getitem__(self, pair: int) -> Separator:
        record = self.records.get(pair)
        if self.far is None:
            return Separator.new(self.W.shape[1]) if record is None else record
        low, high = regions_of(pair)
        prior = self.far.prior(low, high)
        if record is None:
            return FAR._replace(pool=pool_of(NO_SUPPORT, prior))
        if record.is_far:
            return record._replace(pool=pool_of(record.support, prior))
        return record._replace(pool=record.pool.with_prior(prior))

    def misfits(self, pair: int) -> Ints:
        """Return the places of the misfits of a separator."""
        record = self.records.get(pair)
        return NO_PLACES if record is None else record.misfits

    def waiting(self) -> list[int]:
        """Return the pairs with pending examples, or that support vectors have left."""
        records = self.records.items()
        return [pair for pair, record in records if len(record.pending) or record.left]

    def holding(self, pairs: Iterable[int], places: Ints) -> list[int]:
        """Return the pairs for which `self[pair].holds(places)`."""
        records = self.records
        return [pair for pair in pairs if pair in records and records[pair].holds(places)]

    def in_use(self, c: int, others: Iterable[int]) -> Ints:
        """Return the places that are in a pool, or pending, in the separators of a region.

        `others` are the regions on the other side. The result is cached.
        """
        if c not in self._in_use:
            found = [self.records.get(pair_number(c, o)) for o in others]
            records = [record for record in found if record is not None]
            parts = [part for each in records for part in (each.pool.places, each.pending)]
            self._in_use[c] = np.concatenate([NO_PLACES, *parts])
        return self._in_use[c]

    def stored(self, owner: Ints) -> list[int]:
        """Return the numbers of the pairs for which something is stored, ascending.

        owner[c] is the number of the label of region c.
        """
        return pairs_between(owner) if self.far is None else sorted(self.records)

    def support_of(self, pair: int) -> Pool:
        """Return a pool with the support vectors of a pair; its prior is a placeholder."""
        record = self.records.get(pair)
        if record is None:
            return Pool(NO_PRIOR)
        return pool_of(record.support, NO_PRIOR) if record.is_far else record.pool

    def drop_products(self) -> None:
        """Free the inner products of small pools: a cache."""
        for record in self.records.values():
            record.pool.drop_products()

    def replaced(
        self, changed: Mapping[int, Separator], regions: int, row: ClassRow | None = None
    ) -> "Separators":
        """Return these with some separators replaced, for so many regions.

        With far pairs, `row` is a new discriminant of a class; pairs that it makes near or far must
        be among those that are replaced.
        """
        if not changed and row is None and len(self.at) == pair_count(regions):
            return self
        twin = self._with_room(sum(not each.is_far for each in changed.values()))
        known, twin.at = twin.at, np.zeros(pair_count(regions), dtype=np.int32)
        twin.at[: len(known)] = known
        twin.records, twin.moves = twin.records.copy(), self.moves + len(changed)
        if self.far is not None and twin.far is self.far:
            twin.far = self.far.twin()
        if row is not None:
            assert twin.far is not None
            twin.far.set_class(row)
        for pair, separator in changed.items():
            twin._put(pair, separator)
        return twin

    def only(self, kept: list[int]) -> "Separators":
        """Return the separators between some regions, numbered again from 0."""
        number = {c: n for n, c in enumerate(kept)}
        twin = self._shallow()
        twin.far, twin.proposal = None if self.far is None else self.far.only(kept), None
        twin.at, twin.records = np.zeros(pair_count(len(kept)), dtype=np.int32), {}
        for pair, record in self.records.items():
            low, high = regions_of(pair)
            if low in number and high in number:
                low, high = number[low], number[high]
                twin.records[pair_number(low, high)] = record
                twin.at[pair_number(low, high)] = self.at[pair]
                if twin.far is not None and record.is_far:
                    twin.far.put_support(low, high, record.support)
                elif twin.far is not None:
                    twin.far.put_near(low, high, int(self.at[pair]))
        return twin

    def moved(self, number: Ints) -> "Separators":
        """Return the same separators after the example at place p has moved to number[p]."""
        twin = self._shallow()
        twin.records = {pair: record.moved(number) for pair, record in self.records.items()}
        if self.far is not None:
            twin.far = self.far.twin()
            for pair, record in twin.records.items():
                if record.is_far:
                    twin.far.put_support(*regions_of(pair), record.support)
        return twin

    def _put(self, pair: int, separator: Separator) -> None:
        # Replace a separator of a new object.
        if separator.is_far:
            assert self.far is not None
            self.far.put_support(*regions_of(pair), separator.support)
            self.at[pair] = 0
            self.records.pop(pair, None)
            if len(separator.support.places) or len(separator.misfits):
                self.records[pair] = separator._replace(pool=NO_POOL)
            return
        slot = self._tail[0]
        self._tail[0] = slot + 1
        self.W[slot], self.b[slot], self.at[pair] = separator.w, separator.b, slot
        pool = separator.pool
        if self.far is not None:
            self.far.put_near(*regions_of(pair), slot)
            pool = pool.with_prior(NO_PRIOR)
        self.records[pair] = separator._replace(w=self.W[slot], pool=pool)

    def _shallow(self) -> "Separators":
        twin = Separators.__new__(Separators)
        vars(twin).update(vars(self), _in_use={})
        return twin

    def _with_room(self, more: int) -> "Separators":
        # A twin with free rows of W; the rows in use are copied if there are not enough.
        twin = self._shallow()
        if self._tail[0] + more <= len(self.b):
            return twin
        pairs = [pair for pair, record in self.records.items() if not record.is_far]
        used = len(pairs) + 1
        size = used + more + max(used, more)
        twin.W, twin.b = np.zeros((size, self.W.shape[1])), np.zeros(size)
        rows, twin._tail = self.at[pairs], [used]
        twin.W[1:used], twin.b[1:used] = self.W[rows], self.b[rows]
        twin.at = self.at.copy()
        twin.at[pairs] = np.arange(1, used)
        twin.records = self.records.copy()
        if self.far is not None:
            twin.far = self.far.twin()
        for pair, slot in zip(pairs, range(1, used), strict=True):
            twin.records[pair] = self.records[pair]._replace(w=twin.W[slot])
            if twin.far is not None:
                twin.far.put_near(*regions_of(pair), slot)
        return twin


def carried(pools: dict[int, Pool], places: Ints, before: Ints, after: Ints) -> dict[int, Pool]:
    """Return the support vectors of pools after examples were divided into other regions.

    before[i] and after[i] are the regions of places[i]. A region is followed by the one in which
    most of its examples are; what is on neither side of a pair is left out.
    """
    now = np.zeros(int(places.max()) + 1, dtype=np.int64)
    now[places] = after
    shared = np.zeros((int(before.max()) + 1, int(after.max()) + 1), dtype=np.int64)
    np.add.at(shared, (before, after), 1)
    follower = shared.argmax(axis=1).tolist()
    found: dict[int, Pool] = {}
    for pair, pool in pools.items():
        a, b = (follower[c] for c in regions_of(pair))
        own = now[pool.places]
        stays = (pool.alpha > 0.0) & ((own == a) | (own == b))
        twin = found.setdefault(pair_number(a, b), Pool(pool.prior))
        stays &= ~np.isin(pool.places, twin.places)
        known = len(twin.places)
        twin.join(pool.places[stays], np.where(own[stays] == min(a, b), 1.0, -1.0))
        twin.alpha[known:] = pool.alpha[stays]
    return found
