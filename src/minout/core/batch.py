"""Solve many small pools, and compute the margins of their classes, in one compiled call."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.pool import IDLE, Pool, PoolRows, Problem

WORTH_DIVIDING = 50_000_000  # batches of fewer multiplications are not divided between threads


class SolvedPool(NamedTuple):
    """A pool's separator, and the margins of all examples of its two classes.

    `is_settled` is true if all margins are above 0, and all are at or above the bound except those
    of pool members whose slack covers the difference.
    """

    w: Floats
    b: float
    is_settled: bool
    least: float
    margins: Floats


def solve_and_measure(
    pools: Sequence[Pool],
    sides: Sequence[tuple[Ints, Ints]],
    problem: Problem,
    bound: float,
    tolerance: float,
) -> list[SolvedPool | None]:
    """Solve each pool and compute the margins of both of its sides; None where that failed.

    The results equal those of `Pool.solve` and `Pool.weights` on a pool without caches. Members
    that were idle too long are removed from settled pools.
    """
    flat = _end_to_end(pools)
    images, which = problem.images.of(problem.table, flat.places)
    flat = flat._replace(which=which)
    examples, geometry = _both_sides(sides), problem.geometry
    table, weights, different = problem.table, problem.weights, None
    if not isinstance(table, np.ndarray):  # decode each row once, and number them anew
        both = np.concatenate([flat.places, examples.places])
        different, index = np.unique(both, return_inverse=True)
        table, weights = table[different], weights[different]
        flat = flat._replace(places=index[: len(flat.places)])
        examples = examples._replace(places=index[len(flat.places) :])
    shared = kernels.Problem(table, weights, geometry.origin, images, problem.lam)
    W, b = np.array([pool.prior.w for pool in pools]), np.array([pool.prior.b for pool in pools])
    verdicts, least = np.empty(len(pools), dtype=np.int64), np.empty(len(pools))
    limits = kernels.Limits(bound, tolerance, IDLE)
    kernels.in_threads(
        lambda part: kernels.settle_pools(
            *part, shared, flat, W, b, examples, limits, verdicts, least
        ),
        _parts(flat.start, examples.start, W.shape[1]),
    )
    if different is not None:
        flat = flat._replace(places=different[flat.places])
    found: list[SolvedPool | None] = []
    ends, everybody = examples.start.tolist(), examples.margins
    for p, (pool, members) in enumerate(zip(pools, _parted(flat), strict=True)):
        if verdicts[p] == kernels.UNSOLVED:
            found.append(None)
            continue
        pool.take(*members, problem)
        is_settled, margins = verdicts[p] == kernels.SETTLED, everybody[ends[p] : ends[p + 1]]
        found.append(SolvedPool(W[p], float(b[p]), bool(is_settled), float(least[p]), margins))
    return found


def _end_to_end(pools: Sequence[Pool]) -> kernels.Pools:
    sizes = np.array([len(pool.places) for pool in pools])
    start, product_start = _starts(sizes), _starts(sizes * (sizes + 1) // 2)
    products, known = np.empty(product_start[-1]), np.zeros(len(pools), dtype=np.int64)
    for p, (pool, at) in enumerate(zip(pools, product_start.tolist(), strict=False)):
        given = pool.products()
        if given is not None:
            products[at : at + len(given)] = given
            known[p] = (math.isqrt(8 * len(given) + 1) - 1) // 2  # n(n + 1)/2 products are given
    return kernels.Pools(
        start,
        np.concatenate([pool.places for pool in pools]),
        start,
        np.concatenate([pool.signs for pool in pools]),
        np.concatenate([pool.alpha for pool in pools]),
        np.concatenate([pool.idle for pool in pools]),
        product_start,
        products,
        known,
        np.empty(len(pools), dtype=np.int64),
    )


def _both_sides(sides: Sequence[tuple[Ints, Ints]]) -> kernels.Sides:
    sizes = [len(side) for both in sides for side in both]
    places = np.concatenate([side for both in sides for side in both])
    signs = np.repeat(np.tile([1.0, -1.0], len(sides)), sizes)
    return kernels.Sides(_starts(sizes)[::2].copy(), places, signs, np.empty(len(places)))


def _parted(flat: kernels.Pools) -> Iterator[tuple[PoolRows, Floats]]:
    # The members that stay in each pool, and their inner products.
    starts, product_starts = flat.start.tolist(), flat.product_start.tolist()
    for start, at, n in zip(starts, product_starts, flat.staying.tolist(), strict=False):
        end = start + n
        members = PoolRows(
            flat.places[start:end].copy(),
            flat.signs[start:end].copy(),
            flat.alpha[start:end].copy(),
            flat.idle[start:end].copy(),
        )
        yield members, flat.products[at : at + n * (n + 1) // 2].copy()


def _starts(sizes: Sequence[int] | Ints) -> Ints:
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _parts(start: Ints, theirs: Ints, width: int) -> list[tuple[int, int]]:
    # One part with all pools, or two parts of about equal work.
    n, members = np.diff(theirs), np.diff(start)
    work = np.cumsum((n + members * members // 2) * width)
    if work[-1] < WORTH_DIVIDING:
        return [(0, len(n))]
    middle = int(np.searchsorted(work, work[-1] // 2))
    return [(0, middle), (middle, len(n))]
