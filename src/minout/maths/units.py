"""What a unit computes: maxout, its clipped forms, the sigmoid minout, and the appendix's gate.

Equation numbers are those of the paper, counted through the first copy of its appendix. The paper
writes W as d×m×k; here one unit's W is k×d, so that a neuron is a row.
"""

import numpy as np

from minout._typing import Floats, Ints


def activations(W: Floats, b: Floats, x: Floats) -> Floats:
    """Return a_j(x) = W[j]·x + b[j] of one unit: W (k, d), b (k,), x (..., d) → (..., k)."""
    return x @ W.T + b


def maxout(a: Floats) -> Floats:
    """Return h = max_j a_j over the last axis.  # eq. (5)"""
    return np.asarray(a.max(axis=-1))


def clipped_maxout(a: Floats) -> Floats:
    """Return h = max_j min(a_j, 0): negative inside a convex set, 0 outside.  # eq. (8), (9)"""
    return np.asarray(np.minimum(a, 0.0).max(axis=-1))


def clipped_minout(a: Floats) -> Floats:
    """Return h = min_j max(a_j, 0): positive where every neuron is.  # eq. (10), (11)

    It mirrors the clipped maxout: clipped_maxout(a) = -clipped_minout(-a).  # eq. (12), (13)
    """
    return np.asarray(np.maximum(a, 0.0).min(axis=-1))


def sigmoid(a: Floats) -> Floats:
    """Return 1 / (1 + exp(-a)), written so that exp never overflows."""
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1.0, e) / (1.0 + e)


def sigmoid_minout(a: Floats) -> Floats:
    """Return h = min_j σ(a_j), the unit of the paper's experiments: a probability per class."""
    return np.asarray(sigmoid(a).min(axis=-1))


def gate(a: Floats) -> Floats:
    """Return y = Π_j σ(a_j), the gate: an AND of neurons, like minout.  # after eq. (14)"""
    return np.asarray(sigmoid(a).prod(axis=-1))


def maxout_winner(a: Floats) -> Ints:
    """Return G(x) = argmax_j a_j of a maxout unit; ties go to the lowest neuron.  # eq. (7)"""
    return np.asarray(a.argmax(axis=-1))


def minout_winner(a: Floats) -> Ints:
    """Return G(x) = argmin_j a_j of a minout unit; ties go to the lowest neuron."""
    return np.asarray(a.argmin(axis=-1))


def theta(W: Floats, b: Floats, winners: Ints) -> tuple[Floats, Floats]:
    """Return Θ(x) = {W[i, G_i(x)], b[i, G_i(x)]}, the parameters that one input uses.  # eq. (6)

    W (m, k, d), b (m, k), winners (m,) → (m, d), (m,).
    """
    units = np.arange(len(W))
    return W[units, winners], b[units, winners]
