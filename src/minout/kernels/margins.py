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
