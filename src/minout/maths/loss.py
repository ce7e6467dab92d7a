"""The loss of one unit, sigmoid cross-entropy through the min, and one step down its slope."""

import numpy as np

from minout._typing import Bools, Floats
from minout.maths.units import sigmoid

GRID = 2.0**24
"""Steps are rounded to multiples of 1/GRID (6e-8).

Rows that are multiples of 1/256 (pixels) then keep every weight a multiple of 2^-32 and every
activation one of 2^-40: below 8,192 in size, float64 adds them without rounding. So the order of
summation, the BLAS and the number of threads cannot change a single bit of what is learned.
(Compiled kernels keep the value that they were compiled with.)
"""


def cross_entropy(a: Floats, target: Bools) -> Floats:
    """Return -log σ(a) for a positive and -log(1 - σ(a)) for a negative; `a` is the winner's.

    With z = -a or a, both are softplus(z) = max(z, 0) + log1p(exp(-|z|)).
    """
    z = np.where(target, -a, a)
    return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))


def slope(a: Floats, target: Bools) -> Floats:
    """Return the derivative of the cross-entropy by the winner's activation: σ(a) - target.

    The min passes it to the winner alone: the other neurons of the unit get nothing.
    """
    return np.asarray(sigmoid(a) - target)


def step(a: Floats, target: Bools, weight: Floats, learning_rate: float) -> Floats:
    """Return the step of each row for its winner: W[winner] += step·x, b[winner] += step."""
    return np.asarray(np.rint(-learning_rate * weight * slope(a, target) * GRID) / GRID)
