"""Margins of rows at the separators that were made without them, from one solve.

The rows F with α > 0 solve (G + λΩ⁻¹) α = r (`separator.py`), Ω the diagonal of their weights ω.
Without row i of F, the same equations for the others give it the margin

    1 - α_i / (ω_i (M⁻¹)_ii),   M = Ω^½ G Ω^½ + λI on F,

as long as the rest of F stays as it is. A row with α = 0 keeps its margin. With
z = √ω (x - origin, 1) and P = (K⁻¹, 1),

    (M⁻¹)_ii = (1 - h_i)/λ,   h_i = z_i'(λP + Σ_F z z')⁻¹ z_i,

which takes d + 1 equations in place of one for each row of F; h is the diagonal of the hat matrix.
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from minout._typing import Floats


def margins_left_out(
    products: Floats, alpha: Floats, lam: float, weights: Floats | None = None
) -> Floats:
    """Return the margin (n,) of each row with α > 0 at the separator made without it.

    products (n, n) are x_i'K x_j, x less the origin; signs do not change (M⁻¹)_ii. weights (n,)
    are ω, 1 by default.
    """
    weights = np.ones(len(alpha)) if weights is None else weights
    roots = np.sqrt(weights)
    inverse = _inverse_diagonal((products + 1.0) * roots[:, None] * roots, lam)
    return 1.0 - alpha / (weights * inverse)


def margins_left_out_by_w(
    Z: Floats, precision: Floats, alpha: Floats, lam: float, weights: Floats | None = None
) -> Floats:
    """Return the same margins (n,) from d + 1 equations.

    Z (n, d) are the rows with α > 0, less the origin; precision (d, d), or its diagonal, is K⁻¹.
    """
    n, d = Z.shape
    weights = np.ones(n) if weights is None else weights
    z = np.column_stack([Z, np.ones(n)]) * np.sqrt(weights)[:, None]
    H = z.T @ z
    H[:d, :d] += lam * (np.diag(precision) if precision.ndim == 1 else precision)
    H[d, d] += lam
    half = solve_triangular(np.linalg.cholesky(H), z.T, lower=True)
    h: Floats = np.square(half).sum(axis=0)
    return 1.0 - lam * alpha / (weights * np.maximum(1.0 - h, np.finfo(float).eps))


def _inverse_diagonal(G: Floats, lam: float) -> Floats:
    # The diagonal of (G + λI)⁻¹. Where λ is lost in the rounding of G there is no Cholesky factor;
    # but no eigenvalue is below λ, because G has none below 0.
    M = G + lam * np.eye(len(G))
    factor, failed = dpotrf(M, lower=1)
    if not failed:
        return np.asarray(dpotri(factor, lower=1)[0].diagonal())
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    return np.asarray(np.square(vectors) @ (1.0 / np.maximum(values, lam)))
