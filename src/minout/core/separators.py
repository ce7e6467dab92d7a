"""The separators: one per pair of regions of different labels, by number (`core/regions.py`)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.images import Images
from minout.core.pool import Problem, support
from minout.core.regions import (
    NO_PLACES,
    among,
    overlap,
    pair_count,
    pair_number,
    pair_numbers,
    regions_of,
    without,
)
from minout.core.scores import ClassScores
from minout.core.table import RowTable
from minout.kernels import Pool

Slots = NDArray[np.int32]
SUFFICIENT_MARGIN = 0.5
"""While streaming, a separator does not move as long as all margins in it reach this."""
LARGE_POOL = 150  # if the pool has more rows than this, all examples with a low margin wait …
PENDING_SHARE = 0.03  # … until they are this share of the pool
COSTLY = 1_000_000
"""If a check takes this many multiplications, examples with a low margin above 0 wait …"""
FITTED_SHARE = 0.1  # … until they are this share of the pool
ROUNDING = 1e-6
"""By how much bounds on corrections are widened, as a share of the terms that they bound.

The terms are computed in float64; with a metric of condition 1e8 they are off by less than 1e-8.
"""
NO_WEIGHTS: Floats = np.empty(0)
WIDE = 4_000
ROOM = 32_000_000
"""Weights of wider rows are stored while they take so many bytes, or no more than the rows."""


def have_room(regions: int, room: int, width: int) -> bool:
    """Return whether the weights of near pairs are stored, if the rows take so many bytes."""
    return width <= WIDE or 8 * width * pair_count(regions) <= max(ROOM, room)


class Bounds(NamedTuple):
    """Bounds on the corrections of a far pair.

    Their sum at z = x - origin is between floor - norm·‖z‖ and ceiling + norm·‖z‖, in the norm of
    the metric.
    """

    floor: float = -np.inf
    ceiling: float = np.inf
    norm: float = 0.0


class Separator(NamedTuple):
    """One separator: f(x) = w·(x - origin) + b, its pool, and the places of its misfits.

    `pending` are places with a margin below the bound that wait for the next settle; those at 0 or
    less are also among the misfits. `left` is the number of support vectors that have fallen out of
    the window since the last settle: until the next one, w still has their terms. That of a far
    pair has no w, and only support vectors in its pool, with bounds on their terms. If near pairs
    store no weights, they have no w and no bounds.
    """

    w: Floats
    b: float
    pool: Pool
    misfits: Ints
    pending: Ints = NO_PLACES
    left: int = 0
    bounds: Bounds = Bounds()

    @property
    def is_far(self) -> bool:
        """Whether it has no weights, as that of a far pair."""
        return not len(self.w)

    def holds(self, places: Ints) -> bool:
        """Return whether one of some places is a candidate, pending or a misfit here."""
        return any(overlap(part, places) for part in (self.pool.places, self.pending, self.misfits))

    def waits(self, margin: float, rows: int) -> bool:
        """Return whether a new example with a low margin waits for the next settle.

        That would check so many rows: those of both regions, the new one included.
        """
        size, waiting = len(self.pool.places), len(self.pending) + self.left + 1
        if self.is_far:
            return False
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

    def without(self, places: Ints) -> "Separator":
        """Return this separator without some examples; its weights stay as they are."""
        pool, leaving = self.pool, among(self.pool.places, places)
        count = int(np.count_nonzero(pool.alpha[leaving] > 0.0))
        return self._replace(
            pool=pool.without(places) if leaving.any() else pool,
            misfits=without(self.misfits, places),
            pending=without(self.pending, places),
            left=self.left + count,
        )

    def moved(self, number: Ints) -> "Separator":
        """Return the same separator after the example at place p has moved to number[p]."""
        return self._replace(
            pool=self.pool.moved(number),
            misfits=number[self.misfits],
            pending=number[self.pending],
        )


def empty_separator(pair: int, scores: ClassScores) -> Separator:
    """Return the separator of a pair of which there is no record."""
    has_weights = scores.near[pair] and scores.has_weights
    w = np.zeros(scores.V.shape[1]) if has_weights else NO_WEIGHTS
    return Separator(w, 0.0, Pool(), NO_PLACES)


def far_separator(pool: Pool, problem: Problem) -> Separator:
    """Return the separator of a far pair whose pool was solved; its misfits are not known yet."""
    pool = support(pool)
    coef = pool.signs * pool.alpha
    bounds = Bounds(0.0, 0.0)
    if len(coef):
        Z = problem.table[pool.places] - problem.geometry.origin
        pictures, which = problem.images.of(problem.table, pool.places)
        # The square of the corrections' norm is that of Σ coef·z in the metric.
        products = kernels.product(pictures[which], Z.T)
        size, total = np.abs(coef), float(coef.sum())
        square = abs(float(np.einsum("i,ij,j->", coef, products, coef)))
        lengths = np.sqrt(np.abs(products.diagonal()))
        norm = (1.0 + ROUNDING) * np.sqrt(square) + ROUNDING * float((size * lengths).sum())
        wide = ROUNDING * float(size.sum())
        bounds = Bounds(total - wide, total + wide, float(norm))
    return Separator(NO_WEIGHTS, 0.0, pool, NO_PLACES, bounds=bounds)


class Proposal(NamedTuple):
    """One linear score per region, V[c]·(x - origin) + v[c], to guess the region of a row.

    V (regions, d) and v are the sums of the separators of each region, in float32, at the time when
    `moves` separators had been replaced.
    """

    V: NDArray[np.float32]
    v: NDArray[np.float32]
    moves: int


class Separators:
    """All separators by number, with weights packed for the kernels; never changed.

    There is a record for each near pair, and for far pairs with support vectors or misfits. Priors
    are not stored: they follow from the class scores (`core/scores.py`).

    W and b have spare capacity and are shared: a separator that moves gets a new row, behind those
    that anybody sees; likewise the support of a far pair, in the log. at[pair] is the row of a near
    pair, minus the number of a far pair's support, or 0 for nothing; row 0 is empty.

    `moves` counts how often a separator was replaced. `proposal` is a cache for predictions, None
    if there is none (`core/prediction.py`).
    """

    def __init__(self, scores: ClassScores) -> None:
        self.scores = scores
        self.W: Floats = np.zeros((1, scores.V.shape[1]))
        self.b: Floats = np.zeros(1)
        self.at: Slots = np.zeros(len(scores.scale), dtype=np.int32)
        self.records: dict[int, Separator] = {}
        self.moves = 0
        self.proposal: Proposal | None = None
        self._tail = [1]  # how many rows of the shared W are in use
        self._log = _Log(1, 0)
        self._in_use: dict[int, Ints] = {}

    @property
    def has_far(self) -> bool:
        """Whether there may be pairs without weights."""
        return self.scores.near_classes is not None or not self.scores.has_weights

    def __getitem__(self, pair: int) -> Separator:
        return self.records.get(pair) or empty_separator(pair, self.scores)

    def stored(self) -> list[int]:
        """Return the numbers of the pairs for which something is stored, ascending."""
        return sorted(self.records)

    def support_of(self, pair: int) -> Pool:
        """Return the pool of a pair."""
        record = self.records.get(pair)
        return Pool() if record is None else record.pool

    def misfits(self, pair: int) -> Ints:
        """Return the places of the misfits of a separator."""
        record = self.records.get(pair)
        return NO_PLACES if record is None else record.misfits

    def waiting(self) -> list[int]:
        """Return the pairs with pending examples, or that support vectors have left."""
        records = self.records.items()
        return [pair for pair, record in records if len(record.pending) or record.left]

    def holding(self, pairs: Iterable[int], places: Ints) -> list[int]:
        """Return the pairs of which the record holds one of some places."""
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

    def drop_products(self) -> None:
        """Free the inner products of small pools: a cache."""
        for record in self.records.values():
            record.pool.drop_products()

    def replaced(self, changed: Mapping[int, Separator], scores: ClassScores) -> "Separators":
        """Return these with some separators replaced, and with class scores.

        Pairs that the scores make near or far, or whose prior they change, must be among those that
        are replaced.
        """
        if not changed and scores is self.scores:
            return self
        twin = self._with_room(changed)
        known, twin.at = twin.at, np.zeros(len(scores.scale), dtype=np.int32)
        twin.at[: len(known)] = known
        twin.scores, twin.moves = scores, self.moves + len(changed)
        rows = twin._written({pair: one for pair, one in changed.items() if not one.is_far})
        for pair, separator in changed.items():
            twin.records.pop(pair, None)  # the latest are the last ones
            if separator.is_far:
                twin._put_far(pair, separator)
            else:
                twin.records[pair] = Separator(next(rows), *separator[1:])
        return twin

    def only(self, kept: list[int]) -> "Separators":
        """Return the separators between some regions, numbered again from 0."""
        number = {c: n for n, c in enumerate(kept)}
        twin, index = self._shallow(), np.array(kept, dtype=np.int64)
        twin.scores, twin.proposal, twin.records = self.scores.only(kept), None, {}
        twin.at = np.zeros(pair_count(len(kept)), dtype=np.int32)
        for high in range(1, len(kept)):
            pairs = pair_numbers(index[:high], index[high])
            twin.at[pair_count(high) : pair_count(high + 1)] = self.at[pairs]
        for pair, record in self.records.items():
            low, high = regions_of(pair)
            if low in number and high in number:
                twin.records[pair_number(number[low], number[high])] = record
        return twin

    def moved(self, number: Ints) -> "Separators":
        """Return the same separators after the example at place p has moved to number[p]."""
        moved = {pair: record.moved(number) for pair, record in self.records.items()}
        twin = self._shallow()
        twin.records = moved
        twin._rewrite_log(moved, 0, 0)
        return twin

    def for_kernels(self, images: Images, owner: Ints, table: RowTable, X: Floats) -> kernels.Far:
        """Return what the kernels for far pairs take to compute the values of some rows.

        All support vectors of far pairs must have images.
        """
        scores, pictures, products = self.scores, images.all_slots(), np.empty((0, 0))
        V, halves, scale = scores.V, scores.halves, scores.scale
        pairs = scale, self.at, *self._log.arrays
        if not scores.has_weights:
            products = images.products(X, table, self._log.used)
        return kernels.Far(V, halves, owner, *pairs, *pictures, self.W, self.b, products)

    def _written(self, near: Mapping[int, Separator]) -> Iterator[Floats]:
        # The rows of W that some separators of a new object get.
        start, end = self._tail[0], self._tail[0] + len(near)
        self._tail[0], W = end, self.W[start:end]
        np.concatenate([NO_WEIGHTS, *(each.w for each in near.values())], out=W.reshape(-1))
        self.b[start:end] = [each.b for each in near.values()]
        self.at[np.array([*near], dtype=np.int64)] = np.arange(start, end)
        return iter(W)

    def _put_far(self, pair: int, separator: Separator) -> None:
        pool, self.at[pair] = separator.pool, 0
        if len(pool):
            self.at[pair] = -self._log.write(pool, separator.bounds)
        if len(pool) or len(separator.misfits):
            self.records[pair] = separator

    def _shallow(self) -> "Separators":
        twin = Separators.__new__(Separators)
        vars(twin).update(vars(self), _in_use={})
        return twin

    def _with_room(self, changed: Mapping[int, Separator]) -> "Separators":
        # A twin with free rows of W and room in the log; what is in use is copied otherwise.
        twin, far = self._shallow(), [each.pool for each in changed.values() if each.is_far]
        twin.records = self.records.copy()
        more, entries = len(changed) - len(far), sum(len(pool.places) for pool in far)
        if self._tail[0] + more > len(self.b):
            pairs = [pair for pair, record in self.records.items() if not record.is_far]
            used = len(pairs) + 1
            size = used + more + max(used, more)
            twin.W, twin.b = np.zeros((size, self.W.shape[1])), np.zeros(size)
            rows, twin._tail, twin.at = self.at[pairs], [used], self.at.copy()
            twin.b[1:used] = self.b[rows]
            self.W.take(rows, axis=0, out=twin.W[1:used], mode="clip")  # "raise" copies once more
            twin.at[pairs] = np.arange(1, used)
            for pair, w in zip(pairs, twin.W[1:used], strict=True):
                twin.records[pair] = Separator(w, *self.records[pair][1:])
        if not self._log.has_room(len(far), entries):
            twin._rewrite_log(twin.records, len(far), entries)
        return twin

    def _rewrite_log(self, records: Mapping[int, Separator], more: int, entries: int) -> None:
        # A new log of the support of these records, with room for more.
        far = {pair: each for pair, each in records.items() if each.is_far}
        numbers = len(far) + more
        entries += sum(len(each.pool.places) for each in far.values())
        self._log, self.at = _Log(2 * numbers + 1, 2 * entries), self.at.copy()
        for pair, each in far.items():
            if len(each.pool.places):
                self.at[pair] = -self._log.write(each.pool, each.bounds)


class _Log:
    """The support of far pairs, one after the other, each under its number from 1; append only."""

    def __init__(self, numbers: int, entries: int) -> None:
        self.start: Ints = np.zeros(numbers, dtype=np.int64)
        self.size: Ints = np.zeros(numbers, dtype=np.int64)
        self.bounds: Floats = np.zeros((numbers, 3))
        self.places: Ints = np.zeros(entries, dtype=np.int64)
        self.coef: Floats = np.zeros(entries)
        self._used, self._numbers = 0, 1

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats, Ints]:
        """What the kernels take of it."""
        return self.start, self.size, self.bounds, self.coef, self.places

    @property
    def used(self) -> Ints:
        """The places of all entries, ascending."""
        return np.unique(self.places[: self._used])

    def has_room(self, numbers: int, entries: int) -> bool:
        """Return whether so many more supports of so many entries can be written."""
        fits = self._numbers + numbers <= len(self.start) or not numbers
        return fits and self._used + entries <= len(self.coef)

    def write(self, pool: Pool, bounds: Bounds) -> int:
        """Write a support, and return its number."""
        number, start, end = self._numbers, self._used, self._used + len(pool.places)
        self._numbers, self._used = number + 1, end
        self.places[start:end], self.coef[start:end] = pool.places, pool.signs * pool.alpha
        self.start[number], self.size[number], self.bounds[number] = start, end - start, bounds
        return number


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
        known = found.get(pair_number(a, b), Pool())
        stays &= ~np.isin(pool.places, known.places)
        signs = np.where(own == min(a, b), 1.0, -1.0)
        parts = (
            (known.places, pool.places[stays]),
            (known.signs, signs[stays]),
            (known.alpha, pool.alpha[stays]),
        )
        places, signs, alpha = (np.concatenate(part) for part in parts)
        found[pair_number(a, b)] = Pool(places, signs, alpha, np.zeros_like(places))
    return found
