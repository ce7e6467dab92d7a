"""Inner products x'K x between the members of a pool, from the images K(x - origin)."""

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled
from minout.kernels.margins import LANES, dot


@compiled
def gram(
    pictures: Floats,
    which: Ints,
    table: Floats,
    places: Ints,
    origin: Floats,
    signs: Floats,
    known: int,
    out: Floats,
) -> None:
    """Fill rows and columns `known` … n - 1 of out (n, n) with s_i s_j (x_i'K x_j + 1).

    pictures[which[i]] is the image of row table[places[i]].
    """
    lanes = np.empty(LANES)
    for i in range(known, places.shape[0]):
        image = pictures[which[i]]
        for j in range(i + 1):
            value = signs[i] * signs[j] * (dot(image, table[places[j]], origin, lanes) + 1.0)
            out[i, j] = value
            out[j, i] = value


@compiled
def combine(pictures: Floats, which: Ints, amounts: Floats, out: Floats) -> None:
    """Add amounts[i]·pictures[which[i]] to out, one i after the other."""
    for i in range(which.shape[0]):
        if amounts[i] != 0.0:
            image, amount = pictures[which[i]], amounts[i]
            for k in range(out.shape[0]):
                out[k] += amount * image[k]
