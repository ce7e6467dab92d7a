"""The pool of a separator: its candidate support vectors, and what the last solve of it left."""

import ctypes
import sys
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Digests, Floats, Ints
from minout.core.images import Images
from minout.core.regions import NO_PLACES, among
from minout.core.table import RowTable
from minout.maths import Geometry, Prior

CHEAP = 16_000_000
"""A pool whose inner products take fewer multiplications is small: its factor is not kept."""
SMALL_ROOM = 400_000_000
"""The bytes that all small pools together may use for inner products."""
LARGE_ROOM = 4_000_000_000
"""The bytes that all large pools together may use for inner products and factors."""
NO_NUMBERS: Floats = np.empty(0)


class Problem(NamedTuple):
    """What all separators share: rows, weights and digests by place, metric, λ, their number."""

    table: RowTable
    weights: Floats
    digests: Digests
    geometry: Geometry
    images: Images
    lam: float
    separators: int = 1


class Start(NamedTuple):
    """What one solve leaves for the next; without it results differ by rounding only.

    If solved for α: the inner products of the first members, and their factor, whose members are
    `order`: lower halves, row by row, of rows times the square roots of their weights. If solved
    for w: u.
    """

    products: Floats = NO_NUMBERS
    factor: Floats = NO_NUMBERS
    order: Ints = NO_PLACES
    u: Floats = NO_NUMBERS


NOTHING = Start()


class Pool:
    """Places of rows, their signs and α, and for how many solves α has been 0.

    A pool that is part of a state is not changed; a step works on a copy of it, `with_prior`. The
    arrays are never changed. A row's slack is λα divided by its weight.
    """

    __slots__ = ("alpha", "idle", "places", "prior", "signs", "start")

    def __init__(self, prior: Prior) -> None:
        self.prior = prior
        self.places: Ints = NO_PLACES
        self.signs: Floats = NO_NUMBERS
        self.alpha: Floats = NO_NUMBERS
        self.idle: Ints = NO_PLACES
        self.start = NOTHING

    @classmethod
    def restored(
        cls,
        prior: Prior,
        places: Ints,
        signs: Floats,
        alpha: Floats,
        idle: Ints,
        start: Start = NOTHING,
    ) -> "Pool":
        """Return a pool with given values."""
        pool = cls.__new__(cls)
        pool.prior, pool.start = prior, start
        pool.places, pool.signs, pool.alpha, pool.idle = places, signs, alpha, idle
        return pool

    def moved(self, number: Ints) -> "Pool":
        """Return the same pool after the row at place p has moved to number[p]."""
        twin = self.with_prior(self.prior)
        twin.places = number[self.places]
        return twin

    def with_prior(self, prior: Prior) -> "Pool":
        """Return a pool with another prior that shares everything else."""
        return Pool.restored(prior, self.places, self.signs, self.alpha, self.idle, self.start)

    def widened(self) -> "Pool":
        """Return the same pool for rows with more columns, in which all of its rows have 0."""
        twin = self.with_prior(self.prior)
        twin.start = self.start._replace(u=NO_NUMBERS)
        return twin

    def support(self, prior: Prior) -> "Pool":
        """Return a pool of the rows with α > 0, for another geometry and prior."""
        return self._picked(np.flatnonzero(self.alpha > 0.0), prior)

    def drop_products(self) -> None:
        """Free the inner products of a small pool; they can be computed again, to the same bits."""
        if not len(self.start.order):
            self.start = self.start._replace(products=NO_NUMBERS)

    def only(self, which: Bools) -> "Pool":
        """Return a pool of some of the rows, to be solved from the start."""
        return self._picked(np.flatnonzero(which), self.prior)

    def sorted_by(self, rank: Ints, least_alpha: Floats) -> "Pool":
        """Return a pool of the rows with α > least_alpha, in the order of their places' ranks.

        Ranks and least_alpha are by place.
        """
        used = np.flatnonzero(self.alpha > least_alpha[self.places])
        order = np.argsort(rank[self.places[used]], kind="stable")
        return self._picked(used[order], self.prior)

    def join(self, places: Ints, signs: Floats) -> None:
        """Add rows, with α = 0."""
        self.places = np.concatenate([self.places, places])
        self.signs = np.concatenate([self.signs, signs])
        self.alpha = np.concatenate([self.alpha, np.zeros(len(places))])
        self.idle = np.concatenate([self.idle, np.zeros(len(places), dtype=np.int64)])

    def without(self, places: Ints) -> "Pool":
        """Return a pool without some rows, whatever their α.

        The factor is that without these rows, so that the next solve need not start anew.
        """
        stays = ~among(self.places, places)
        twin = self._picked(np.flatnonzero(stays), self.prior)
        products, factor, order, u = self.start
        if len(products):
            start = kernels.kept_members(products, factor, order, stays)
            twin.start = Start(*start)
        elif len(u):
            twin.start = Start(u=u)
        return twin

    def weights(self, problem: Problem) -> tuple[Floats, float]:
        """Return w and b of the separator with this α."""
        amounts = self.signs * self.alpha
        used = np.flatnonzero(amounts)
        images, which = problem.images.of(problem.table, self.places[used])
        w = self.prior.w.copy()
        kernels.add_multiples(w[None], np.zeros_like(used), images, which, amounts[used])
        return w, self.prior.b + float(np.append(0.0, amounts).cumsum()[-1])  # one after the other

    def goes_by_alpha(self, problem: Problem) -> bool:
        """Return whether the next solve is for α, from images, not for w directly."""
        many = len(self.places) > max(problem.table.shape[1] + 1, 64)
        return not many or problem.geometry.precision is None

    def _picked(self, which: Ints, prior: Prior) -> "Pool":
        return Pool.restored(
            prior, self.places[which], self.signs[which], self.alpha[which], self.idle[which]
        )


def trim_heap() -> None:
    """Ask the C library to return freed memory; glibc otherwise keeps up to 100 MB here."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
