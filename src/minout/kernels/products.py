"""Inner products of one row with many, each summed in the order of the features."""

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled


@compiled
def products(rows: Floats, x: Floats, out: Floats) -> None:
    """Set out[i] = rows[i]·x for every i below len(out); rows (≥ n, d), x (d,), out (n,).

    Each sum runs through the features in ascending order, so a row's product does not depend on
    the rows around it. Features that are 0 in x are skipped, which changes no sum; four sums run
    side by side, because one alone waits for its own last addition.
    """
    features = np.flatnonzero(x)
    values = x[features]
    n = out.shape[0]
    fours = n - n % 4
    for i in range(0, fours, 4):
        s0 = s1 = s2 = s3 = 0.0
        for f in range(features.shape[0]):
            feature, value = features[f], values[f]
            s0 += rows[i, feature] * value
            s1 += rows[i + 1, feature] * value
            s2 += rows[i + 2, feature] * value
            s3 += rows[i + 3, feature] * value
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(fours, n):
        s0 = 0.0
        for f in range(features.shape[0]):
            s0 += rows[i, features[f]] * values[f]
        out[i] = s0


@compiled
def products_by_column(columns: Floats, x: Floats, out: Floats) -> None:
    """Compute the same for rows stored as columns (d, n), many sums at once, in the same order.

    Faster where rows are only ever multiplied; where they are also fetched, `products` is.
    """
    out[:] = 0.0
    for feature in np.flatnonzero(x):
        column, value = columns[feature], x[feature]
        for i in range(out.shape[0]):
            out[i] += column[i] * value


@compiled
def add_multiples(into: Floats, places: Ints, rows: Floats, picked: Ints, amounts: Floats) -> None:
    """Add amounts[i]·rows[picked[i]] to into[places[i]], one i after the other."""
    for i in range(places.shape[0]):
        target, row, amount = into[places[i]], rows[picked[i]], amounts[i]
        for f in range(row.shape[0]):
            target[f] += amount * row[f]
