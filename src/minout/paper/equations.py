"""The paper's equations in plain NumPy: units, clipped neurons, the loss.

Equation numbers are the paper's, counted through the first copy of its appendix. The paper's W is
d×m×k; here it is (m, k, d): unit, neuron, feature. One unit has W (k, d) and b (k,); `a` holds the
activations of its neurons along the last axis. The sets S1, S2 and S3 are in `index`.
"""

import numpy as np

from minout._typing import Bools, Floats, Ints

HARD_CLIP = 0.0
"""A neuron of a clipped minout unit is clipped where a ≤ 0."""

SIGMOID_CLIP = float(np.log(0.1 / 0.9))
"""Where σ(a) = 0.1: "activation value smaller than 0.1 is seen as clipped to 0"."""

GRID = 2.0**24
"""Steps are rounded to multiples of 1/GRID (6e-8).

Rows that are multiples of 1/256 (pixels) then keep every weight a multiple of 2^-32 and every
activation one of 2^-40: below 8,192 in size, float64 adds them without rounding. So the order of
summation cannot change a single bit of what is learned.
"""


def activations(W: Floats, b: Floats, x: Floats) -> Floats:
    """Return a_j(x) = x·W[j] + b[j] of one unit: x (..., d) → (..., k)."""
    return x @ W.T + b


def maxout(a: Floats) -> Floats:
    """Return h = max_j a_j.  # eq. (5)"""
    return np.asarray(a.max(axis=-1))


def theta(W: Floats, b: Floats, winners: Ints) -> tuple[Floats, Floats]:
    """Return Θ(x) = {W[i, G_i(x)], b[i, G_i(x)]}: the parameters that x uses.  # eq. (4), (6)

    W (m, k, d), b (m, k), winners (m,) → (m, d), (m,).
    """
    units = np.arange(len(W))
    return W[units, winners], b[units, winners]


def maxout_winner(a: Floats) -> Ints:
    """Return G(x) = argmax_j a_j; ties go to the lowest neuron.  # eq. (7)"""
    return np.asarray(a.argmax(axis=-1))


def interfered_if_fixed(winners: Ints, new: Ints) -> Bools:
    """Return the rows that a new example disturbs if G is fixed: they share a neuron.  # after (7)

    `winners` (n, m) holds G_i(x) of the stored rows, `new` (m,) that of the new one. The paper
    writes "for all i"; sharing one neuron in any unit is enough, so it is "for some i".
    """
    return np.asarray((winners == new).any(axis=1))


def clipped_maxout(a: Floats) -> Floats:
    """Return h = max_j min(a_j, 0): negative inside a convex set, 0 outside.  # eq. (8), (9)"""
    return np.asarray(np.minimum(a, 0.0).max(axis=-1))


def clipped_above(a: Floats) -> Bools:
    """Return which neurons of a clipped maxout unit are clipped: z_j = 0."""
    return np.asarray(a >= 0.0)


def clipped_minout(a: Floats) -> Floats:
    """Return h = min_j max(a_j, 0): positive where every neuron is.  # eq. (10), (11), (15)

    It mirrors the clipped maxout: clipped_maxout(a) = -clipped_minout(-a).  # eq. (12), (13)
    """
    return np.asarray(np.maximum(a, 0.0).min(axis=-1))


def clipped(a: Floats, threshold: float = HARD_CLIP) -> Bools:
    """Return which neurons of a minout unit are clipped."""
    return np.asarray(a <= threshold)


def sigmoid(a: Floats) -> Floats:
    """Return 1 / (1 + exp(-a)), written so that exp never overflows."""
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1.0, e) / (1.0 + e)


def sigmoid_minout(a: Floats) -> Floats:
    """Return h = min_j σ(a_j), the unit of the experiments: "the probability of each label"."""
    return np.asarray(sigmoid(a).min(axis=-1))


def gate(a: Floats) -> Floats:
    """Return y = Π_j σ(a_j), the gate: an AND of neurons, like minout.  # after eq. (14)"""
    return np.asarray(sigmoid(a).prod(axis=-1))


def cross_entropy(a: Floats, target: Bools) -> Floats:
    """Return -log σ(a) for a positive and -log(1 - σ(a)) for a negative; `a` is the winner's.

    With z = -a or a, both are softplus(z) = max(z, 0) + log1p(exp(-|z|)).
    """
    z = np.where(target, -a, a)
    return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))
