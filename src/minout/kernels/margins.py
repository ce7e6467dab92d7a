"""Margins in one fixed order: 32 sums run side by side, then are added up, first to last."""

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled

LANES = 32


@compiled
def dot(w: Floats, x: Floats, origin: Floats, lanes: Floats) -> float:
    """Return w·(x - origin) in float64, for any dtype of x; lanes (32,) is a buffer."""
    whole = w.shape[0] - w.shape[0] % LANES
    for k in range(LANES):
        lanes[k] = 0.0
    for i in range(0, whole, LANES):
        for k in range(LANES):
            lanes[k] += w[i + k] * (x[i + k] - origin[i + k])
    total = 0.0
    for k in range(LANES):
        total += lanes[k]
    for i in range(whole, w.shape[0]):
        total += w[i] * (x[i] - origin[i])
    return total


@compiled
def activations(
    w: Floats, b: float, table: Floats, places: Ints, origin: Floats, out: Floats
) -> None:
    """Set out[i] = w·(table[places[i]] - origin) + b."""
    lanes = np.empty(LANES)
    for i in range(places.shape[0]):
        out[i] = dot(w, table[places[i]], origin, lanes) + b


@compiled
def class_margins(
    W: Floats, b: Floats, x: Floats, origin: Floats, label: int, out: Floats
) -> float:
    """Set out[o] to the margin of x, of class `label`, against each class o; return the least.

    The separator of classes o < c is row c(c - 1)/2 + o of W, positive on the side of o. What
    out[label] holds does not change.
    """
    lanes = np.empty(LANES)
    least = np.inf
    for other in range(out.shape[0]):
        if other != label:
            high, low = max(label, other), min(label, other)
            pair = high * (high - 1) // 2 + low
            a = dot(W[pair], x, origin, lanes) + b[pair]
            out[other] = a if label < other else -a
            least = min(least, out[other])
    return least


@compiled
def scores(W: Floats, b: Floats, X: Floats, origin: Floats, out: Floats) -> None:
    """Set out[i, c] to the least margin that row i of X would have as an example of class c."""
    lanes = np.empty(LANES)
    out[:] = np.inf
    for high in range(1, out.shape[1]):
        for low in range(high):
            pair = high * (high - 1) // 2 + low
            for i in range(X.shape[0]):
                a = dot(W[pair], X[i], origin, lanes) + b[pair]
                out[i, low] = min(out[i, low], a)
                out[i, high] = min(out[i, high], -a)
