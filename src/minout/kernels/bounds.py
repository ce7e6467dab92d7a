"""Fast lower bounds of margins, to find the rows whose margin need not be computed.

These sums may be added in any order, so they are compiled to SIMD code; a tolerance covers their
rounding error. Rows that the bounds do not decide are computed in the fixed order of `margins`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled_in_any_order

Singles = NDArray[np.float32]

TOLERANCE = 2e-5
"""The rounding error of float32, relative to the lengths of the vectors multiplied.

A sum of 256 products is off by at most its depth times 2⁻²⁴ of Σ|v_i x_i| ≤ ‖v‖‖x‖: 1.6e-5.
Rounding v, x and the directions to float32 adds less than 1e-6.
"""
FEW, SOME, ALL = 32, 96, 256
LEVELS = (0, FEW, SOME, ALL)
"""A row is bounded with no directions first; if undecided, with the first few, and so on."""


class Changes(NamedTuple):
    """Changes of weights: one from each of some earlier separators to the present one.

    along (k, 256) are their components along the directions of a sketch, across (k, 4) the lengths
    of the remainders after LEVELS of these; across[:, 0] are whole lengths. shift (k,) is the
    change of the activation of a row at the sketch's origin, and slack (k,) how far bounds may be
    off by rounding, per length of a row.
    """

    along: Singles
    across: Floats
    shift: Floats
    slack: Floats


@compiled_in_any_order
def doubtful(
    known: Floats,
    since: Ints,
    places: Ints,
    sketch: Singles,
    rest: Singles,
    changes: Changes,
    sign: float,
    bound: float,
    out: Ints,
) -> int:
    """Write to out the i whose margin may be below the bound, and count them.

    The activation of row i was known[i] before the change since[i]; if that is below 0, nothing is
    known. Since then it moved by shift + along·sketch[place] over the first LEVELS[k] directions,
    and by at most across[k]·rest[place, k] over the others; rest[:, 0] are whole lengths. (The
    loops are written out: their bounds are then known when they are compiled, which makes them
    three times as fast.)
    """
    count = 0
    for i in range(places.shape[0]):
        place, change = places[i], since[i]
        if change < 0:
            out[count] = i
            count += 1
            continue
        row, left = sketch[place], rest[place]
        along, across = changes.along[change], changes.across[change]
        before = sign * (known[i] + changes.shift[change]) - bound
        before -= changes.slack[change] * left[0]
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
