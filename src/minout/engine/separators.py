"""The separators: one per pair of regions of different labels, and an index of misfits.

The separator of regions low < high has the number high(high - 1)/2 + low and is positive on the
side of low. The kernels number them alike. Numbers of two regions of one label are not used.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.engine.far import NO_SUPPORT, NO_WEIGHTS, FarPairs, Support, pool_of
from minout.engine.pool import Pool
from minout.engine.regions import overlap
from minout.maths import Prior

NO_PLACES: Ints = np.empty(0, dtype=np.int64)
SUFFICIENT_MARGIN = 0.5
"""While streaming, a separator does not move as long as all margins in it reach this."""
LARGE_POOL = 150
"""If the pool has more rows than this, all examples with a low margin wait …"""
PENDING_SHARE = 0.03
"""… until they are this share of the pool."""
COSTLY = 1_000_000
"""If a check takes this many multiplications, examples with a low margin above 0 wait …"""
FITTED_SHARE = 0.1
"""… until they are this share of the pool."""


class Separator(NamedTuple):
    """One separator: f(x) = w·(x - origin) + b, its pool, and the places of its misfits.

    `pending` are places with a margin below the bound that wait for the next settle; those at 0 or
    less are also among the misfits. `left` is the number of support vectors that have fallen out of
    the window since the last settle: until the next one, w still has their terms. For a far pair
    (`engine/far.py`) w is empty, and `support` is stored in place of the pool.
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

        Parameters
        ----------
        margin : float
            Its margin.
        rows : int
            How many rows the next settle checks: those of both regions, the new one included.
        """
        size, waiting = len(self.pool.places), len(self.pending) + self.left + 1
        if size > LARGE_POOL and waiting < PENDING_SHARE * size:
            return True
        return margin > 0.0 and self.may_wait(1, rows)

    def may_wait(self, more: int, rows: int) -> bool:
        """Return whether a settle for support vectors that left, or low margins above 0, may wait.

        Parameters
        ----------
        more : int
            How many there are beside those that have left and those that are pending.
        rows : int
            How many rows the next settle checks.
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

    def copy(self) -> "Separator":
        """Return a copy that does not share what `Separators.put` overwrites."""
        return self._replace(w=self.w.copy(), support=self.support.copy())

    @classmethod
    def new(cls, width: int) -> "Separator":
        """Return a separator that has not been solved yet."""
        nowhere = np.zeros(width)
        return cls(nowhere, 0.0, Pool(Prior(nowhere, 0.0)), NO_PLACES)


