"""Which rows may have fallen below a bound since their activations were last computed."""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled

SLACK = 1e-5
"""What float32 may lose, relative to the lengths: sums at most 35 deep lose 35·2⁻²⁴ ≈ 2e-6."""


@compiled
def doubtful(
    known: Floats,
    places: Ints,
    sketch: Floats,
    rest: Floats,
    levels: Ints,
    along: NDArray[np.float32],
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
        before = sign * (known[i] + shift) - bound
        moved = 0.0
        start = 0
        doubt = True
        slack = SLACK * across[0] * rest[place, 0]
        for level in range(levels.shape[0]):
            m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = np.float32(0.0)
            for k in range(start, levels[level], 8):
                m0 += along[k] * row[k]
                m1 += along[k + 1] * row[k + 1]
                m2 += along[k + 2] * row[k + 2]
                m3 += along[k + 3] * row[k + 3]
                m4 += along[k + 4] * row[k + 4]
                m5 += along[k + 5] * row[k + 5]
                m6 += along[k + 6] * row[k + 6]
                m7 += along[k + 7] * row[k + 7]
            moved += float(((m0 + m1) + (m2 + m3)) + ((m4 + m5) + (m6 + m7)))
            start = levels[level]
            if before + sign * moved - across[level] * rest[place, level] >= slack:
                doubt = False
                break
        if doubt:
            out[count] = i
            count += 1
    return count
