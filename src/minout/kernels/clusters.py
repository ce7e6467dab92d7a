"""Clusters of rows, in a fixed order: `native/clusters.hpp`, the twin of `maths/clusters.py`."""

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._native import native


def centres(Z: Floats, k: int, weights: Floats | None = None) -> Floats:
    """Return the centres of at most k clusters of the rows of Z (n, d): see `maths.centres`."""
    weights = np.ones(len(Z)) if weights is None else weights
    out = np.empty((k, Z.shape[1]))
    return out[: native.centres(np.ascontiguousarray(Z), weights, out)]


def nearest(Z: Floats, centres: Floats) -> Ints:
    """Return the number of the nearest centre of each row; of equally near ones, the first."""
    out: Ints = np.empty(len(Z), dtype=np.int64)
    native.nearest(np.ascontiguousarray(Z), centres, out)
    return out