NO_PRIOR = Prior(NO_WEIGHTS, 0.0)
FAR = Separator(NO_WEIGHTS, 0.0, Pool(NO_PRIOR), NO_PLACES)
"""A far pair without support."""


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
    """All separators, by number: weights packed for the kernels, the rest in dictionaries.

    Without far pairs there is an entry for each pair of regions, and a separator's number is its
    row of W. With them (`far`) there is one for each near pair, and `far` knows its row; the
    supports of far pairs are there, too, and `misfits` has an entry for far pairs that have some;
    the priors of near pairs are not stored, but computed from the discriminants.

    `violations` counts for each place in how many separators of its region it is a misfit;
    `listed` counts, for the digest of each such row, the places that have it. Entries beyond the
    separators and places in use mean nothing.

    `left` has an entry for separators from which support vectors have fallen out of the window.

    `moves` counts how often a separator was replaced. `proposal` is a cache for predictions, None
    if there is none (`engine/prediction.py`).
    """

    def __init__(self, width: int, far: FarPairs | None = None) -> None:
        self.W: Floats = np.zeros((1, width))
        self.b: Floats = np.zeros(1)
        self.pools: dict[int, Pool] = {}
        self.misfits: dict[int, Ints] = {}
        self.pending: dict[int, Ints] = {}
        self.left: dict[int, int] = {}
        self.violations: Ints = np.zeros(8, dtype=np.int64)
        self.listed: dict[int, int] = {}
        self.moves = 0
        self.proposal: Proposal | None = None
        self.far = far
        self._in_use: tuple[int, dict[int, Ints]] = (0, {})
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._used = 0
        self._known = 0

    def __getitem__(self, pair: int) -> Separator:
        if self.far is not None and pair not in self.pools:
            low, high = regions_of(pair)
            support = self.far.support(low, high)
            pool = pool_of(support, self.far.prior(low, high))
            misfits = self.misfits.get(pair, NO_PLACES)
            return FAR._replace(pool=pool, misfits=misfits, support=support)
        slot, pool = pair, self.pools[pair]
        if self.far is not None:
            slot, pool = self._slots[pair], pool.with_prior(self.far.prior(*regions_of(pair)))
        return Separator(
            self.W[slot],
            float(self.b[slot]),
            pool,
            self.misfits[pair],
            self.pending[pair],
            left=self.left.get(pair, 0),
        )

    def holding(self, pairs: Iterable[int], places: Ints) -> list[int]:
        """Return the pairs for which `self[pair].holds(places)`, if anything is stored for them."""
        are_misfits = bool(np.count_nonzero(self.violations[places]))
        found = []
        for pair in pairs:
            if pair in self.pools:
                holds = overlap(self.pools[pair].places, places)
                holds = holds or overlap(self.pending[pair], places)
                holds = holds or (are_misfits and overlap(self.misfits[pair], places))
            else:  # far
                holds = self.has(pair) and self[pair].holds(places)
            if holds:
                found.append(pair)
        return found

    def in_use(self, c: int, others: Iterable[int]) -> Ints:
        """Return the places that are in a pool, or pending, in the separators of a region.

        `others` are the regions on the other side. The result is cached until a separator moves.
        """
        moves, found = self._in_use
        if moves != self.moves:
            found = {}
            self._in_use = self.moves, found
        if c not in found:
            pairs = [pair_number(c, o) for o in others]
            parts = [self.pools[pair].places for pair in pairs]
            parts += [self.pending[pair] for pair in pairs]
            found[c] = np.concatenate([NO_PLACES, *parts])
        return found[c]

    def has(self, pair: int) -> bool:
        """Return whether anything is stored for a pair."""
        if pair in self.pools or self.far is None:
            return True
        low, high = regions_of(pair)
        return bool(self.far.index[low, high] >= 0)

    def stored(self, owner: Ints) -> list[int]:
        """Return the numbers of the pairs for which something is stored, ascending.

        owner[c] is the number of the label of region c.
        """
        if self.far is None:
            return pairs_between(owner)
        low, high = self.far.pairs_with_support()
        return sorted([*self.pools, *(high * (high - 1) // 2 + low).tolist()])

    def support_of(self, pair: int) -> Pool:
        """Return a pool with the support vectors of a pair; its prior is a placeholder."""
        if pair in self.pools:
            return self.pools[pair]
        assert self.far is not None
        return pool_of(self.far.support(*regions_of(pair)), NO_PRIOR)

    def rows_of(self, pairs: list[int]) -> Ints:
        """Return the rows of W of some separators with weights."""
        rows = pairs if self.far is None else [self._slots[pair] for pair in pairs]
        return np.array(rows, dtype=np.int64)

    def drop_products(self) -> None:
        """Free the inner products of small pools, in place."""
        for pool in self.pools.values():
            pool.drop_products()

    def put(self, pair: int, separator: Separator) -> None:
        """Replace a separator, in place; call `make_room` first."""
        self.moves += 1
        if separator.is_far:
            self._put_far(pair, separator)
            return
        slot = self._slot(pair)
        self.W[slot], self.b[slot] = separator.w, separator.b
        pool = separator.pool
        self.pools[pair] = pool if self.far is None else pool.with_prior(NO_PRIOR)
        self.misfits[pair] = separator.misfits
        self.pending[pair] = separator.pending
        self._put_left(pair, separator.left)

    def _put_left(self, pair: int, left: int) -> None:
        if left:
            self.left[pair] = left
        else:
            self.left.pop(pair, None)

    def keep_first(self, regions: int) -> None:
        """Drop what belongs to later regions, in place."""
        if self.far is None:
            return
        self.far.count = min(self.far.count, regions)
        parts = (self.pools, self.misfits, self.pending, self.left, self._slots)
        for each in parts:
            for pair in [pair for pair in each if pair >= pair_count(regions)]:
                del each[pair]

    def make_room(self, pairs: int, places: int, *, put_all: bool = False) -> None:
        """Grow the arrays, if needed, to hold this many separators and places.

        With far pairs, `pairs` is the number of near pairs that are to be added. With `put_all`
        all separators are `put` next, so that none are made for them and for regions of one label.
        """
        if self.far is not None:
            pairs += self._used
        if pairs > len(self.b):
            size = 2 * pairs if self.far is None else pairs + pairs // 4
            W, b = np.zeros((size, self.W.shape[1])), np.zeros(size)
            W[: len(self.b)], b[: len(self.b)] = self.W, self.b
            self.W, self.b = W, b
        if self.far is None:
            for pair in () if put_all else range(self._known, pairs):
                new = Separator.new(self.W.shape[1])
                self.pools[pair], self.misfits[pair] = new.pool, new.misfits
                self.pending[pair] = new.pending
            self._known = max(self._known, pairs)
        if places > len(self.violations):
            more = np.zeros(max(places - len(self.violations), len(self.violations)), np.int64)
            self.violations = np.concatenate([self.violations, more])

    def only(self, kept: list[int]) -> "Separators":
        """Return the separators between some regions, numbered again from 0."""
        number = {c: n for n, c in enumerate(kept)}
        far = None if self.far is None else self.far.only(kept)
        twin = Separators(self.W.shape[1], far)
        stays = [
            (pair, pair_number(number[low], number[high]))
            for pair, (low, high) in ((pair, regions_of(pair)) for pair in self.misfits)
            if low in number and high in number
        ]
        near = sum(pair in self.pools for pair, _ in stays)
        room = pair_count(len(kept)) if far is None else near
        twin.make_room(room, len(self.violations))
        for pair, renumbered in stays:
            if pair in self.pools:
                twin.put(renumbered, self[pair])
            else:
                twin.misfits[renumbered] = self.misfits[pair]
        twin.violations[: len(self.violations)] = self.violations
        twin.listed = dict(self.listed)
        return twin

    def _slot(self, pair: int) -> int:
        # The row of W of a separator with weights; a new one if it has none.
        if self.far is None:
            return pair
        if pair not in self._slots:
            if self._free:
                slot = self._free.pop()
            else:
                slot, self._used = self._used, self._used + 1
            self._slots[pair] = slot  # an interruption before this line loses a row, no more
        self.far.put_near(*regions_of(pair), self._slots[pair])
        return self._slots[pair]

    def _put_far(self, pair: int, separator: Separator) -> None:
        assert self.far is not None
        if pair in self._slots:
            self._free.append(self._slots.pop(pair))
        for each in (self.pending, self.left, self.pools):
            each.pop(pair, None)
        self.far.put_support(*regions_of(pair), separator.support)
        if len(separator.misfits):
            self.misfits[pair] = separator.misfits
        else:
            self.misfits.pop(pair, None)


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
