"""Every separator from scratch, by solvers that others have tested: slow, and of one piece.

From rows, labels and settings to origin, K, priors and the optimum of each pair of classes.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.svm import LinearSVC


class Separator(NamedTuple):
    """Is f(x) = w·(x - origin) + b, and the α of each row that was given."""

    w: np.ndarray
    b: float
    alpha: np.ndarray


class Model(NamedTuple):
    """Is all that follows from a set of examples and a choice; pairs of labels (a, b) have a < b.

    slack[i] is the sum over the pairs of its class of how far row i stays short of 1.
    """

    origin: np.ndarray
    K: np.ndarray
    pairs: dict
    slack: np.ndarray


def model(
    rows,
    labels,
    *,
    standardize,
    whiten,
    lda_prior,
    C,
    free_bias=True,
    regions=None,
    weights=None,
    blocks=(),
    units=None,
):
    """Solve every pair of labels; f is positive on the side of the lower label.

    With `regions`, one of each row, every pair of regions of different labels. `weights` are those
    of the rows, 1 by default. The columns of each of the `blocks` are scaled as one. `units` is
    the number of columns for the ridge, by default with each block as one. A bias that is not free
    costs 1,024 times as much.
    """
    lam = 1.0 / (2.0 * C)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    rows, label_of = (
        np.asarray(rows, dtype=float),
        dict(zip(regions or labels, labels, strict=True)),
    )
    scaling = {"columns": standardize, "metric": whiten, "blocks": blocks, "units": units}
    origin, K = ground(rows, list(labels), **scaling, weights=weights)
    labels = list(regions or labels)
    names = sorted(set(labels))
    means = class_means(rows, labels, weights)
    pairs, slack = {}, np.zeros(len(rows))
    for a in names:
        for b in names[names.index(a) + 1 :]:
            if label_of[a] == label_of[b]:
                continue
            mine = [i for i, each in enumerate(labels) if each in (a, b)]
            signs = np.array([1.0 if labels[i] == a else -1.0 for i in mine])
            start = (
                discriminant(K, origin, means[a], means[b]) if lda_prior else (0.0 * origin, 0.0)
            )
            cost = 1.0 if free_bias else 1024.0
            found = by_nnls(rows[mine] - origin, signs, K, *start, lam, weights[mine], cost)
            pairs[a, b] = found
            slack[mine] += lam * found.alpha / weights[mine]
    return Model(origin, K, pairs, slack)


def class_means(rows, labels, weights=None):
    """Return the weighted mean of the rows of each label, by label in their order."""
    rows, found = np.asarray(rows), {}
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights)
    for name in sorted(set(labels)):
        mine = [each == name for each in labels]
        found[name] = np.average(rows[mine], axis=0, weights=weights[mine])
    return found


def ground(rows, labels, *, columns, metric, weights=None, blocks=(), units=None):
    """Gives the origin, the overall mean, and K: the mean of (x - origin)'K(x - origin) is 1.

    Means are weighted. The ridge goes by the number of different rows of all labels, and of
    columns, of which each block is one.
    """
    n, d = rows.shape
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    origin = np.average(rows, axis=0, weights=weights)
    scale = np.ones(d)
    distinct = {(label, *row) for label, row in zip(labels, rows.tolist(), strict=True)}
    if columns:
        varies = rows.max(axis=0) > rows.min(axis=0)
        square = np.average((rows - origin) ** 2, axis=0, weights=weights)
        scale[varies] = np.sqrt(square[varies])
        for start, stop in blocks:
            if varies[start:stop].any():
                length = np.linalg.norm(rows[:, start:stop] - origin[start:stop], axis=1)
                scale[start:stop] = np.sqrt(np.average(length**2, weights=weights))
                scale[start:stop] /= told(rows[:, start:stop], labels, weights, len(distinct))
    K = np.diag(1.0 / scale**2)
    if metric and len(distinct) > len(set(labels)):  # else no class has any scatter
        within = np.zeros((d, d))
        for name in set(labels):
            chosen = [each == name for each in labels]
            mine, weight = rows[chosen] / scale, weights[chosen]
            centred = mine - np.average(mine, axis=0, weights=weight)
            within += centred.T @ (weight[:, None] * centred)
        within /= weights.sum()  # K is scaled in the end: this divisor is of no account
        units = units or d - sum(stop - start - 1 for start, stop in blocks if columns)
        ridge = 0.25 * np.trace(within) / min(len(distinct), units)
        K = np.linalg.inv(within + ridge * np.eye(d)) / np.outer(scale, scale)
        K = (K + K.T) / 2
    Z = rows - origin
    if (rows == rows[0]).all():
        return origin, K
    return origin, K / np.average([z @ K @ z for z in Z], weights=weights)


def told(part, labels, weights, count):
    """Gives 1 - 1/F of an analysis of variance of some columns together, and 0.001 for 0.2 or less.

    `count` is the number of different rows, which have equal weights in the mean.
    """
    if part.shape[1] < 2 or not 1 < len(set(labels)) < count:
        return 1.0
    weights = weights * count / weights.sum()
    means = class_means(part, labels, weights)
    own = np.array([means[label] for label in labels])
    inside = weights @ ((part - own) ** 2).sum(axis=1) / (count - len(means))
    between = weights @ ((own - np.average(part, axis=0, weights=weights)) ** 2).sum(axis=1)
    between /= len(means) - 1
    return 1.0 - inside / between if 0.8 * between > inside else 1e-3


def discriminant(K, origin, mean_a, mean_b):
    """Gives w0 ∝ K(μ_a - μ_b) and b0 with f0(μ_a) = 1, f0(μ_b) = -1.

    Equal means: nothing; equal but for the rounding of sums, in units where rows have length 1.
    """
    w = K @ (mean_a - mean_b)
    between = w @ (mean_a - mean_b)
    if between <= 1e-20:
        return 0.0 * w, 0.0
    w = 2.0 * w / between
    return w, 1.0 - w @ (mean_a - origin)


def by_nnls(Z, signs, K, w0, b0, lam, weights=None, cost=1.0):
    """Minimises ½‖V'α‖² + λ/2 Σ α²/ω - r'α over α ≥ 0, as least squares: V = s(L'z, e), K = LL'.

    e = 1/sqrt(cost), the cost of the squared bias beside the weights.
    """
    e = 1.0 / np.sqrt(cost)
    weights = np.ones(len(Z)) if weights is None else weights
    L = np.linalg.cholesky(K)
    V = signs[:, None] * np.column_stack([Z @ L, np.full(len(Z), e)])
    r = 1.0 - signs * (Z @ w0 + b0)
    root = np.sqrt(lam / weights)
    B = np.vstack([V.T, np.diag(root)])
    c = np.concatenate([np.zeros(V.shape[1]), r / root])
    alpha, _ = nnls(B, c, maxiter=100 * len(Z) + 100)
    u = V.T @ alpha
    return Separator(w0 + L @ u[:-1], b0 + e * u[-1], alpha)


def by_linear_svc(Z, signs, K, lam):
    """Finds the same for w0 = 0, b0 = 0 with scikit-learn; both signs must occur."""
    L = np.linalg.cholesky(K)
    svc = LinearSVC(
        loss="squared_hinge",
        C=1.0 / (2.0 * lam),
        intercept_scaling=1.0,
        dual=False,
        tol=1e-12,
        max_iter=100_000,
    )
    svc.fit(Z @ L, signs)
    return L @ svc.coef_[0], float(svc.intercept_[0])
