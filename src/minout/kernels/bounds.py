"""Fast lower bounds of margins, to find the rows whose margin need not be computed.

These sums may be added in any order, so they are compiled to SIMD code; a tolerance covers their
rounding error. Rows that the bounds do not decide are computed in the fixed order of `margins`.
"""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled_in_any_order

Singles = NDArray[np.float32]

TOLERANCE = 2e-5
"""The rounding error of float32, relative to the lengths of the vectors multiplied.

A sum of d products is off by at most its depth times 2⁻²⁴ of Σ|v_i x_i| ≤ ‖v‖‖x‖. With at least 8
lanes, 2,500 products are at most 315 deep: 1.9e-5. Longer rows are summed in pieces of 2,048, in
double precision. Rounding v, x and the directions to float32 adds less than 1e-6.
"""
PIECE = 2_048
FEW, SOME, ALL = 32, 96, 256
LEVELS = (0, FEW, SOME, ALL)
"""A row is bounded with no directions first; if undecided, with the first few, and so on."""


@compiled_in_any_order
def roughly(w: Singles, b: float, table: Singles, places: Ints, out: Floats) -> None:
    """Set out[i] to w·table[places[i]] + b, within TOLERANCE·‖w‖·‖row‖."""
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
    """Write to out the i whose margin may be below the bound, and count them.

    A row's activation was known[i]. Since then it moved by shift + along·sketch[place] over the
    first LEVELS[k] directions, and by at most across[k]·rest[place, k] over the others; across[0]
    and rest[:, 0] are whole lengths. (The loops are written out: their bounds are then known when
    they are compiled, which makes them three times as fast.)
    """
    count = 0
    for i in range(places.shape[0]):
        place = places[i]
        row, left = sketch[place], rest[place]
        before = sign * (known[i] + shift) - bound - TOLERANCE * across[0] * left[0]
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
