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
FEW, SOME, ALL = 32, 96, 256
LEVELS = (0, FEW, SOME, ALL)
"""A row is looked at along none; if that leaves doubt along the first few directions, and so on."""


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
    along: Singles,
    across: Floats,
    shift: float,
    sign: float,
    bound: float,
    out: Ints,
) -> int:
    """Lists in out the i whose margin may be below the bound, and counts them.

    A row's activation was known[i]. Since then it moved by shift + along·sketch[place] over the
    first LEVELS[k] directions, and by at most across[k]·rest[place, k] over the others; across[0]
    and rest[:, 0] are whole lengths. (The loops are written out: their bounds are then known when
    they are compiled, which makes them three times as fast.)
    """
    count = 0
    for i in range(places.shape[0]):
        place = places[i]
        row, left = sketch[place], rest[place]
        before = sign * (known[i] + shift) - bound - SLACK * across[0] * left[0]
        if before - across[0] * left[0] >= 0.0:
            continue
        moved = np.float32(0.0)
        for k in range(FEW):
            moved += along[k] * row[k]
        if before + sign * moved - across[1] * left[1] >= 0.0:
            continue
        for k in range(FEW, SOME):
            moved += along[k] * row[k]
        if before + sign * moved - across[2] * left[2] >= 0.0:
            continue
        for k in range(SOME, ALL):
            moved += along[k] * row[k]
        if before + sign * moved - across[3] * left[3] >= 0.0:
            continue
        out[count] = i
        count += 1
    return count
