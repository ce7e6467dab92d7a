"""Separators of all pairs of regions, solved on some rows, and their scores of other rows."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled, inlined
from minout.kernels.newton import Factor, newton
from minout.kernels.primal import Rows, Sums, _newton_primal

TOLERANCE = 1e-6
"""The largest residual of a separator that is solved."""


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


@compiled
def pair_scores(  # noqa: PLR0912 - loops compile fast
    products: Products, regions: Divided, priors: ClassPriors, lams: Floats, out: Floats
) -> bool:
    """Set out[p, i, c] to the least margin of the other row i in region c, at lams[p].

    Where coordinates are known, a separator of more than 1.25 (d + 1) rows is found in these. lams
    descend: each is solved from where the last one ended. Return False if one is not solved.
    """
    for p in range(out.shape[0]):
        for i in range(out.shape[1]):
            for c in range(out.shape[2]):
                out[p, i, c] = np.inf
    Z, start, owner, d = products.Z, regions.start, regions.owner, products.Z.shape[1]
    classes = start.shape[0] - 1
    for pair in range(classes * classes):
        a, b = pair // classes, pair % classes
        if a >= b or owner[a] == owner[b]:
            continue
        positives = start[a + 1] - start[a]
        n = positives + start[b + 1] - start[b]
        middle, scale = priors.middle[a, b], priors.scale[a, b]
        pool, signs, r, alpha = np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            pool[i] = regions.rows[start[a] + i if i < positives else start[b] + i - positives]
            root, side_of = np.sqrt(regions.weights[pool[i]]), 1.0 if i < positives else -1.0
            signs[i] = root * side_of
            apart = priors.inside[a, pool[i]] - priors.inside[b, pool[i]]
            r[i] = root * (1.0 - side_of * scale * (apart - middle))
            alpha[i] = 0.0
        f = np.empty(out.shape[1])
        short = d > 0 and 5 * (d + 1) < 4 * n
        size, side = 1 if short else n, d + 1 if short else 1
        G = np.empty((size, size))
        factor = Factor(np.empty((size, size)), np.empty(size, np.int64), np.empty(1, np.int64))
        u, U, q = np.zeros(side), np.zeros((side, side)), np.zeros(side)
        sums, P = Sums(U, q, np.zeros(n, np.bool_)), np.eye(side)
        rows = Rows(Z, pool, np.zeros(d), signs, r)
        if not short:
            _gram(products, pool, G)
            for i in range(n):
                for j in range(n):
                    G[i, j] = signs[i] * signs[j] * (G[i, j] + 1.0)
        for p in range(lams.shape[0]):
            if short:
                U[:] = 0.0
                if not _newton_primal(rows, P, lams[p], u, sums, alpha) < TOLERANCE:
                    return False
            else:
                factor.size[0] = 0
                if not newton(G, r, lams[p], alpha, factor):
                    return False
            for i in range(f.shape[0]):
                f[i] = scale * (priors.outside[a, i] - priors.outside[b, i] - middle)
            _add_margins(products, pool, signs, alpha, f)
            for i in range(f.shape[0]):
                out[p, i, a] = min(out[p, i, a], f[i])
                out[p, i, b] = min(out[p, i, b], -f[i])
    return True


@inlined
def _gram(products: Products, pool: Ints, out: Floats) -> None:
    n, d = pool.shape[0], products.Z.shape[1]
    if d == 0:
        for i in range(n):
            for j in range(n):
                out[i, j] = products.inside[pool[i], pool[j]]
        return
    mine = np.empty((n, d))
    for i in range(n):
        for k in range(d):
            mine[i, k] = products.Z[pool[i], k]
    np.dot(mine, mine.T, out)


@inlined
def _add_margins(products: Products, pool: Ints, signs: Floats, alpha: Floats, f: Floats) -> None:
    # Add Σ_j s_j α_j (z_j·z_i + 1) to f[i].
    d, bias = products.Z.shape[1], 0.0
    w, g = np.zeros(d), np.zeros(f.shape[0])
    for j in range(pool.shape[0]):
        if alpha[j] > 0.0:
            amount = signs[j] * alpha[j]
            bias += amount
            if d > 0:
                row = products.Z[pool[j]]
                for k in range(d):
                    w[k] += amount * row[k]
            else:
                row = products.outside[pool[j]]
                for i in range(f.shape[0]):
                    g[i] += amount * row[i]
    if d > 0:
        np.dot(products.others, w, g)
    for i in range(f.shape[0]):
        f[i] += bias + g[i]
