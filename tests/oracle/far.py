"""Near and far pairs from scratch: which pairs are near, and the optimum of every pair of labels.

A pair is near if one label is among the k nearest of the other, by the distance of the means in
the metric. Near pairs start from the discriminant at ±1 on the means, far ones from ±4 on the means
as they would be without the noise of few examples: its average is subtracted from squared lengths.
"""

from typing import NamedTuple

import numpy as np

from oracle import separators

FAR_SCALE = 4.0
ROUNDING = 1e-9


class Pair(NamedTuple):
    """The separator of two labels a < b: f(x) = w·(x - origin) + b, positive on the side of a.

    alpha are those of the rows `mine`, by number.
    """

    w: np.ndarray
    b: float
    is_far: bool
    alpha: np.ndarray
    mine: list


def model(
    rows,
    labels,
    near_classes,
    *,
    standardize,
    whiten,
    lda_prior,
    free_bias=True,
    C,
    far=None,
    regions=None,
    weights=None,
):
    """Solve every pair of labels; return the origin and {(a, b): Pair}.

    `far` are the far pairs, if they are known; otherwise they are found, and ties must not occur.
    With `regions`, one of each row, every pair of regions of different labels. `weights` are those
    of the rows, 1 by default.
    """
    assert lda_prior
    assert free_bias
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    named = zip(labels, np.asarray(rows).tolist(), strict=True)
    distinct = len({(label, *row) for label, row in named})
    rows, label_of = (
        np.asarray(rows, dtype=float),
        dict(zip(regions or labels, labels, strict=True)),
    )
    settings = {"columns": standardize, "metric": whiten, "weights": weights}
    origin, K = separators.ground(rows, list(labels), **settings)
    labels = list(regions or labels)
    means = separators.class_means(rows, labels, weights)
    total = {name: weights[[each == name for each in labels]].sum() for name in means}
    off = [row - means[label] for row, label in zip(rows, labels, strict=True)]
    squares = [each @ K @ each for each in off]
    within = (weights @ squares) / max(distinct - len(means), 1)
    if far is None:
        near, doubtful = near_pairs(distances(K, means), near_classes)
        assert not doubtful
        far = {pair for pair in all_pairs(means) if pair not in near}
    found = {}
    for a, b in all_pairs(means):
        if label_of[a] == label_of[b]:
            continue
        mine = [i for i, each in enumerate(labels) if each in (a, b)]
        signs = np.array([1.0 if labels[i] == a else -1.0 for i in mine])
        if (a, b) in far:
            noise = [within / total[each] for each in (a, b)]
            w0, b0 = far_prior(K, means[a] - origin, means[b] - origin, *noise)
        else:
            w0, b0 = separators.discriminant(K, origin, means[a], means[b])
        lam = 1.0 / (2.0 * C)
        optimum = separators.by_nnls(rows[mine] - origin, signs, K, w0, b0, lam, weights[mine])
        found[a, b] = Pair(optimum.w, optimum.b, (a, b) in far, optimum.alpha, mine)
    return origin, found


def far_prior(K, a, b, noise_a, noise_b):
    """Return w and b of the prior of a far pair with means a and b, less the origin."""
    apart = (a - b) @ K @ (a - b)
    scale = 2.0 * FAR_SCALE / max(apart - noise_a - noise_b, apart / 4.0)
    middle = (a @ K @ a - noise_a - b @ K @ b + noise_b) / 2.0
    return scale * (K @ (a - b)), -scale * middle


def all_pairs(means):
    """Return the pairs of labels (a, b), a < b."""
    return [(a, b) for a in means for b in means if a < b]


def distances(K, means):
    """Return the squared distance of each pair of means in the metric."""
    return {
        (a, b): float((means[a] - means[b]) @ K @ (means[a] - means[b]))
        for a in means
        for b in means
        if a != b
    }


def near_pairs(squares, near_classes):
    """Return the near pairs (a, b), a < b, and those that are a matter of rounding."""
    near, doubtful, sure = set(), set(), set()
    for a in sorted({a for a, _ in squares}):
        mine = sorted((square, b) for (one, b), square in squares.items() if one == a)
        reach = mine[min(near_classes, len(mine)) - 1][0]
        rounding = ROUNDING * (1.0 + reach)
        near |= {pair(a, b) for square, b in mine if square <= max(reach, ROUNDING)}
        if sum(square <= reach + rounding for square, _ in mine) > near_classes:
            # Which of those at this distance are near, is a matter of rounding.
            doubtful |= {pair(a, b) for square, b in mine if abs(square - reach) <= rounding}
            sure |= {pair(a, b) for square, b in mine if square < reach - rounding}
        else:
            sure |= {pair(a, b) for square, b in mine if square <= reach}
    return near, doubtful - sure


def pair(a, b):
    """Return two names in their order."""
    return (a, b) if a < b else (b, a)


def values(view, X):
    """Return {(a, b): f at each row} from an inspection view, one product at a time."""
    return {
        pair: np.array([each.w @ (np.asarray(x, dtype=float) - view.origin) + each.b for x in X])
        for pair, each in view.separators.items()
    }


def scores(view, X):
    """Return the least margin of each row under each label, columns in the order of labels."""
    names = sorted(view.labels)
    out = np.full((len(X), len(names)), np.inf)
    for (low, high), f in values(view, X).items():
        for label, sign in ((low, 1.0), (high, -1.0)):
            column = out[:, names.index(label)]
            np.minimum(column, sign * f, out=column)
    return out
