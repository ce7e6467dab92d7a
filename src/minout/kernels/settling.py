"""Many small pools in one call: inner products, optimum, weights, and both classes' margins.

Each number is what `gram`, `newton`, `combine` and `activations` make of it, to the last bit; here
nothing is kept from one solve to the next, and no time is lost between them.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled, inlined
from minout.kernels.grams import combine, gram
from minout.kernels.margins import activations
from minout.kernels.newton import Factor, newton

SETTLED, IN_DOUBT, UNSOLVED = 0, 1, 2


class Problem(NamedTuple):
    """The problem of all pools: rows (n, d), their weights (n,) and origin, images (m, d), λ."""

    table: Floats
    weights: Floats
    origin: Floats
    images: Floats
    lam: float


class Pools(NamedTuple):
    """The members of many pools, concatenated: those of pool p are start[p] … start[p + 1] - 1.

    images[which[i]] is the image of member i. products holds the lower halves of the pools' inner
    products, row by row and concatenated, from product_start[p]; the first known[p] rows are given.
    staying (p,) is a buffer for the number of members that stay.
    """

    start: Ints
    places: Ints
    which: Ints
    signs: Floats
    alpha: Floats
    idle: Ints
    product_start: Ints
    products: Floats
    known: Ints
    staying: Ints


class Sides(NamedTuple):
    """All examples of each pool's classes, concatenated, and a buffer for their margins."""

    start: Ints
    places: Ints
    signs: Floats
    margins: Floats


class Limits(NamedTuple):
    """The bound on margins, the tolerance, and the idle solves after which rows leave."""

    bound: float
    tolerance: float
    idle: int


@compiled
def settle_pools(
    first: int,
    last: int,
    problem: Problem,
    pools: Pools,
    W: Floats,
    b: Floats,
    sides: Sides,
    limits: Limits,
    verdicts: Ints,
    least: Floats,
) -> None:
    """Solve pools first … last - 1 and check all examples; W and b hold priors, then weights.

    verdicts[p] is SETTLED if all margins are above 0, and all are at or above the bound except
    those of members whose slack covers the difference; least[p] is then the smallest margin, and
    members that were idle too long are removed. IN_DOUBT means that the margins must be checked
    further. UNSOLVED means that the optimum was not found; the pool's arrays are then undefined.
    """
    most = 0
    for p in range(first, last):
        most = max(most, pools.start[p + 1] - pools.start[p])
    G, lower = np.empty((most, most)), np.empty((most, most))
    order, size = np.empty(most, np.int64), np.zeros(1, np.int64)
    table, weights, origin, images, lam = problem
    for p in range(first, last):
        first_row, end = pools.start[p], pools.start[p + 1]
        places, which = pools.places[first_row:end], pools.which[first_row:end]
        signs, alpha = pools.signs[first_row:end], pools.alpha[first_row:end]
        idle = pools.idle[first_row:end]
        products = pools.products[pools.product_start[p] : pools.product_start[p + 1]]
        n = places.shape[0]
        r, roots, scaled = np.empty(n), np.empty(n), np.empty(n)
        activations(W[p], b[p], table, places, origin, r)
        for i in range(n):
            roots[i] = np.sqrt(weights[places[i]])
            r[i] = roots[i] * (1.0 - signs[i] * r[i])
            scaled[i] = signs[i] * roots[i]
            alpha[i] /= roots[i]
        _spread(products, pools.known[p], G)
        gram(images, which, table, places, origin, scaled, pools.known[p], G)
        size[0] = 0
        pools.staying[p] = places.shape[0]
        if not newton(G, r, lam, alpha, Factor(lower, order, size)):
            verdicts[p] = UNSOLVED
            continue
        total = 0.0
        for i in range(n):
            alpha[i] *= roots[i]
            r[i] = signs[i] * alpha[i]
            total += r[i]
            idle[i] = 0 if alpha[i] > 0.0 else idle[i] + 1
        combine(images, which, r, W[p])
        b[p] += total
        side, last_side = sides.start[p], sides.start[p + 1]
        everybody, margins = sides.places[side:last_side], sides.margins[side:last_side]
        activations(W[p], b[p], table, everybody, origin, margins)
        least[p] = np.inf
        for i in range(margins.shape[0]):
            margins[i] *= sides.signs[side + i]
            least[p] = min(least[p], margins[i])
        verdicts[p] = _verdict(everybody, margins, places, alpha, weights, lam, limits)
        if verdicts[p] == SETTLED:
            pools.staying[p] = _without_idle(places, signs, alpha, idle, limits.idle, order)
        else:
            for i in range(places.shape[0]):
                order[i] = i
        _gather(G, order, pools.staying[p], products)


@inlined
def _spread(products: Floats, known: int, G: Floats) -> None:
    at = 0
    for i in range(known):
        for j in range(i + 1):
            G[i, j] = G[j, i] = products[at]
            at += 1


@inlined
def _gather(G: Floats, which: Ints, count: int, products: Floats) -> None:
    at = 0
    for i in range(count):
        for j in range(i + 1):
            products[at] = G[which[i], which[j]]
            at += 1


@inlined
def _without_idle(
    places: Ints, signs: Floats, alpha: Floats, idle: Ints, longest: int, which: Ints
) -> int:
    # Move the remaining members to the front, and return their indices.
    k = 0
    for i in range(places.shape[0]):
        if idle[i] <= longest:
            places[k], signs[k], alpha[k], idle[k] = places[i], signs[i], alpha[i], idle[i]
            which[k] = i
            k += 1
    return k


@inlined
def _verdict(
    everybody: Ints,
    margins: Floats,
    pooled: Ints,
    alpha: Floats,
    weights: Floats,
    lam: float,
    limits: Limits,
) -> int:
    for i in range(everybody.shape[0]):
        if margins[i] >= limits.bound:
            continue
        made_up_for = False
        for j in range(pooled.shape[0]):
            if pooled[j] == everybody[i]:
                slack = lam * alpha[j] / weights[pooled[j]]
                made_up_for = limits.bound - margins[i] - slack <= limits.tolerance
        if not made_up_for or not margins[i] > 0.0:
            return IN_DOUBT
    return SETTLED
