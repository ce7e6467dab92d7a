"""Values of one separator at rows, without these rows: `maths/leave_one_out.py`, from α.

If a row of F would turn round without those that leave, or one outside of F would fall short, the
separator is solved again for all candidates.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled, inlined
from minout.kernels.newton import Factor, newton


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


@compiled
def values_left_out(candidates: Candidates, leaving: Leaving, lam: float, out: Floats) -> None:
    """Set out (n,) to the values at the rows that leave.

    Where the separator cannot be solved again in double precision, the closed form stays.
    """
    f, m = candidates.inverse.shape[0], candidates.signs.shape[0]
    c, columns, removed = np.empty(m), np.empty((f, f)), np.empty(f, np.int64)
    G, r, alpha = np.empty((m, m)), np.empty(m), np.empty(m)
    L, order, size = np.empty((m, m)), np.empty(m, np.int64), np.empty(1, np.int64)
    for i in range(out.shape[0]):
        _without(candidates, leaving, i, c, columns, removed)
        out[i] = _value(leaving, i, c)
        if candidates.products.shape[0] > 0 and not _holds(candidates, leaving, i, c):
            n = _gather(candidates, leaving, i, G, r, alpha, order)
            places = order[:n].copy()
            size[0] = 0
            if not newton(G, r[:n], lam, alpha[:n], Factor(L, order, size)):
                continue
            for j in range(m):
                c[j] = 0.0
            for j in range(n):
                p = places[j]
                c[p] = candidates.signs[p] * np.sqrt(candidates.weights[p]) * alpha[j]
            out[i] = _value(leaving, i, c)


@compiled
def _value(leaving: Leaving, i: int, c: Floats) -> float:
    value: float = leaving.own[i]
    for j in range(c.shape[0]):
        if c[j] != 0.0:
            more = leaving.gain[i] * leaving.qz[i] * leaving.h[i, j]
            value += c[j] * (leaving.H[i, j] + more + 1.0)
    return value


@inlined
def _leaves(candidates: Candidates, leaving: Leaving, i: int, j: int) -> bool:
    group = int(candidates.groups[j])
    return group == int(leaving.groups[i, 0]) or group == int(leaving.groups[i, 1])


@inlined
def _without(
    candidates: Candidates, leaving: Leaving, i: int, c: Floats, columns: Floats, removed: Ints
) -> None:
    # c on F without the rows that leave; `columns` are those of the inverse, as others leave.
    f, count, inverse = candidates.inverse.shape[0], 0, candidates.inverse
    hh = hr = 0.0
    for j in range(f):
        hh += leaving.h[i, j] * leaving.turned[i, j]
        hr += leaving.h[i, j] * leaving.solved[i, j]
    k = leaving.gain[i] / (1.0 + leaving.gain[i] * hh)
    for j in range(c.shape[0]):
        c[j] = leaving.solved[i, j] - k * hr * leaving.turned[i, j] if j < f else 0.0
    for j in range(f):
        if not _leaves(candidates, leaving, i, j):
            continue
        column = columns[count]
        for p in range(f):
            column[p] = inverse[p, j] - k * leaving.turned[i, p] * leaving.turned[i, j]
        for before in range(count):
            there = removed[before]
            share = columns[before, j] / columns[before, there]
            for p in range(f):
                column[p] -= share * columns[before, p]
        share = c[j] / column[j]
        for p in range(f):
            c[p] -= share * column[p]
        removed[count] = j
        count += 1
    for before in range(count):
        c[removed[before]] = 0.0


@inlined
def _holds(candidates: Candidates, leaving: Leaving, i: int, c: Floats) -> bool:
    f = candidates.inverse.shape[0]
    for j in range(c.shape[0]):
        if _leaves(candidates, leaving, i, j):
            continue
        sign = candidates.signs[j]
        if j < f:
            if sign * c[j] < 0.0:
                return False
            continue
        value, more = leaving.prior[i, j], leaving.gain[i] * leaving.h[i, j]
        for p in range(f):
            value += c[p] * (candidates.products[j, p] + more * leaving.h[i, p] + 1.0)
        if sign * value < 1.0 - 1e-9:
            return False
    return True


@inlined
def _gather(
    candidates: Candidates,
    leaving: Leaving,
    i: int,
    G: Floats,
    r: Floats,
    alpha: Floats,
    order: Ints,
) -> int:
    # The problem of the candidates that stay, as `newton` takes it.
    n = 0
    for j in range(candidates.signs.shape[0]):
        if not _leaves(candidates, leaving, i, j):
            order[n] = j
            n += 1
    for a in range(n):
        p = order[a]
        root = candidates.signs[p] * np.sqrt(candidates.weights[p])
        more = leaving.gain[i] * leaving.h[i, p]
        for b in range(n):
            q = order[b]
            other = candidates.signs[q] * np.sqrt(candidates.weights[q])
            inner = candidates.products[p, q] + more * leaving.h[i, q] + 1.0
            G[a, b] = root * other * inner
        r[a] = np.sqrt(candidates.weights[p]) - root * leaving.prior[i, p]
        alpha[a] = candidates.alpha[p] / np.sqrt(candidates.weights[p])
    return n
