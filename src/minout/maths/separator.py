"""One separator between two classes, from scratch: the problem that the engine solves, plainly.

    minimise (w - w0)'K⁻¹(w - w0) + (β - b0)² + (1/λ) Σ ω_i ξ_i²,  s_i f(x_i) ≥ 1 - ξ_i,
    f(x) = w·(x - origin) + β

over every row x_i of the two classes, s_i = +1 for the first and -1 for the second, ω_i its weight.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.maths.geometry import Geometry, Prior, images


class Separator(NamedTuple):
    """The optimum: f(x) = w·(x - origin) + b, and each row's α ≥ 0 (its slack is ξ = λα/ω)."""

    w: Floats
    b: float
    alpha: Floats


def separator(
    X: Floats,
    signs: Floats,
    geometry: Geometry,
    prior: Prior,
    lam: float,
    weights: Floats | None = None,
) -> Separator:
    """Solve for rows X (n, d), signs (n,) and weights (n,), 1 by default; lam is λ.

    By α = ω max(0, r - Gα)/λ with r = 1 - s f0 and G_ij = s_i s_j (x_i'K x_j + 1): the rows that
    fall short are those with α > 0, and they solve (G + λΩ⁻¹) α = r, Ω the diagonal of weights.
    Which rows those are is found by taking in and leaving out one row at a time (Lawson and
    Hanson's way), so it always ends.
    """
    Z, U = X - geometry.origin, images(geometry, X)
    G = signs[:, None] * signs * (U @ Z.T + 1.0)
    r = 1.0 - signs * (Z @ prior.w + prior.b)
    alpha = _nonnegative(G + np.diag(lam / (np.ones(len(X)) if weights is None else weights)), r)
    return Separator(prior.w + U.T @ (signs * alpha), prior.b + float((signs * alpha).sum()), alpha)


def margins(
    W: Floats, b: Floats, X: Floats, origin: Floats | float, labels: Ints, classes: int
) -> Floats:
    """Return the margin of every row in every pair of its class: (n, classes), inf for its own.

    The separator of classes o < c is row c(c - 1)/2 + o of W, positive on the side of o.
    """
    out = np.full((len(X), classes), np.inf)
    Z = X - origin
    for c in np.unique(labels).tolist():
        mine = labels == c
        others = np.array([o for o in range(classes) if o != c], dtype=np.int64)
        high, low = np.maximum(others, c), np.minimum(others, c)
        pairs = high * (high - 1) // 2 + low
        a = Z[mine] @ W[pairs].T + b[pairs]
        out[np.ix_(mine, others)] = np.where(others > c, a, -a)
    return out


def _nonnegative(Q: Floats, r: Floats) -> Floats:
    # min ½α'Qα - r'α over α ≥ 0.
    n = len(r)
    alpha, free = np.zeros(n), np.zeros(n, dtype=bool)
    for _ in range(30 * n + 30):
        lack = np.where(free, -np.inf, r - Q @ alpha)
        worst = int(lack.argmax())
        if lack[worst] <= 1e-12 * (1.0 + np.abs(r).max()):
            return alpha
        free[worst] = True
        alpha, free = _settled(Q, r, alpha, free)
    raise ArithmeticError("the separator did not settle")


def _settled(Q: Floats, r: Floats, alpha: Floats, free: Bools) -> tuple[Floats, Bools]:
    # Solve for the free ones; while one would turn negative, go as far as it allows and drop it.
    while True:
        target = np.zeros(len(r))
        target[free] = np.linalg.solve(Q[np.ix_(free, free)], r[free])
        if (target[free] > 0.0).all():
            return target, free
        low = free & (target <= 0.0)
        steps = alpha[low] / (alpha[low] - target[low])
        t = float(steps.min())
        alpha = alpha + t * (target - alpha)
        free = free & ~(low & (alpha <= 1e-15 * (1.0 + np.abs(target).max())))
        alpha[~free] = 0.0
