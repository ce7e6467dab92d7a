"""The optimum of one separator over a pool of more rows than there are dimensions.

The same problem as in `newton`, in u = (w - w0, β - b0) with u'Pu for ‖u‖², P = (K⁻¹, 1):
minimise ½u'Pu + 1/(2λ) Σ max(0, r_i - s_i z_i·u)², z_i = (x_i - origin, 1). Newton's step solves
(λP + Σ_A z z') u = Σ_A s r z; the sums over A follow A row by row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled, inlined
from minout.kernels.newton import ROUNDS, best_step


class Sums(NamedTuple):
    """H = Σ_A z z' (d + 1, d + 1), q = Σ_A s r z (d + 1,), and inside (n,): the rows in A."""

    H: Floats
    q: Floats
    inside: Bools


class Rows(NamedTuple):
    """The pool: its rows table[places], their signs and targets r."""

    table: Floats
    places: Ints
    origin: Floats
    signs: Floats
    r: Floats


def newton_primal(rows: Rows, P: Floats, lam: float, u: Floats, sums: Sums) -> tuple[float, Floats]:
    """Move u (d + 1,) to the optimum, and the sums with it; return residual and alpha (n,).

    The residual is how far λPu is from Σ s (r - margin) z, relative to its size; it is infinite if
    the optimum was not reached. It grows if the sums were updated too often.
    """
    alpha = np.zeros(len(rows.r))
    return _newton_primal(rows, P, lam, u, sums, alpha), alpha


@compiled
def _newton_primal(
    rows: Rows, P: Floats, lam: float, u: Floats, sums: Sums, alpha: Floats
) -> float:
    """Write alpha as well, and return the residual."""
    n, size = rows.r.shape[0], u.shape[0]
    margins, change, short = np.empty(n), np.empty(n), np.empty(n)
    wanted, curved = np.empty(n, np.bool_), np.empty((size, size))
    _margins(rows, u, margins)
    for i in range(n):
        wanted[i] = rows.r[i] - margins[i] > 0.0
    for _ in range(ROUNDS):
        _follow(rows, sums, wanted)
        for j in range(size):
            for k in range(size):
                curved[j, k] = lam * P[j, k] + sums.H[j, k]
        step = np.linalg.solve(curved, sums.q)
        _margins(rows, step, change)
        if _agrees(wanted, rows.r, change):
            for k in range(size):
                u[k] = step[k]
            for i in range(n):
                alpha[i] = max(rows.r[i] - change[i], 0.0) / lam
            return _residual(rows, P, u, alpha)
        for k in range(size):
            step[k] -= u[k]
        for i in range(n):
            change[i] -= margins[i]
            short[i] = rows.r[i] - margins[i]
        weighted = P @ step
        base, curve = np.dot(u, weighted), np.dot(step, weighted)
        t = best_step(short, change, base, curve, lam)
        for k in range(size):
            u[k] += t * step[k]
        for i in range(n):
            margins[i] += t * change[i]
            wanted[i] = rows.r[i] - margins[i] > 0.0
    return np.inf


@inlined
def _residual(rows: Rows, P: Floats, u: Floats, alpha: Floats) -> float:
    d = rows.origin.shape[0]
    gradient = P @ u
    size = np.empty(d + 1)
    for k in range(d + 1):
        size[k] = abs(gradient[k])
    for i in range(alpha.shape[0]):
        if alpha[i] > 0.0:
            x, amount = rows.table[rows.places[i]], rows.signs[i] * alpha[i]
            for k in range(d):
                part = amount * (x[k] - rows.origin[k])
                gradient[k] -= part
                size[k] += abs(part)
            gradient[d] -= amount
            size[d] += abs(amount)
    length = np.sqrt(np.dot(u, P @ u))  # |(Pu)_k| is at most √P_kk times this
    worst = 0.0
    for k in range(d + 1):
        whole = size[k] + np.sqrt(P[k, k]) * length
        if whole > 0.0:
            worst = max(worst, abs(gradient[k]) / whole)
    return worst


@inlined
def _agrees(wanted: Bools, r: Floats, reached: Floats) -> bool:
    # A row within rounding of its target is on neither side: it may keep the side it has.
    for i in range(wanted.shape[0]):
        short = r[i] - reached[i]
        if wanted[i] != (short > 0.0) and abs(short) > 1e-9:
            return False
    return True


@compiled
def _margins(rows: Rows, u: NDArray[np.floating[Any]], out: Floats) -> None:
    d = u.shape[0] - 1
    for i in range(out.shape[0]):
        x = rows.table[rows.places[i]]
        total = u[d]
        for k in range(d):
            total += u[k] * (x[k] - rows.origin[k])
        out[i] = rows.signs[i] * total


@inlined
def _follow(rows: Rows, sums: Sums, wanted: Bools) -> None:
    d = rows.origin.shape[0]
    z = np.empty(d + 1)
    z[d] = 1.0
    for i in range(wanted.shape[0]):
        if wanted[i] == sums.inside[i]:
            continue
        x = rows.table[rows.places[i]]
        for k in range(d):
            z[k] = x[k] - rows.origin[k]
        sign = 1.0 if wanted[i] else -1.0
        for j in range(d + 1):
            amount = sign * z[j]
            for k in range(d + 1):
                sums.H[j, k] += amount * z[k]
            sums.q[j] += amount * rows.signs[i] * rows.r[i]
        sums.inside[i] = wanted[i]
