"""Separators of all pairs of classes, solved on some rows, and their scores of other rows."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled
from minout.kernels.newton import Factor, newton
from minout.kernels.primal import Rows, Sums, _newton_primal

TOLERANCE = 1e-6
"""The largest residual of a separator that is solved."""


class ClassPriors(NamedTuple):
    """The priors of all pairs of classes a, b: f0 = scale·(to[a] - to[b] - middle).

    inside (m, n) has the inner products of class means with the rows that separators are found on,
    outside (m, h) those with the others; middle and scale (m, m). A scale of 0 is no prior.
    """

    inside: Floats
    outside: Floats
    middle: Floats
    scale: Floats


@compiled
def pair_scores(  # noqa: PLR0912 - loops compile fast
    H: Floats,
    to_others: Floats,
    Z: Floats,
    start: Ints,
    owner: Ints,
    priors: ClassPriors,
    lams: Floats,
    out: Floats,
) -> bool:
    """Set out[p, i, c] to the least margin of the other row i in region c, at lams[p].

    H (n, n) holds inner products of the rows, region by region: those of c are start[c] …
    start[c + 1] - 1; to_others (n, h) those with the others. Z (n, d) are the rows, in coordinates
    in which H is ZZ', or (n, 0) if they are too long: separators of more rows than d are found in
    these coordinates. owner[c] is the label of region c. λ goes down: each is solved from where the
    last one ended. False if one is not solved.
    """
    for p in range(out.shape[0]):
        for i in range(out.shape[1]):
            for c in range(out.shape[2]):
                out[p, i, c] = np.inf
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
            pool[i] = start[a] + i if i < positives else start[b] + i - positives
            signs[i] = 1.0 if i < positives else -1.0
            apart = priors.inside[a, pool[i]] - priors.inside[b, pool[i]]
            r[i] = 1.0 - signs[i] * scale * (apart - middle)
            alpha[i] = 0.0
        f = np.empty(out.shape[1])
        short = Z.shape[1] > 0 and 5 * (Z.shape[1] + 1) < 4 * n
        size = 1 if short else n
        G, side = np.empty((size, size)), Z.shape[1] + 1 if short else 1
        factor = Factor(np.empty((size, size)), np.empty(size, np.int64), np.empty(1, np.int64))
        u, U, q = np.zeros(side), np.zeros((side, side)), np.zeros(side)
        sums, P = Sums(U, q, np.zeros(n, np.bool_)), np.eye(side)
        rows = Rows(Z, pool, np.zeros(Z.shape[1]), signs, r)
        if not short:
            for i in range(n):
                for j in range(n):
                    G[i, j] = signs[i] * signs[j] * (H[pool[i], pool[j]] + 1.0)
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
            for j in range(n):
                if alpha[j] > 0.0:
                    amount, row = signs[j] * alpha[j], to_others[pool[j]]
                    for i in range(f.shape[0]):
                        f[i] += amount * (row[i] + 1.0)
            for i in range(f.shape[0]):
                out[p, i, a] = min(out[p, i, a], f[i])
                out[p, i, b] = min(out[p, i, b], -f[i])
    return True
