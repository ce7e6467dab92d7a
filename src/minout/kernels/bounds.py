"""Margins from below: good enough to say who need not be looked at, and fast.

These sums may be added in any order, so they are compiled to use all lanes of the machine; what
rounding can do to them is taken off with a slack, and who is in doubt is computed in the one fixed
order of `margins`.
"""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled_in_any_order

Singles = NDArray[np.float32]

SLACK = 2e-5
"""What float32 may lose, relative to the lengths of the vectors multiplied.

A sum of d products is off by at most its depth times 2⁻²⁴ of Σ|v_i x_i| ≤ ‖v‖‖x‖. With at least 8
lanes, 2,500 products are at most 315 deep: 1.9e-5. Longer rows are summed in pieces of 2,048, in
double precision. Rounding v, x and the directions to float32 adds less than 1e-6.
"""
PIECE = 2_048


@compiled_in_any_order
def roughly(w: Singles, b: float, table: Singles, places: Ints, out: Floats) -> None:
    """Sets out[i] to w·table[places[i]] + b, within SLACK·‖w‖·‖row‖."""
    for i in range(places.shape[0]):
        x = table[places[i]]
        total = b
        for start in range(0, w.shape[0], PIECE):
            piece = np.float32(0.0)
            for k in range(start, min(start + PIECE, w.shape[0])):
                piece += w[k] * x[k]
            total += float(piece)
        out[i] = total


@compiled_in_any_order
def doubtful(
    known: Floats,
    places: Ints,
    sketch: Singles,
    rest: Singles,
    levels: Ints,
    along: Singles,
    across: Floats,
    shift: float,
    sign: float,
    bound: float,
    out: Ints,
) -> int:
    """Lists in out the i whose margin may be below the bound, and counts them.

    A row's activation was known[i]. Since then it moved by shift + along·sketch[place] over the
    first levels[k] directions, and by at most across[k]·rest[place, k] over the others; levels[0]
    is 0, so across[0] and rest[:, 0] are whole lengths.
    """
    count = 0
    for i in range(places.shape[0]):
        place = places[i]
        row = sketch[place]
        before = sign * (known[i] + shift) - bound - SLACK * across[0] * rest[place, 0]
        moved = np.float32(0.0)
        start = 0
        doubt = True
        for level in range(levels.shape[0]):
            for k in range(start, levels[level]):
                moved += along[k] * row[k]
            start = levels[level]
            if before + sign * moved - across[level] * rest[place, level] >= 0.0:
                doubt = False
                break
        if doubt:
            out[count] = i
            count += 1
    return count
