"""Piecewise-linear columns: each column as it is, and hat functions of it between knots.

A linear function of the expanded columns is, column by column, a piecewise-linear function of the
values: it can follow thresholds and bumps.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints

ROUNDING = 1e-12
"""A share of a sum of weights that is a matter of rounding."""


class Expansion(NamedTuple):
    """Hat functions, each of one column: 0 up to `left`, `height` at `middle`, 0 from `right` on.

    `of` (h,) is the number of the column of each; left < middle < right.
    """

    of: Ints
    left: Floats
    middle: Floats
    right: Floats
    height: Floats


NO_EXPANSION = Expansion(np.empty(0, dtype=np.int64), *np.empty((4, 0)))


def expansion(X: Floats, hats: int, weights: Floats | None = None) -> Expansion:
    """Return hat functions of the columns of different rows X (n, d), at most so many for each.

    The middles are quantiles: values of the column that divide its values evenly, each once. The
    least and the largest value are the outer ends. The height is the standard deviation of the
    column, so that hats and values weigh alike. A column with one or two values has none. Rows
    count by their weights (n,), 1 by default.
    """
    hats = min(hats, len(X))
    shares = np.arange(1, hats + 1) / (hats + 1)
    weights = np.ones(len(X)) if weights is None else weights
    found = []
    for j in range(X.shape[1]):
        order = np.lexsort((weights, X[:, j]))  # the result does not depend on the order of rows
        values, counts = X[order, j].astype(np.float64), weights[order]
        inner = np.unique(values[_quantiles(counts, shares)])
        at = np.unique(np.concatenate([values[:1], inner, values[-1:]]))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (counts * values).sum() / counts.sum()
            height = float(np.sqrt((counts * (values - mean) ** 2).sum() / counts.sum()))
        middles = len(at) - 2
        if middles > 0 and 0.0 < height < np.inf:
            ends = at[:-2], at[1:-1], at[2:], np.full(middles, height)
            found.append((np.full(middles, j), *ends))
    if not found:
        return NO_EXPANSION
    return Expansion(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _quantiles(counts: Floats, shares: Floats) -> Ints:
    # The first of the sorted values at which each share of all is reached, but for rounding.
    reached = np.cumsum(counts)
    found = np.searchsorted(reached, reached[-1] * shares * (1.0 - ROUNDING))
    return np.asarray(np.minimum(found, len(counts) - 1))


def expanded(expansion: Expansion, X: Floats) -> Floats:
    """Return the columns of X (n, d), followed by the hats: (n, d + h), in the dtype of X."""
    if not len(expansion.of):
        return X
    of, left, middle, right, height = expansion
    values = X[:, of].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        rise, fall = (values - left) / (middle - left), (right - values) / (right - middle)
    hats = height * np.maximum(np.minimum(rise, fall), 0.0)
    return np.concatenate([X, hats.astype(X.dtype)], axis=1)


def slopes(expansion: Expansion, w: Floats, x: Floats) -> Floats:
    """Return by how much w·expanded(x) rises with each column of x (d,), to the right of x."""
    of, left, middle, right, height = expansion
    value, d = x[of], len(x)
    rises, falls = (left <= value) & (value < middle), (middle <= value) & (value < right)
    slope = np.where(rises, height / (middle - left), 0.0)
    slope -= np.where(falls, height / (right - middle), 0.0)
    found = w[:d].copy()
    np.add.at(found, of, w[d:] * slope)
    return found
