"""The records that kernels take and return; `native/` has a structure for each."""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints

SETTLED, IN_DOUBT, UNSOLVED = 0, 1, 2


class Factor(NamedTuple):
    """L (cap, cap), lower, with L L' = G_AA + λI, and `order`, the pool's members in A.

    size (1,) says how many there are.
    """

    L: Floats
    order: Ints
    size: Ints


def empty_factor(capacity: int) -> Factor:
    """Return an empty factor."""
    return Factor(
        np.zeros((capacity, capacity)),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


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


class Sums(NamedTuple):
    """U (d + 1, d + 1), upper, with U'U = λP + Σ_A s² z z', q = Σ_A s r z (d + 1,), inside (n,).

    inside says which rows are in A. If U is 0, there is no factor yet, and the rest is ignored.
    """

    U: Floats
    q: Floats
    inside: Bools


def no_sums(members: int, size: int) -> Sums:
    """Return sums without a factor."""
    return Sums(np.zeros((size, size)), np.zeros(size), np.zeros(members, dtype=bool))


class Rows(NamedTuple):
    """The pool: its rows table[places], their signs and targets r."""

    table: Floats
    places: Ints
    origin: Floats
    signs: Floats
    r: Floats


class ClassPriors(NamedTuple):
    """The priors of all pairs of regions a, b.

    f0 = scale[a, b]·(inside[a] - inside[b] - middle[a, b]) at the rows that separators are found
    on, with `outside` at the others. inside (m, n) has the inner products of the means of the
    regions with the first, outside (m, h) with the others. A scale of 0 is no prior.
    """

    inside: Floats
    outside: Floats
    middle: Floats
    scale: Floats


class Divided(NamedTuple):
    """The regions of some rows: those of c are rows[start[c]] … rows[start[c + 1] - 1].

    owner[c] is the label of region c; weights are by row.
    """

    rows: Ints
    start: Ints
    owner: Ints
    weights: Floats


class Products(NamedTuple):
    """Rows to find separators on, and others: coordinates Z (n, d) and others (h, d), or products.

    inside (n, n) are the inner products of the rows, outside (n, h) those with the others. They are
    not read if d is not 0.
    """

    Z: Floats
    others: Floats
    inside: Floats
    outside: Floats


class Candidates(NamedTuple):
    """The m rows that may be support vectors without others; the first f are, in F.

    `products` (m, m) are z_i'K z_j, or empty if nothing is to be solved again. Signs, weights and α
    (m,); equal rows have the same number in `groups` (m,). `inverse` (f, f) is that of the
    equations on F.
    """

    products: Floats
    signs: Floats
    weights: Floats
    alpha: Floats
    groups: Ints
    inverse: Floats


class Leaving(NamedTuple):
    """Rows that leave, each with another group, and what their leaving changes.

    `groups` (n, 2), -1 for none. H (n, m) are x'K z_j, h (n, m) q'z_j; qz and gain γ are (n,). The
    priors of the candidates `prior` (n, m) and of the rows themselves `own` (n,) are those without
    the row; solved (n, f) and turned (n, f) are `inverse` times y - prior, and times h.
    """

    groups: Ints
    H: Floats
    h: Floats
    qz: Floats
    gain: Floats
    prior: Floats
    own: Floats
    solved: Floats
    turned: Floats
