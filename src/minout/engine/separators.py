"""The separators: one per pair of classes, and an index of the examples on a wrong side.

Classes are numbered in the order in which they appear. The separator of classes low < high has
the number high(high - 1)/2 + low and is positive on the side of low. The kernels number them alike.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.engine.pool import Pool
from minout.engine.reference import Reference
from minout.maths import Prior

NO_PLACES: Ints = np.empty(0, dtype=np.int64)
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
    less are also among the misfits.
    """

    w: Floats
    b: float
    pool: Pool
    misfits: Ints
    reference: Reference
    pending: Ints = NO_PLACES

    def waits(self, margin: float, rows: int) -> bool:
        """Return whether a new example with a low margin waits for the next settle.

        Parameters
        ----------
        margin : float
            Its margin.
        rows : int
            How many rows the next settle checks: those of both classes, the new one included.
        """
        size, waiting = len(self.pool.places), len(self.pending) + 1
        if size > LARGE_POOL and waiting < PENDING_SHARE * size:
            return True
        is_costly = rows * len(self.w) >= COSTLY
        return margin > 0.0 and is_costly and waiting < FITTED_SHARE * size

    @classmethod
    def new(cls, width: int) -> "Separator":
        """Return a separator that has not been solved yet."""
        nowhere = np.zeros(width)
        return cls(nowhere, 0.0, Pool(Prior(nowhere, 0.0)), NO_PLACES, Reference())


class Proposal(NamedTuple):
    """One linear score per class, V[c]·(x - origin) + v[c], to guess the class of a row.

    V (classes, d) and v are the sums of the separators of each class, in float32, at the time when
    `moves` separators had been replaced.
    """

    V: NDArray[np.float32]
    v: NDArray[np.float32]
    moves: int


def pair_number(a: int, b: int) -> int:
    """Return the number of the separator of classes a and b."""
    high, low = max(a, b), min(a, b)
    return high * (high - 1) // 2 + low


def classes_of(pair: int) -> tuple[int, int]:
    """Return the classes (low, high) of a separator."""
    high = (1 + math.isqrt(8 * pair + 1)) // 2
    return pair - high * (high - 1) // 2, high


def pair_count(classes: int) -> int:
    """Return the number of separators for a number of classes."""
    return classes * (classes - 1) // 2


def all_pairs(classes: int) -> Iterator[tuple[int, int, int]]:
    """Yield (number, low, high) of every separator, in the order of their numbers."""
    pair = 0
    for high in range(1, classes):
        for low in range(high):
            yield pair, low, high
            pair += 1


class Separators:
    """All separators, by number: weights packed for the kernels, the rest in lists.

    `violations` counts for each place in how many separators of its class it is a misfit;
    `listed` counts, for the digest of each such row, the places that have it. Entries beyond the
    separators and places in use mean nothing.

    `moves` counts how often a separator was replaced. `proposal` is a cache for predictions, None
    if there is none (`engine/prediction.py`).
    """

    def __init__(self, width: int) -> None:
        self.W: Floats = np.zeros((1, width))
        self.b: Floats = np.zeros(1)
        self.pools: list[Pool] = []
        self.misfits: list[Ints] = []
        self.references: list[Reference] = []
        self.pending: list[Ints] = []
        self.violations: Ints = np.zeros(8, dtype=np.int64)
        self.listed: dict[int, int] = {}
        self.moves = 0
        self.proposal: Proposal | None = None

    def __getitem__(self, pair: int) -> Separator:
        return Separator(
            self.W[pair],
            float(self.b[pair]),
            self.pools[pair],
            self.misfits[pair],
            self.references[pair],
            self.pending[pair],
        )

    def put(self, pair: int, separator: Separator) -> None:
        """Replace a separator, in place; call `make_room` first."""
        self.W[pair], self.b[pair] = separator.w, separator.b
        self.moves += 1
        self.pools[pair] = separator.pool
        self.misfits[pair] = separator.misfits
        self.references[pair] = separator.reference
        self.pending[pair] = separator.pending

    def make_room(self, pairs: int, places: int) -> None:
        """Grow the arrays, if needed, to hold this many separators and places."""
        if pairs > len(self.b):
            W, b = np.zeros((2 * pairs, self.W.shape[1])), np.zeros(2 * pairs)
            W[: len(self.b)], b[: len(self.b)] = self.W, self.b
            self.W, self.b = W, b
        while len(self.references) < pairs:
            new = Separator.new(self.W.shape[1])
            at = len(
                self.references
            )  # after an interruption, the list that is extended last shows what is missing
            self.pools[at:], self.misfits[at:] = [new.pool], [new.misfits]
            self.pending[at:] = [new.pending]
            self.references[at:] = [new.reference]
        if places > len(self.violations):
            more = np.zeros(max(places - len(self.violations), len(self.violations)), np.int64)
            self.violations = np.concatenate([self.violations, more])

    def only(self, kept: list[int]) -> "Separators":
        """Return the separators between some classes, numbered again from 0."""
        pairs = [pair_number(low, high) for h, high in enumerate(kept) for low in kept[:h]]
        twin = Separators(self.W.shape[1])
        twin.make_room(len(pairs), len(self.violations))
        twin.W[: len(pairs)], twin.b[: len(pairs)] = self.W[pairs], self.b[pairs]
        twin.pools = [self.pools[pair] for pair in pairs]
        twin.misfits = [self.misfits[pair] for pair in pairs]
        twin.references = [self.references[pair] for pair in pairs]
        twin.pending = [self.pending[pair] for pair in pairs]
        twin.violations[: len(self.violations)] = self.violations
        twin.listed = dict(self.listed)
        return twin
