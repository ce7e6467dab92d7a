"""The pool of a separator (its candidate support vectors), and the optimum over it."""

import ctypes
import sys
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Digests, Floats, Ints
from minout.core.images import Images
from minout.core.regions import among
from minout.core.table import RowTable, activations, rows_at
from minout.errors import NotConverged
from minout.kernels import Factor, Rows
from minout.maths import Geometry, Prior

IDLE = 30  # a member whose α has been 0 for this many solves is removed from the pool
CHEAP = 16_000_000
"""A pool whose inner products take fewer multiplications is small: it is solved from scratch."""
SMALL_ROOM = 400_000_000
"""The bytes that all small pools together may use for inner products and factors."""
LARGE_ROOM = 4_000_000_000
"""The bytes that all large pools together may use for inner products and factors."""
UNSOLVED_RESIDUAL = 1e-6  # the residual above which a separator counts as not solved


class Problem(NamedTuple):
    """What all separators share: rows, weights and digests by place, metric, λ, their number."""

    table: RowTable
    weights: Floats
    digests: Digests
    geometry: Geometry
    images: Images
    lam: float
    separators: int = 1


class WarmStart(NamedTuple):
    """Warm-start data from one solve to the next; without it results differ by rounding only.

    If solved for α: inner products of the first `known` members, and the factor. If solved for w:
    u. r holds the target margins minus those of the prior, for the first members. `products` are
    the inner products of a small pool's first members: the lower half, row by row. All are of rows
    times the square roots of their weights.
    """

    r: Floats | None = None
    gram: Floats | None = None
    known: int = 0
    factor: Factor | None = None
    u: Floats | None = None
    products: Floats | None = None


NOTHING = WarmStart()


class PoolRows(NamedTuple):
    """The rows of a pool: their places, signs and α, and for how many solves α has been 0.

    A row's slack is λα divided by its weight.
    """

    places: Ints
    signs: Floats
    alpha: Floats
    idle: Ints


