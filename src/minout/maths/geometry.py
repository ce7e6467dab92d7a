"""Origin, scale, metric and prior: the coordinates in which separators are found.

Everything here is a function of sums over the stored examples, so of the set of examples alone.
Matrices are multiplied by the function `multiply`: NumPy's may add in another order elsewhere.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints

RIDGE = 0.25
"""How much of the mean variance is added to the within-class covariance before it is inverted."""


TINY = 1e-200  # a variance below this is none: its inverse would not be a number to count with


NOISE = 1e-12  # the part of a sum of squares that is a matter of rounding once a mean is taken off


TELLING, LEAST_SHARE = 0.2, 1e-3
"""A block whose factor is at most this tells nothing of the classes; 0.001 is left of its scale."""


ROUNDING = 1e-15
"""By how much two numbers may differ, as a share of them, and be the same but for rounding."""


STIFF = 1024.0
"""How many times as stiff a bias is that is not free: a power of two, so that K is not rounded."""
LEAF = 16  # so few rows are inverted one by one


Multiply = Callable[[Floats, Floats], Floats]


Blocks = tuple[tuple[int, int], ...]
"""The columns that are scaled as one: the first of each block, and the first after it."""


class Moments(NamedTuple):
    """Sums over rows of m classes, about some fixed point, `shift` (d,); ω is the weight of a row.

    counts (m,) of ω, sums (m, d) of ω(x - shift), squares (d,) of ω(x - shift)²; scatter (d, d) is
    the sum of ω(x - shift)(x - shift)', or None where it is not needed. n is the sum of all ω.
    """

    shift: Floats
    counts: Floats
    sums: Floats
    squares: Floats
    scatter: Floats | None


class Geometry(NamedTuple):
    """The origin (d,) and the metric: the inner product is x'K x.

    K (d, d), or (d,) for a diagonal, is scaled so that the mean of (x - origin)'K(x - origin) is 1.
    precision, of the same shape, is its inverse; None where it was not needed. `share` is what K⁻¹
    contains of the scatter within classes; 0 if that is not part of K.
    """

    origin: Floats
    K: Floats
    precision: Floats | None
    share: float = 0.0


def stiffness(free_bias: bool) -> float:
    """Return how many times as stiff as in the metric a bias is; 1 for a free bias."""
    return 1.0 if free_bias else STIFF


def stiff(geometry: Geometry) -> Geometry:
    """Return K so much larger that, beside it, the bias of a separator can hardly move.

    With λ as many times larger, weights cost what they did, and a bias `STIFF` times as much.
    """
    origin, K, precision, share = geometry
    return Geometry(
        origin, STIFF * K, None if precision is None else precision / STIFF, share / STIFF
    )


class Prior(NamedTuple):
    """The prior of a separator: f0(x) = w·(x - origin) + b."""

    w: Floats
    b: float


def plain(moments: Moments, distinct: int, *, columns: bool, blocks: Blocks = ()) -> Geometry:
    """Return K as the identity, or with `columns` as the inverse of each column's variance.

    The columns of a block count as one: for each of them it is the sum of their variances, and the
    block is scaled by its `shrinkage`. `distinct` is the number of different rows.
    """
    n = moments.counts.sum()
    mean = moments.sums.sum(axis=0) / n
    variance = np.maximum(moments.squares / n - mean**2, 0.0)
    squares = moments.squares / n
    origin, K = moments.shift + mean, np.ones(len(mean))
    if columns:
        K = column_weights(variance, squares, origin, blocks)
        K *= shrinkage(moments, distinct, blocks) ** 2
    K = K / _or_one(float((K * variance).sum()))
    return Geometry(origin, K, 1.0 / K)


def metric(
    moments: Moments,
    distinct: int,
    *,
    columns: bool,
    blocks: Blocks = (),
    multiply: Multiply = np.matmul,
) -> Geometry:
    """Return K as the inverse of the pooled within-class covariance plus a ridge.

    With `columns` the ridge is added after each column is divided by its standard deviation, and
    the columns of a block by the root of the sum of their variances, times its `shrinkage`.
    `distinct` is the number of different rows: with it, K does not depend on the scale of weights.
    """
    assert moments.scatter is not None
    n, d = moments.counts.sum(), len(moments.shift)
    mean = moments.sums.sum(axis=0) / n
    squares = moments.scatter.diagonal() / n
    origin, weights = moments.shift + mean, np.ones(d)
    if columns:
        weights = column_weights(squares - mean**2, squares, origin, blocks)
        weights *= shrinkage(moments, distinct, blocks) ** 2
    within = multiply((moments.sums / -moments.counts[:, None]).T, moments.sums)
    within += moments.scatter
    freedom = _degrees(moments, distinct)
    within /= freedom
    D, trace = np.sqrt(weights), float((weights * within.diagonal()).sum())
    if not trace > TINY + NOISE * float((weights * squares).sum()):
        return plain(moments, distinct, columns=columns, blocks=blocks)
    # From here on in place: a matrix of d² numbers is large.
    precision = within
    precision *= D
    precision *= D[:, None]
    precision.flat[:: d + 1] += _ridge(trace, distinct, units(d, blocks if columns else ()))
    K = _inverse(precision, multiply)[0]
    K *= D
    K *= D[:, None]
    # The mean of (x - origin)'K(x - origin), from the sums about the shift.
    square = np.einsum("ij,ij->", K, moments.scatter) / n
    scale = _or_one(float(square - np.einsum("i,ij,j->", mean, K, mean)))
    K /= scale
    precision *= scale / D
    precision /= D[:, None]
    return Geometry(origin, mirrored(K), mirrored(precision), scale / freedom)


def metric_of_few(
    moments: Moments,
    X: Floats,
    labels: Ints,
    counts: Floats | None = None,
    *,
    columns: bool,
    blocks: Blocks = (),
    multiply: Multiply = np.matmul,
) -> Geometry:
    """Return the same K for fewer rows than dimensions, from different rows X (m, d).

    `labels` (m,) are theirs, `counts` (m,) their weights ω, 1 by default.
    (Y'Y/f + ρI)⁻¹ = (I - Y'(YY' + fρI)⁻¹Y)/ρ, Y the rows less their class means, times √ω.
    """
    (distinct, d), n = X.shape, moments.counts.sum()
    counts = np.ones(distinct) if counts is None else counts
    mean = moments.sums.sum(axis=0) / n
    Z, each = X - moments.shift, counts[:, None]
    squares = (each * Z**2).sum(axis=0) / n
    variance = (each * (Z - mean) ** 2).sum(axis=0) / n
    origin, weights = moments.shift + mean, np.ones(d)
    if columns:
        weights = column_weights(variance, squares, origin, blocks)
        weights *= shrinkage(moments, distinct, blocks) ** 2
    D = np.sqrt(weights)
    Y = (Z - (moments.sums / moments.counts[:, None])[labels]) * D * np.sqrt(each)
    freedom = _degrees(moments, distinct)
    trace = float((Y * Y).sum() / freedom)
    if not trace > TINY + NOISE * float((weights * squares).sum()):
        return plain(moments, distinct, columns=columns, blocks=blocks)
    ridge = _ridge(trace, distinct, units(d, blocks if columns else ()))
    inverse = _inverse(multiply(Y, Y.T) + freedom * ridge * np.eye(distinct), multiply)[0]
    K = multiply(Y.T, multiply(inverse, Y))
    K = (D[:, None] * (np.eye(d) - (K + K.T) / 2) * D) / ridge
    centred = Z - mean
    scale = _or_one(float((each * multiply(centred, K) * centred).sum() / n))
    return Geometry(origin, mirrored(K / scale), None, scale / freedom)


def images(geometry: Geometry, X: Floats, multiply: Multiply = np.matmul) -> Floats:
    """Return K(x - origin) of each row."""
    Z = X - geometry.origin
    return Z * geometry.K if geometry.K.ndim == 1 else multiply(Z, geometry.K)


def prior(geometry: Geometry, mean_a: Floats, mean_b: Floats) -> Prior:
    """Return the linear discriminant of two class means: +1 at the first, -1 at the other.

    Where the means are equal there is nothing to start from: 0.
    """
    a, b = mean_a - geometry.origin, mean_b - geometry.origin
    w = geometry.K * (a - b) if geometry.K.ndim == 1 else geometry.K @ (a - b)
    half = float(w @ (a - b)) / 2.0
    if not half > NOISE:  # K makes the mean length 1, so this is no distance at all
        return Prior(np.zeros(len(w)), 0.0)
    w = w / half
    return Prior(w, float(-(w @ (a + b)) / 2.0))


def _inverse(whole: Floats, multiply: Multiply) -> tuple[Floats, Floats]:
    # Of a positive definite matrix LL', in halves; also M = L⁻¹.
    n, half = len(whole), len(whole) // 2
    inverse, M = np.empty_like(whole), np.eye(n)
    if n <= LEAF:
        rest = whole.copy()
        for k in range(n):
            if not rest[k, k] > 0.0:
                raise np.linalg.LinAlgError("the matrix is not positive definite")
            column = rest[k:, k] / np.sqrt(rest[k, k])
            rest[k:, k:] -= column[:, None] * column
            M[k] /= column[0]
            M[k + 1 :] -= column[1:, None] * M[k]
        return (M[:, :, None] * M[:, None]).cumsum(axis=0)[-1], M
    upper, A = _inverse(whole[:half, :half], multiply)
    L = multiply(whole[half:, :half], A.T)
    lower, B = _inverse(whole[half:, half:] - multiply(L, L.T), multiply)
    C = -multiply(B, multiply(L, A))
    M[:half, :half], M[half:, :half], M[half:, half:] = A, C, B
    inverse[:half, :half], inverse[half:, half:] = upper + multiply(C.T, C), lower
    inverse[half:, :half] = multiply(B.T, C)
    inverse[:half, half:] = inverse[half:, :half].T
    return inverse, M


def mirrored(whole: Floats) -> Floats:
    """Set the lower half of a matrix to the upper one, in place, and return it."""
    for start in range(0, len(whole), 64):
        end = start + 64
        whole[end:, start:end] = whole[start:end, end:].T
        corner = whole[start:end, start:end]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
    return whole


def column_weights(variance: Floats, squares: Floats, mean: Floats, blocks: Blocks) -> Floats:
    """Return the inverse variance of each column, 1 for a constant one; that of a block is one.

    A column that varies by no more than rounding, beside its mean square or its mean, is constant:
    0.3 and 0.1 + 0.2 are the same number. `squares` are those that the variance was computed from.
    """
    rounding = TINY + NOISE * squares + (ROUNDING * mean) ** 2
    varying = np.where(variance > rounding, variance, 0.0)
    total = sum_in_blocks(varying, blocks)
    return np.where(total > 0.0, 1.0 / np.where(total > 0.0, total, 1.0), 1.0)


def shrinkage(moments: Moments, distinct: int, blocks: Blocks) -> Floats:
    """Return a factor (d,): 1 - 1/F for the columns of a block, 1 for others.

    F is that of an analysis of variance of the whole block: its variance between classes, to what
    chance would give. Up to 1.25 a block tells nothing of the classes: its factor is 0.001.
    """
    found, counts = np.ones(len(moments.shift)), moments.counts[moments.counts > 0.0]
    more, freedom = len(counts) - 1, distinct - len(counts)
    if not blocks or more < 1 or freedom < 1:
        return found
    sums = moments.sums[moments.counts > 0.0]
    inside = (sums**2 / counts[:, None]).sum(axis=0)
    between = inside - sums.sum(axis=0) ** 2 / counts.sum()
    within = moments.squares - inside
    for start, stop in blocks:
        B, W = between[start:stop].sum() / more, within[start:stop].sum() / freedom
        if stop - start > 1:
            factor = 1.0 - W / B if B > W > 0.0 else 0.0
            found[start:stop] = factor if factor > TELLING else LEAST_SHARE
    return found


def units(d: int, blocks: Blocks) -> int:
    """Return the number of columns if each block counts as one."""
    return d - sum(stop - start - 1 for start, stop in blocks)


def in_blocks(d: int, blocks: Blocks) -> Bools:
    """Return for each of d columns whether it is in a block together with others."""
    found = np.zeros(d, dtype=bool)
    for start, stop in blocks:
        found[start:stop] = stop - start > 1
    return found


def sum_in_blocks(variance: Floats, blocks: Blocks) -> Floats:
    """Return the variance of each column (d,), and for columns of a block the sum of theirs."""
    if not blocks:
        return variance
    total = variance.copy()
    for start, stop in blocks:
        total[start:stop] = variance[start:stop].sum()
    return total


def _degrees(moments: Moments, distinct: int) -> float:
    # Those of the different rows, times their mean weight.
    freedom = max(distinct - np.count_nonzero(moments.counts), 1)
    return float(freedom * (moments.counts.sum() / distinct))


def _ridge(trace: float, distinct: int, d: int) -> float:
    return RIDGE * trace / min(distinct, d)


def _or_one(scale: float) -> float:
    return scale if scale > TINY else 1.0
