"""Columns as separators see them: missing values filled and marked, and hat functions.

A linear function of a column and its hat functions is a piecewise-linear function of the values: it
can follow thresholds and bumps. A missing value (NaN) counts as the mean of its column; the mark of
the column, 0 elsewhere, lets a linear function give it any other value.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints

ROUNDING = 1e-12  # a share of a sum of weights that is a matter of rounding


class Expansion(NamedTuple):
    """Hat functions, each of one column: 0 up to `left`, `height` at `middle`, 0 from `right` on.

    `of` (h,) is the number of the column of each; left < middle < right. `fill` (d,) are the values
    that missing ones count as, none if there can be no missing ones. `missing` (m,) are the columns
    that have a mark, and `mark` (m,) its value where theirs is missing.
    """

    of: Ints
    left: Floats
    middle: Floats
    right: Floats
    height: Floats
    fill: Floats
    missing: Ints
    mark: Floats

    @property
    def columns(self) -> int:
        """The number of columns that it adds."""
        return len(self.of) + len(self.missing)

    @property
    def is_needed(self) -> bool:
        """Whether rows are not left as they are."""
        return len(self.of) > 0 or len(self.fill) > 0


_NONE, _NOTHING = np.empty(0, dtype=np.int64), np.empty(0)
NO_EXPANSION = Expansion(_NONE, _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NONE, _NOTHING)


def filling(width: int) -> Expansion:
    """Return the expansion that fills missing values with 0, for as long as no mean is known."""
    return NO_EXPANSION._replace(fill=np.zeros(width))


def expansion(
    X: Floats,
    hats: int,
    weights: Floats | None = None,
    *,
    fills: bool = False,
    bare: Bools | None = None,
) -> Expansion:
    """Return hat functions of the columns of different rows X (n, d), at most so many for each.

    The middles are quantiles: values of the column that divide its values evenly, each once. The
    least and the largest value are the outer ends. The height is the standard deviation of the
    column, so that hats and values weigh alike. A column with one or two values has none. Rows
    count by their weights (n,), 1 by default. Columns that are `bare` (d,) get no hats.

    With `fills`, missing values are left out of all this, and are filled with the mean of the
    others; a column in which some are missing gets a mark, which has the height of a hat.
    """
    hats = min(hats, len(X))
    shares = np.arange(1, hats + 1) / (hats + 1)
    weights = np.ones(len(X)) if weights is None else weights
    found, fill, marks = [], np.zeros(X.shape[1] if fills else 0), []
    for j in range(X.shape[1]):
        is_bare = bare is not None and bool(bare[j])
        if is_bare and not fills:
            continue
        order = np.lexsort((weights, X[:, j]))  # the result does not depend on the order of rows
        values, counts = X[order, j].astype(np.float64), weights[order]
        if fills:  # NaN is last
            present = int(np.count_nonzero(~np.isnan(values)))
            is_missing = present < len(values)
            values, counts = values[:present], counts[:present]
            if not present:
                marks.append((j, 1.0))
                continue
        inner = np.unique(values[_quantiles(counts, shares)])
        at = np.unique(np.concatenate([values[:1], inner, values[-1:]]))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (counts * values).sum() / counts.sum()
            height = float(np.sqrt((counts * (values - mean) ** 2).sum() / counts.sum()))
        middles, is_usable = len(at) - 2, 0.0 < height < np.inf
        if middles > 0 and is_usable and not is_bare:
            ends = at[:-2], at[1:-1], at[2:], np.full(middles, height)
            found.append((np.full(middles, j), *ends))
        if fills:
            fill[j] = mean if np.isfinite(mean) else 0.0
            if is_missing:
                marks.append((j, height if is_usable else 1.0))
    filled = NO_EXPANSION._replace(
        fill=fill,
        missing=np.array([j for j, _ in marks], dtype=np.int64),
        mark=np.array([height for _, height in marks]),
    )
    if not found:
        return filled
    names = ("of", "left", "middle", "right", "height")
    parts = (np.concatenate(each) for each in zip(*found, strict=True))
    return filled._replace(**dict(zip(names, parts, strict=True)))


def _quantiles(counts: Floats, shares: Floats) -> Ints:
    # The first of the sorted values at which each share of all is reached, but for rounding.
    reached = np.cumsum(counts)
    found = np.searchsorted(reached, reached[-1] * shares * (1.0 - ROUNDING))
    return np.asarray(np.minimum(found, len(counts) - 1))


def expanded(expansion: Expansion, X: Floats) -> Floats:
    """Return the columns of X (n, d), the hats and the marks: (n, d + h + m), in the dtype of X."""
    if not expansion.is_needed:
        return X
    of, left, middle, right, height, fill, missing, mark = expansion
    parts = [X]
    if len(fill):
        is_missing = np.isnan(X)
        parts = [np.where(is_missing, fill.astype(X.dtype), X)]
    values = parts[0][:, of].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        rise, fall = (values - left) / (middle - left), (right - values) / (right - middle)
    parts.append((height * np.maximum(np.minimum(rise, fall), 0.0)).astype(X.dtype))
    if len(missing):
        parts.append((mark * is_missing[:, missing]).astype(X.dtype))
    return np.ascontiguousarray(np.concatenate(parts, axis=1))  # one column comes out by columns


def by_column(expansion: Expansion, terms: Floats, d: int) -> Floats:
    """Return the sums of the terms (d + h + m,) of each column, its hats and its mark: (d,)."""
    found, hats = terms[:d].copy(), len(expansion.of)
    np.add.at(found, expansion.of, terms[d : d + hats])
    np.add.at(found, expansion.missing, terms[d + hats :])
    return found


def slopes(expansion: Expansion, w: Floats, x: Floats) -> Floats:
    """Return by how much w·expanded(x) rises with each column of x (d,), to the right of x."""
    of, left, middle, right, height, *_ = expansion
    d, hats = len(x), len(of)
    value = expanded(expansion, x[None])[0, of] if hats else np.empty(0)
    rises, falls = (left <= value) & (value < middle), (middle <= value) & (value < right)
    slope = np.where(rises, height / (middle - left), 0.0)
    slope -= np.where(falls, height / (right - middle), 0.0)
    found = w[:d].copy()
    np.add.at(found, of, w[d : d + hats] * slope)
    return found