class Pool:
    """Places of rows, their signs and α; `solve` makes α the optimum for them.

    Small pools are solved for α, from inner products; pools of more rows than dimensions for w. A
    pool that is part of a state is not changed; a step works on a `fork` of it.
    """

    __slots__ = ("_warm_start", "alpha", "idle", "places", "prior", "signs")

    def __init__(self, prior: Prior) -> None:
        self.prior = prior
        self.places: Ints = np.empty(0, dtype=np.int64)
        self.signs: Floats = np.empty(0)
        self.alpha: Floats = np.empty(0)
        self.idle: Ints = np.empty(0, dtype=np.int64)
        self._warm_start = NOTHING

    @classmethod
    def restored(
        cls, prior: Prior, places: Ints, signs: Floats, alpha: Floats, idle: Ints
    ) -> "Pool":
        """Return a pool restored from saved values, without warm-start data."""
        pool = cls(prior)
        pool.places, pool.signs, pool.alpha, pool.idle = places, signs, alpha, idle
        return pool

    def moved(self, number: Ints) -> "Pool":
        """Return the same pool after the row at place p has moved to number[p]."""
        twin = self.with_prior(self.prior)
        twin.places = number[self.places]
        return twin

    def fork(self) -> "Pool":
        """Return a copy that may be changed without changing this pool.

        The array of inner products is shared: new ones are written after those of this pool.
        """
        twin = self.with_prior(self.prior)
        factor = self._warm_start.factor
        if factor is not None:
            factor = Factor(factor.L.copy(), factor.order.copy(), factor.size.copy())
            twin._warm_start = self._warm_start._replace(factor=factor)
        return twin

    def with_prior(self, prior: Prior) -> "Pool":
        """Return a pool with another prior that shares everything else, without a copy."""
        twin = Pool.__new__(Pool)
        twin.prior, twin._warm_start = prior, self._warm_start
        twin.places, twin.signs = self.places, self.signs
        twin.alpha, twin.idle = self.alpha, self.idle
        return twin

    def widened(self) -> "Pool":
        """Return the same pool for rows with more columns, in which all of its rows have 0.

        The start of solves in the primal is dropped.
        """
        twin = self.with_prior(self.prior)
        twin._warm_start = self._warm_start._replace(u=None)
        return twin

    def support(self, prior: Prior) -> "Pool":
        """Return a pool of the rows with α > 0, for another geometry and prior."""
        return self._picked(np.flatnonzero(self.alpha > 0.0), prior)

    def drop_products(self) -> None:
        """Free the inner products of a small pool; they can be computed again, to the same bits."""
        self._warm_start = self._warm_start._replace(products=None)

    def only(self, which: Bools) -> "Pool":
        """Return a pool of some of the rows, without warm-start data."""
        return self._picked(np.flatnonzero(which), self.prior)

    def sorted_by(self, rank: Ints, least_alpha: Floats) -> "Pool":
        """Return a pool of the rows with α > least_alpha, in the order of their places' ranks.

        Ranks and least_alpha are by place.
        """
        used = np.flatnonzero(self.alpha > least_alpha[self.places])
        order = np.argsort(rank[self.places[used]], kind="stable")
        return self._picked(used[order], self.prior)

    def restart(self, prior: Prior) -> None:
        """Replace the prior; the inner products stay as they are."""
        self.prior = prior
        self._warm_start = self._warm_start._replace(r=None, u=None)

    def join(self, places: Ints, signs: Floats) -> None:
        """Add rows, with α = 0."""
        self.places = np.concatenate([self.places, places])
        self.signs = np.concatenate([self.signs, signs])
        self.alpha = np.concatenate([self.alpha, np.zeros(len(places))])
        self.idle = np.concatenate([self.idle, np.zeros(len(places), dtype=np.int64)])

    def without(self, places: Ints) -> "Pool":
        """Return a pool without some rows, whatever their α; this one stays as it is.

        The factor is that without these rows, so that the next solve need not start anew.
        """
        twin, leaving = self.fork(), among(self.places, places)
        factor = twin._warm_start.factor
        if factor is not None:
            kernels.drop_members(factor, leaving)
        twin._keep(~leaving)
        return twin

    def is_small(self, problem: Problem) -> bool:
        """Return whether it is solved for α and its inner products are cheap to compute."""
        return self._is_cheap() and self.goes_by_alpha(problem)

    def products(self) -> Floats | None:
        """Return the known inner products of a small pool: the lower half, row by row."""
        return self._warm_start.products

    def take(self, rows: PoolRows, products: Floats, problem: Problem) -> None:
        """Replace rows by those solved in a batch; keep inner products if the limit allows."""
        self.places, self.signs, self.alpha, self.idle = rows
        has_room = products.nbytes * problem.separators <= SMALL_ROOM
        self._warm_start = WarmStart(products=products) if has_room else NOTHING

    def solve(self, problem: Problem, *, by_w: bool = False) -> None:
        """Move α to the optimum over the members; raise NotConverged if that fails.

        With `by_w`, solve for w directly and from the start: slower for few members, but it stands
        large weights that contradict each other.
        """
        warm, self._warm_start = NOTHING if by_w else self._warm_start, NOTHING
        r = self._targets(problem, warm.r)
        if not by_w and self.goes_by_alpha(problem):
            warm = self._solve_by_alpha(problem, warm, r)
        else:
            warm = self._solve_by_w(problem, warm, r)
        self.idle = np.where(self.alpha > 0.0, 0, self.idle + 1)
        self._warm_start = warm

    def weights(self, problem: Problem) -> tuple[Floats, float]:
        """Return w and b of the separator that the last solve found."""
        u = self._warm_start.u
        if u is not None:
            return self.prior.w + u[:-1], self.prior.b + float(u[-1])
        w = self.prior.w.copy()
        signed = self.signs * self.alpha
        used = np.flatnonzero(signed)
        if used.size:
            images, which = problem.images.of(problem.table, self.places[used])
            kernels.combine(images, which, signed[used], w)
        total = float(signed.cumsum()[-1]) if used.size else 0.0  # one after the other
        return w, self.prior.b + total

    def trim(self, problem: Problem) -> None:
        """Remove members that were idle too long, and caches that take too much memory."""
        if (self.idle > IDLE).any():
            self._keep(self.idle <= IDLE)
        # By the number of members, not by the allocated size: a pool that was loaded from a file
        # has another spare capacity, and must drop its factor at the same step.
        size = 2 * 8 * _room(len(self.places)) ** 2
        if size * problem.separators > (SMALL_ROOM if self._is_cheap() else LARGE_ROOM):
            self._warm_start = self._warm_start._replace(gram=None, known=0, factor=None)

    def _is_cheap(self) -> bool:
        return len(self.places) ** 2 * len(self.prior.w) < CHEAP

    def goes_by_alpha(self, problem: Problem) -> bool:
        """Return whether the next solve is for α, from images, not for w directly."""
        many = len(self.places) > max(problem.table.shape[1] + 1, 64)
        return not many or problem.geometry.precision is None

    def _targets(self, problem: Problem, known: Floats | None) -> Floats:
        known = np.empty(0) if known is None else known
        late = slice(len(known), None)
        f0 = np.empty(len(self.places) - len(known))
        origin = problem.geometry.origin
        activations(self.prior.w, self.prior.b, problem.table, self.places[late], origin, f0)
        roots = self._roots(problem)[late]
        return np.concatenate([known, roots * (1.0 - self.signs[late] * f0)])

    def _roots(self, problem: Problem) -> Floats:
        # A row of weight ω is solved as one of weight 1 whose margin, target and sign are √ω times
        # as large, and whose α is 1/√ω of its own.
        return np.sqrt(problem.weights[self.places])

    def _solve_by_alpha(self, problem: Problem, warm: WarmStart, r: Floats) -> WarmStart:
        gram = self._gram(problem, warm)
        if warm.factor is None:
            factor = kernels.empty_factor(len(gram))
        else:
            factor = _resized(warm.factor, warm.factor.order, len(gram))
        roots = self._roots(problem)
        alpha = self.alpha / roots
        if not kernels.newton(gram, r, problem.lam, alpha, factor):
            raise NotConverged("a separator did not settle")
        self.alpha = alpha * roots
        return WarmStart(r=r, gram=gram, known=len(r), factor=factor)

    def _gram(self, problem: Problem, warm: WarmStart) -> Floats:
        n, known, gram = len(self.places), warm.known, warm.gram
        if gram is None or len(gram) < n:
            old, gram = gram, np.empty((_room(n), _room(n)))
            if old is not None:
                gram[:known, :known] = old[:known, :known]
        if known < n:
            images, which = problem.images.of(problem.table, self.places)
            origin, signs = problem.geometry.origin, self.signs * self._roots(problem)
            table, places = rows_at(problem.table, self.places)
            kernels.gram(images, which, table, places, origin, signs, known, gram)
        return gram

    def _solve_by_w(self, problem: Problem, warm: WarmStart, r: Floats) -> WarmStart:
        precision, size = problem.geometry.precision, len(self.prior.w) + 1
        assert precision is not None
        P = np.zeros((size, size))
        P[:-1, :-1] = np.diag(precision) if precision.ndim == 1 else precision
        P[-1, -1] = 1.0
        roots = self._roots(problem)
        table, places = rows_at(problem.table, self.places)
        rows = Rows(table, places, problem.geometry.origin, self.signs * roots, r)
        u = np.zeros(size) if warm.u is None else warm.u.copy()
        alpha, sums = np.empty(len(r)), kernels.no_sums(len(r), size)
        residual = kernels.newton_primal(rows, P, problem.lam, u, sums, alpha)
        if not residual <= UNSOLVED_RESIDUAL:
            raise NotConverged("a separator did not settle")
        self.alpha = alpha * roots
        return WarmStart(r=r, u=u)

    def _picked(self, which: Ints, prior: Prior) -> "Pool":
        twin = Pool(prior)
        twin.places, twin.signs = self.places[which], self.signs[which]
        twin.alpha, twin.idle = self.alpha[which], self.idle[which]
        return twin

    def _keep(self, stays: Bools) -> None:
        r, gram, known, factor, u, _ = self._warm_start
        if gram is not None and known == len(self.places):
            which = stays.nonzero()[0]
            gram = np.ascontiguousarray(gram[np.ix_(which, which)])
            known = len(gram)
        else:
            gram, known = None, 0
        if factor is not None:
            factor = _renumbered(factor, stays)
        r = None if r is None else r[stays[: len(r)]]
        self._warm_start = WarmStart(r, gram, known, factor, u)
        self.places, self.signs = self.places[stays], self.signs[stays]
        self.alpha, self.idle = self.alpha[stays], self.idle[stays]


def _room(members: int) -> int:
    # The number of members for which inner products are allocated.
    return members + members // 4 + 8


def _renumbered(factor: Factor, stays: Bools) -> Factor | None:
    order = factor.order[: factor.size[0]]
    if not stays[order].all():
        return None
    return _resized(factor, (np.cumsum(stays) - 1)[order], int(stays.sum()))


def _resized(factor: Factor, order: Ints, capacity: int) -> Factor:
    if len(factor.L) == capacity and order is factor.order:
        return factor
    n = int(factor.size[0])
    out = kernels.empty_factor(capacity)
    out.L[:n, :n] = factor.L[:n, :n]
    out.order[:n] = order[:n]
    out.size[0] = n
    return out


def trim_heap() -> None:
    """Ask the C library to return freed memory; glibc otherwise keeps up to 100 MB here."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
