"""The optimum of one separator over a pool of rows, from their inner products.

With G_ij = s_i s_j (x_i'K x_j + 1) and r_i = 1 - s_i f0(x_i), the separator is u = Σ α_i s_i z_i,
z = (x, 1), and minimises ½‖u‖² + 1/(2λ) Σ max(0, r_i - (Gα)_i)². Newton's step solves
(G_AA + λI) α_A = r_A for the rows A that fall short; a line search along it that is exact makes the
method end after finitely many rounds. The Cholesky factor of G_AA + λI follows A row by row. For a
row of weight ω, s and r are √ω times as large, and α is 1/√ω of its dual coefficient.

Where λ is at the edge of what rounding leaves of G, the rounds on the way may pass through α so
large that the line search sees noise. Then the same optimum is found one row at a time, with α ≥ 0
all the way (Lawson and Hanson's method): slower, and hardly ever needed.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled, inlined

ROUNDS = 200
NOTHING = 1e-12
"""An α that moves the margin of its own row by less counts as 0."""

TOGETHER = 16
WORTH_GATHERING = 4
"""So many rows join the factor together, if there are at least so many."""
WRONG = 1e-9
"""If a row of A is this far from its target, the factor does not match G."""
ROUNDING = 1e-14
"""The rounding error of a sum of products, relative to the sum of their absolute values."""


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


@compiled
def newton(G: Floats, r: Floats, lam: float, alpha: Floats, factor: Factor) -> bool:
    """Move alpha (n,) to the optimum for G (≥ n, ≥ n) and r (n,); return False if that fails.

    alpha ≥ 0 may start anywhere; the factor must be empty or that of an earlier call with the same
    G and lam. At the end alpha > 0 only in A.
    """
    margins = np.empty(r.shape[0])
    if not _in_leaps(G, r, lam, alpha, factor, margins):
        if not _row_by_row(G, r, lam, alpha, factor):
            return False
        _times(G, alpha, margins)
    for i in range(r.shape[0]):
        if alpha[i] * (G[i, i] + lam) <= NOTHING * (1.0 + abs(r[i])):
            alpha[i] = 0.0
            continue
        off = abs(r[i] - margins[i] - lam * alpha[i])
        if not off <= WRONG and not off <= WRONG * (1.0 + _sizes(G, alpha, i)):
            return False
    return True


@inlined
def _in_leaps(
    G: Floats, r: Floats, lam: float, alpha: Floats, factor: Factor, margins: Floats
) -> bool:
    # Loops, not expressions with arrays: those take numba many times as long to compile.
    n = r.shape[0]
    short, wanted = np.empty(n), np.empty(n, np.bool_)
    step, change = np.empty(n), np.empty(n)
    _times(G, alpha, margins)
    none_wanted = True
    for i in range(n):
        wanted[i] = r[i] - margins[i] > 0.0
        if wanted[i]:
            none_wanted = False
    if none_wanted:
        for i in range(n):
            alpha[i] = margins[i] = 0.0
            wanted[i] = r[i] > 0.0
    for _ in range(ROUNDS):
        _follow(factor, G, lam, wanted)
        _solve(factor, r, step)
        _times(G, step, change)
        if _same(wanted, change, G, r, step, lam):
            for i in range(n):
                alpha[i], margins[i] = step[i], change[i]
            return True
        base = curve = 0.0
        for i in range(n):
            short[i] = r[i] - margins[i]
            step[i] -= alpha[i]
            change[i] -= margins[i]
            base += margins[i] * step[i]
            curve += change[i] * step[i]
        if not curve >= 0.0:  # G has no such direction: what is seen here is rounding
            return False
        t = best_step(short, change, base, curve, lam)
        for i in range(n):
            alpha[i] += t * step[i]
            margins[i] += t * change[i]
            wanted[i] = r[i] - margins[i] > 0.0
    return False


@inlined
def _row_by_row(G: Floats, r: Floats, lam: float, alpha: Floats, factor: Factor) -> bool:  # noqa: PLR0912 - loops compile fast
    n = r.shape[0]
    factor.size[0] = 0
    inside = np.empty(n, np.bool_)
    refused = np.empty(n, np.bool_)  # rows that came in and found nothing to do
    target, margins = np.empty(n), np.empty(n)
    for i in range(n):
        inside[i] = refused[i] = False
        alpha[i] = 0.0
    for _ in range(10 * n + 100):
        _times(G, alpha, margins)
        newest, furthest = n, 0.0
        for i in range(n):
            short = r[i] - margins[i]
            if not inside[i] and not refused[i] and (newest == n or short > furthest):
                newest, furthest = i, short
        if newest == n or not furthest > _blur(G, alpha, newest, lam):
            return True
        inside[newest] = True
        while True:
            _follow(factor, G, lam, inside)
            _solve(factor, r, target)
            t, first = 1.0, n
            for i in range(n):
                if inside[i] and target[i] <= 0.0 and alpha[i] <= t * (alpha[i] - target[i]):
                    t, first = alpha[i] / (alpha[i] - target[i]) if alpha[i] > 0.0 else 0.0, i
            for i in range(n):
                alpha[i] += t * (target[i] - alpha[i])
            if first == n:
                if inside[newest]:
                    for i in range(n):
                        refused[i] = False
                break
            alpha[first] = 0.0
            inside[first] = False
            if first == newest:
                refused[first] = True
    return False


@compiled
def best_step(short: Floats, change: Floats, base: float, curve: float, lam: float) -> float:
    """Find the t ≥ 0 that minimises base·t + ½ curve·t² + 1/(2λ) Σ max(0, short - t·change)².

    Its slope is increasing and made of straight pieces: Newton on the slope, kept between a point
    below and one above, ends on the piece that crosses 0.
    """
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(100):
        slope, bend = base + t * curve, curve
        for i in range(short.shape[0]):
            gap = short[i] - t * change[i]
            if gap > 0.0:
                slope -= gap * change[i] / lam
                bend += change[i] * change[i] / lam
        if slope > 0.0:
            high = t
        else:
            low = t
        if bend == 0.0:
            return t
        following = t - slope / bend
        if not low < following < high:
            following = 0.5 * (low + high) if high < np.inf else 2.0 * t
        if abs(following - t) <= 1e-14 * t or (high < np.inf and high - low <= 1e-14 * high):
            return following
        t = following
    return t


@inlined
def _same(wanted: Bools, reached: Floats, G: Floats, r: Floats, alpha: Floats, lam: float) -> bool:
    # A row within rounding of its target is on neither side: it may keep the side it has.
    for i in range(wanted.shape[0]):
        if wanted[i]:
            if alpha[i] * (G[i, i] + lam) < -NOTHING * (1.0 + abs(r[i])):
                return False
        else:
            short = r[i] - reached[i]
            if short > 0.0 and short > _blur(G, alpha, i, lam):
                return False
    return True


@inlined
def _blur(G: Floats, alpha: Floats, i: int, lam: float) -> float:
    # How far from its target a row may be by rounding alone.
    return max(1e-12 * (1.0 + lam), min(ROUNDING * _sizes(G, alpha, i), 1e-9))


@compiled
def _sizes(G: Floats, alpha: Floats, i: int) -> float:
    total = 0.0
    for j in range(alpha.shape[0]):
        total += abs(G[i, j] * alpha[j])
    return total


@compiled
def _times(G: Floats, alpha: Floats, out: Floats) -> None:
    for i in range(alpha.shape[0]):
        out[i] = 0.0
    for j in range(alpha.shape[0]):
        if alpha[j] != 0.0:
            for i in range(alpha.shape[0]):
                out[i] += G[j, i] * alpha[j]


@compiled
def _follow(factor: Factor, G: Floats, lam: float, wanted: Bools) -> None:
    inside = np.empty(wanted.shape[0], np.bool_)
    for i in range(wanted.shape[0]):
        inside[i] = False
    kept = 0
    for i in range(factor.size[0]):
        kept += wanted[factor.order[i]]
    if 2 * kept < factor.size[0]:  # cheaper to begin again
        factor.size[0] = 0
    place = 0
    while place < factor.size[0]:
        if wanted[factor.order[place]]:
            inside[factor.order[place]] = True
            place += 1
        else:
            _remove(factor, place)
    members, count, n = np.empty(TOGETHER, np.int64), 0, wanted.shape[0]
    for i in range(n):
        if wanted[i] and not inside[i]:
            members[count] = i
            count += 1
        if count == TOGETHER or (count > 0 and i == n - 1):
            known = 0
            if count >= WORTH_GATHERING:
                known = _gather(factor, G, members, count)
            for m in range(count):
                _append(factor, G, lam, members[m], known)
            count = 0


@compiled
def drop_members(factor: Factor, leaving: Bools) -> None:
    """Take members out of a factor: those for which leaving (n,) is true."""
    place = 0
    while place < factor.size[0]:
        if leaving[factor.order[place]]:
            _remove(factor, place)
        else:
            place += 1


@inlined
def _gather(factor: Factor, G: Floats, members: Ints, count: int) -> int:
    # Write the present columns of the rows that some members will have in L; return how many.
    L, order, n = factor.L, factor.order, int(factor.size[0])
    B, sums = np.empty((n, TOGETHER)), np.empty(TOGETHER)
    for i in range(n):
        row = L[i]
        for m in range(TOGETHER):
            sums[m] = G[members[min(m, count - 1)], order[i]]
        whole = i - i % 4
        for k in range(0, whole, 4):  # four terms at a time: sums are read and written less often
            a, b, c, d = row[k], row[k + 1], row[k + 2], row[k + 3]
            for m in range(TOGETHER):
                x = sums[m] - a * B[k, m]
                sums[m] = ((x - b * B[k + 1, m]) - c * B[k + 2, m]) - d * B[k + 3, m]
        for k in range(whole, i):
            for m in range(TOGETHER):
                sums[m] -= row[k] * B[k, m]
        for m in range(TOGETHER):
            B[i, m] = sums[m] / row[i]
    for m in range(count):
        for i in range(n):
            L[n + m, i] = B[i, m]
    return n


@compiled
def inner(a: Floats, b: Floats, n: int) -> float:
    """Return the sum of the first n products.

    Eight sums run side by side: one alone waits for its own last addition.
    """
    whole = n - n % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for k in range(0, whole, 8):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
        s4 += a[k + 4] * b[k + 4]
        s5 += a[k + 5] * b[k + 5]
        s6 += a[k + 6] * b[k + 6]
        s7 += a[k + 7] * b[k + 7]
    for k in range(whole, n):
        s0 += a[k] * b[k]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@inlined
def _append(factor: Factor, G: Floats, lam: float, member: int, known: int) -> None:
    # Add the row of a member to L; its first columns may be there already.
    L, order, n = factor.L, factor.order, factor.size[0]
    row = L[n]
    for i in range(known, n):
        row[i] = (G[member, order[i]] - inner(L[i], row, i)) / L[i, i]
    square = G[member, member] + lam
    for i in range(n):
        square -= row[i] * row[i]
    row[n] = np.sqrt(max(square, 0.5 * lam))
    order[n] = member
    factor.size[0] = n + 1


@inlined
def _remove(factor: Factor, place: int) -> None:
    # Without its row, the lower part has one column too many: rotations push it into the others.
    L, order, n = factor.L, factor.order, factor.size[0]
    for i in range(place, n - 1):
        order[i] = order[i + 1]
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
        a, b = L[i, i], L[i, i + 1]
        length = np.hypot(a, b)
        cosine, sine = a / length, b / length
        L[i, i] = length
        for j in range(i + 2, n):
            a, b = L[j, i], L[j, i + 1]
            L[j, i] = cosine * a + sine * b
            L[j, i + 1] = cosine * b - sine * a
    factor.size[0] = n - 1


@compiled
def _solve(factor: Factor, r: Floats, alpha: Floats) -> None:
    L, order, n = factor.L, factor.order, factor.size[0]
    z = np.empty(n)
    for i in range(n):
        z[i] = (r[order[i]] - inner(L[i], z, i)) / L[i, i]
    for i in range(n - 1, -1, -1):
        z[i] /= L[i, i]
        for k in range(i):
            z[k] -= L[i, k] * z[i]
    for i in range(alpha.shape[0]):
        alpha[i] = 0.0
    for i in range(n):
        alpha[order[i]] = z[i]
