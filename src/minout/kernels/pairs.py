"""Separators of all pairs of classes, solved on some rows, and their scores of other rows."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled
from minout.kernels.newton import Factor, newton


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
def pair_scores(
    H: Floats, to_others: Floats, start: Ints, priors: ClassPriors, lams: Floats, out: Floats
) -> bool:
    """Set out[p, i, c] to the least margin of the other row i in class c, at lams[p].

    H (n, n) holds inner products of the rows, class by class: those of c are start[c] …
    start[c + 1] - 1; to_others (n, h) those with the others. λ goes down: each is solved from
    where the last one ended. False if one is not solved.
    """
    out[:] = np.inf
    for a in range(start.shape[0] - 1):
        for b in range(a + 1, start.shape[0] - 1):
            pool = np.concatenate(
                (np.arange(start[a], start[a + 1]), np.arange(start[b], start[b + 1]))
            )
            signs = np.ones(pool.shape[0])
            signs[start[a + 1] - start[a] :] = -1.0
            middle, scale = priors.middle[a, b], priors.scale[a, b]
            f0 = scale * (priors.outside[a] - priors.outside[b] - middle)
            r = 1.0 - signs * scale * ((priors.inside[a] - priors.inside[b])[pool] - middle)
            if not _of_pair(H, to_others, pool, signs, r, f0, lams, out[:, :, a], out[:, :, b]):
                return False
    return True


@compiled
def _of_pair(
    H: Floats,
    to_others: Floats,
    pool: Ints,
    signs: Floats,
    r: Floats,
    f0: Floats,
    lams: Floats,
    of_a: Floats,
    of_b: Floats,
) -> bool:
    n = pool.shape[0]
    G, alpha = np.empty((n, n)), np.zeros(n)
    factor = Factor(np.empty((n, n)), np.empty(n, np.int64), np.zeros(1, np.int64))
    for i in range(n):
        for j in range(n):
            G[i, j] = signs[i] * signs[j] * (H[pool[i], pool[j]] + 1.0)
    for p in range(lams.shape[0]):
        factor.size[0] = 0
        if not newton(G, r, lams[p], alpha, factor):
            return False
        f = f0.copy()
        for j in range(n):
            if alpha[j] > 0.0:
                amount, row = signs[j] * alpha[j], to_others[pool[j]]
                for i in range(f.shape[0]):
                    f[i] += amount * (row[i] + 1.0)
        for i in range(f.shape[0]):
            of_a[p, i] = min(of_a[p, i], f[i])
            of_b[p, i] = min(of_b[p, i], -f[i])
    return True
