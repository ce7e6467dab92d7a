"""The optimum of one separator over a pool of more rows than there are dimensions.

The same problem as in `newton`, in u = (w - w0, β - b0) with u'Pu for ‖u‖², P = (K⁻¹, 1):
minimise ½u'Pu + 1/(2λ) Σ max(0, r_i - s_i z_i·u)², z_i = (x_i - origin, 1). Newton's step solves
(λP + Σ_A s² z z') u = Σ_A s r z. The Cholesky factor of the left side and the sum on the right
follow A row by row: a row that changes sides takes d² operations. If many do, they are computed
anew. A row of weight ω has s = ±√ω, and r is √ω times its target.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled, inlined
from minout.kernels.margins import LANES, dot
from minout.kernels.newton import ROUNDS, best_step, inner

TOGETHER = 32
"""So many rows change the factor together: they stay in the processor's cache."""
BLOCK = 128
"""So many rows are multiplied together for a new factor."""
LOST = 1e-8
"""A row that leaves less than this of a squared pivot leaves too few of its digits."""


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
    wanted, step = np.empty(n, np.bool_), np.empty(size)
    _margins(rows, u, margins)
    for i in range(n):
        wanted[i] = rows.r[i] - margins[i] > 0.0
    for _ in range(ROUNDS):
        if not _has_followed(rows, sums, wanted):
            _factor_anew(rows, P, lam, sums, wanted)
        _solve(sums, step)
        for k in range(size):
            if not abs(step[k]) < np.inf:
                return np.inf
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
        if not whole < np.inf:
            return np.inf
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
def _margins(rows: Rows, u: Floats, out: Floats) -> None:
    d, lanes = rows.origin.shape[0], np.empty(LANES)
    for i in range(out.shape[0]):
        x, total = rows.table[rows.places[i]], u[d]
        if d < 2 * LANES:  # one sum is faster
            for k in range(d):
                total += u[k] * (x[k] - rows.origin[k])
        else:
            total += dot(u[:d], x, rows.origin, lanes)
        out[i] = rows.signs[i] * total


@inlined
def _has_followed(rows: Rows, sums: Sums, wanted: Bools) -> bool:
    # False if the factor must be computed anew: there is none, that is faster, or digits were lost.
    size, changed, inside = sums.q.shape[0], 0, 0
    for i in range(wanted.shape[0]):
        changed += wanted[i] != sums.inside[i]
        inside += wanted[i]
    # To change the factor by a row takes as long as to add 3 + 300/d rows to a new one (measured).
    if (3 + 300 // size) * changed > inside + size // 2:
        return False
    for k in range(size):
        if not sums.U[k, k] > 0.0:
            return False
    return _move(rows, sums, wanted, True) and _move(rows, sums, wanted, False)


@compiled
def _move(rows: Rows, sums: Sums, wanted: Bools, enters: bool) -> bool:
    # Let all rows enter that should, or leave; return False if too few digits of U are left.
    n, size = wanted.shape[0], sums.q.shape[0]
    Z, count = np.empty((TOGETHER, size)), 0
    for i in range(n):
        if wanted[i] == enters and sums.inside[i] != enters:
            _add(rows, i, 1.0 if enters else -1.0, sums.q, Z, count)
            sums.inside[i] = enters
            count += 1
        if count == TOGETHER or (count > 0 and i == n - 1):
            if not _rotate(sums.U, Z, count, enters):
                return False
            count = 0
    return True


@inlined
def _add(rows: Rows, i: int, times: float, q: Floats, Z: Floats, place: int) -> None:
    # Write s z to a place of Z, and add r times it to q.
    d, row, sign, amount = rows.origin.shape[0], rows.places[i], rows.signs[i], times * rows.r[i]
    for k in range(d):
        Z[place, k] = sign * (rows.table[row, k] - rows.origin[k])
    Z[place, d] = sign
    for k in range(d + 1):
        q[k] += amount * Z[place, k]


@inlined
def _rotate(U: Floats, Z: Floats, count: int, enters: bool) -> bool:
    # Each row is rotated into the rows of U, first to last, or out of them; it is 0 in the end.
    # False if too few digits are left: the factor is then computed anew.
    for k in range(U.shape[0]):
        row = U[k, k:]
        for i in range(count):
            z = Z[i, k:]
            if enters:
                length = np.hypot(row[0], z[0])
                if not length > 0.0:
                    return False
                cosine, sine = row[0] / length, z[0] / length
                for j in range(row.shape[0]):
                    a, b = row[j], z[j]
                    row[j] = cosine * a + sine * b
                    z[j] = cosine * b - sine * a
            else:
                if not row[0] > 0.0:
                    return False
                sine = z[0] / row[0]
                left = (1.0 - sine) * (1.0 + sine)
                if not left > LOST:
                    return False
                cosine = np.sqrt(left)
                stretch = 1.0 / cosine
                for j in range(row.shape[0]):
                    a = stretch * (row[j] - sine * z[j])
                    row[j] = a
                    z[j] = cosine * z[j] - sine * a
    return True


@inlined
def _factor_anew(rows: Rows, P: Floats, lam: float, sums: Sums, wanted: Bools) -> None:
    n, size, count = wanted.shape[0], sums.q.shape[0], 0
    Z, products, curved = np.zeros((BLOCK, size)), np.empty((size, size)), np.empty((size, size))
    for j in range(size):
        sums.q[j] = 0.0
        for k in range(size):
            curved[j, k] = lam * P[j, k]
    for i in range(n):
        sums.inside[i] = wanted[i]
        if wanted[i]:
            _add(rows, i, 1.0, sums.q, Z, count)
            count += 1
        if count == BLOCK or (count > 0 and i == n - 1):
            for j in range(count, BLOCK):
                for k in range(size):
                    Z[j, k] = 0.0
            np.dot(Z.T, Z, products)
            for j in range(size):
                for k in range(size):
                    curved[j, k] += products[j, k]
            count = 0
    L = np.linalg.cholesky(curved.T)  # in Fortran's order: its columns are the rows of U
    for j in range(size):
        for k in range(j, size):
            sums.U[j, k] = L[k, j]


@inlined
def _solve(sums: Sums, out: Floats) -> None:
    U, size = sums.U, sums.q.shape[0]
    for k in range(size):
        out[k] = sums.q[k]
    for k in range(size):
        row = U[k]
        out[k] /= row[k]
        for j in range(k + 1, size):
            out[j] -= out[k] * row[j]
    for k in range(size - 1, -1, -1):
        out[k] = (out[k] - inner(U[k, k + 1 :], out[k + 1 :], size - k - 1)) / U[k, k]
