"""Separators made without a row, from those made with it.

Leaving out a row x of weight ω changes three things. The scatter within its label, of weight N and
mean l, loses ωN/(N - ω)·uu', u = x - l. So K⁻¹ loses t·uu', and (Sherman and Morrison)

    K becomes K + γ qq',   q = Ku,   γ = t/(1 - t u'q).

The mean m of its region, of weight n, becomes m - ρ(x - m), ρ = ω/(n - ω), and the prior follows.
And the row leaves the separator: the rows F with α > 0, of signs s, solve, with c = sα,

    (z_i'K z_j + 1 + λ/ω_i [i = j]) c = s - f0   on F,   f(x) = f0(x) + Σ c_j (x'K z_j + 1),

z = x - origin. F stays as it is; `kernels/left_out.py` solves small separators again.
"""

from typing import NamedTuple

import numpy as np
import scipy

from minout._typing import Floats

LEAST = 1e-9
"""The least of 1 - t u'q and of 1 - ωh; only rounding makes them lower."""


class Removal(NamedTuple):
    """What changes without rows (n,), each on its own: t, ρ and γ, and their weights."""

    weights: Floats
    t: Floats
    rho: Floats
    gain: Floats


def removal(
    weights: Floats, label: float, region: float, leverage: Floats, share: Floats
) -> Removal:
    """Return what changes without rows of these weights (n,).

    `label` and `region` are the weights of all rows of theirs, `leverage` (n,) is u'Ku, and `share`
    what K⁻¹ contains of uu', for weight 1. A row that is all of its label or region changes nothing
    there.
    """
    t = share * moved(weights, label) * label
    return Removal(weights, t, moved(weights, region), t / np.maximum(1.0 - t * leverage, LEAST))


def moved(weights: Floats, total: float) -> Floats:
    """Return ω/(n - ω), by which a mean moves without rows of weight ω of n; 0 if that is all."""
    rest = total - weights
    stays = rest > LEAST * total
    return np.where(stays, weights / np.where(stays, rest, 1.0), 0.0)


class PriorLeftOut(NamedTuple):
    """The prior of a separator without rows: f0(y) = coef·(the products of five points with y) + b.

    coef (n, 5) and b (n,) are by row that leaves. In K⁻¹ the prior is `scale` (n,) times the
    difference of the means.
    """

    coef: Floats
    b: Floats
    scale: Floats


def prior_left_out(
    gram: Floats,
    removed: Removal,
    pi: Floats,
    strength: float | Floats,
    noise: float | Floats = 0.0,
) -> PriorLeftOut:
    """Return the prior of a separator of regions r and q without rows of region r.

    gram (n, 5, 5) are products x'K y of five points, all less the origin: the row that leaves, its
    partner in q, which leaves with it and moves the mean of q by π (n,), the means of r and q, and
    that of the label. The prior is `strength` at the mean of r and minus that at the mean of q;
    `noise` is subtracted from half the difference of their squared lengths.
    """
    n = len(gram)
    of_r, of_q, u = np.zeros((3, n, 5))
    of_r[:, 0], of_r[:, 2] = -removed.rho, 1.0 + removed.rho
    of_q[:, 1], of_q[:, 3] = -pi, 1.0 + pi
    u[:, 0], u[:, 4] = 1.0, -1.0
    turn = np.einsum("nab,nb->na", gram, u)

    def product(x: Floats, y: Floats) -> Floats:
        plain = np.einsum("na,nab,nb->n", x, gram, y)
        return np.asarray(plain + removed.gain * (x * turn).sum(1) * (y * turn).sum(1))

    rr, qq, difference = product(of_r, of_r), product(of_q, of_q), of_r - of_q
    apart = product(difference, difference)
    scale = np.where(
        apart > LEAST * (rr + qq), 2.0 * strength / np.where(apart > 0.0, apart, 1.0), 0.0
    )
    across = removed.gain * (difference * turn).sum(1)
    coef = scale[:, None] * (difference + across[:, None] * u)
    return PriorLeftOut(coef, scale * (noise - (rr - qq) / 2.0), scale)


def inverse(products: Floats, ridge: Floats) -> Floats:
    """Return the inverse of products (f, f), without negative eigenvalues, plus a diagonal (f,).

    Where the diagonal is lost in rounding there is no Cholesky factor; but no eigenvalue is below
    the least of it.
    """
    if not len(ridge):
        return np.empty((0, 0))
    M = products + np.diag(ridge)
    factor, failed = scipy.linalg.lapack.dpotrf(M, lower=1)
    if not failed:
        half = np.tril(scipy.linalg.lapack.dpotri(factor, lower=1)[0])
        return np.asarray(half + np.tril(half, -1).T)
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    return np.asarray((vectors / np.maximum(values, ridge.min())) @ vectors.T)


def values_by_w(
    Z: Floats,
    rows: tuple[Floats, Floats, Floats],
    own: tuple[Floats, Floats],
    precision: Floats,
    lam: float,
    prior: PriorLeftOut,
    points: Floats,
    removed: Removal,
) -> Floats:
    """Return the values (n,) at rows Z (n, d) of the separators made without them, by w.

    With H = λ(K⁻¹, 1) + Σ_F ω(z, 1)(z, 1)', w and b solve H(w, b) = λ(K⁻¹w0, b0) + Σ_F ωs(z, 1):
    d + 1 equations in place of one for each row of F. `rows` are those of F, their signs and
    weights; `own` the sums of ω and of ωs over the rows of F that leave with each row. `points`
    (3, d) are the means of both regions and of the label. Everything is less the origin; there is
    no partner.
    """
    F, signs, weights = rows
    n, d = Z.shape
    H = np.zeros((d + 1, d + 1))
    H[:d, :d] = np.diag(precision) if precision.ndim == 1 else precision
    H[d, d] = 1.0
    wide, each = np.column_stack([F, np.ones(len(F))]), np.column_stack([Z, np.ones(n)])
    H = lam * H + wide.T @ (wide * weights[:, None])
    fixed = np.vstack(
        [
            np.column_stack([points, np.ones(3)]),
            np.append(np.zeros(d), 1.0),
            (weights * signs) @ wide,
        ]
    )
    solved = np.linalg.solve(H, np.vstack([fixed, each]).T)
    square = np.einsum("nd,dn->n", each, solved[:, 5:])
    of_z, of_l = each @ solved[:, :5], fixed[2] @ solved[:, :5]

    def target(with_fixed: Floats, with_z: Floats) -> Floats:
        # The product of a point with the solution: with those of r, q, l, (0, 1) and Σωs(z, 1).
        r, q, _, one, data = with_fixed.T
        difference = r - q - removed.rho * (with_z - r)
        return np.asarray(lam * (prior.scale * difference + prior.b * one) + data)

    uz, uu = square - of_z[:, 2], square - 2.0 * of_z[:, 2] + of_l[2]
    at_z = target(of_z, square)
    at_u = at_z - target(of_l, of_z[:, 2])
    more = lam * removed.t / np.maximum(1.0 - lam * removed.t * uu, LEAST)
    value, h = at_z + more * uz * at_u, square + more * uz * uz
    return np.asarray((value - h * own[1]) / np.maximum(1.0 - h * own[0], LEAST))
