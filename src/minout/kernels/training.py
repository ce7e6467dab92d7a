"""One gradient step of one unit, on activations that are kept instead of computed anew.

A step adds a multiple of a stored row to a neuron, so every activation of that neuron moves by
the same multiple of an inner product that never changes:
    W[j] += s·x_r and b[j] += s give a_j(x) += s·(x_r·x + 1).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from minout._typing import Bools, Floats, Ints
from minout.maths.loss import GRID


class Pull(NamedTuple):
    """Says for each row, the new one last, which neuron it moves and how far; and who moved."""

    rows: Ints
    winners: Ints
    steps: Floats
    moved: Ints


@njit(cache=True, nogil=True)
def least(a: Floats, column: int) -> tuple[int, float]:
    """Finds the neuron that wins a column of a (k, n), and its activation there."""
    winner, value = 0, a[0, column]
    for j in range(1, a.shape[0]):
        if a[j, column] < value:
            winner, value = j, a[j, column]
    return winner, value


@njit(cache=True, nogil=True)
def pull(
    a: Floats, chosen: Ints, targets: Bools, rehearsal_weight: float, learning_rate: float
) -> Pull:
    """Is the twin of minout_winner and step, for the chosen columns of a (k, ≥ n) and the new one.

    `targets` (n,) says of every column whether it is a positive; the new column is the last, n - 1.
    """
    count = chosen.shape[0] + 1
    rows = np.empty(count, dtype=np.int64)
    rows[:-1] = chosen
    rows[-1] = targets.shape[0] - 1
    winners = np.zeros(count, dtype=np.int64)
    values = a[0][rows]
    for j in range(1, a.shape[0]):  # neuron by neuron: a's rows lie together, its columns do not
        activations = a[j]
        for i in range(count):
            if activations[rows[i]] < values[i]:
                winners[i], values[i] = j, activations[rows[i]]
    steps = np.empty(count)
    has_moved = np.zeros(a.shape[0], dtype=np.bool_)
    for i in range(count):
        weight = 1.0 if i == count - 1 else rehearsal_weight
        slope = _sigmoid(values[i]) - (1.0 if targets[rows[i]] else 0.0)
        steps[i] = np.rint(-learning_rate * weight * slope * GRID) / GRID
        if steps[i] != 0.0:
            has_moved[winners[i]] = True
    return Pull(rows, winners, steps, np.flatnonzero(has_moved))


@njit(cache=True, nogil=True)
def follow(a: Floats, products: Floats, pull: Pull, n: int) -> None:
    """Moves the activations a (k, ≥ n) of all n columns as the pull moves the weights.

    products[r, i] is x_r·x_i + 1, the one for the bias.
    """
    for i in range(pull.rows.shape[0]):
        step = pull.steps[i]
        if step != 0.0:
            moved, product = a[pull.winners[i]], products[pull.rows[i]]
            for column in range(n):
                moved[column] += step * product[column]


@njit(cache=True, nogil=True)
def clipped(a: Floats, neurons: Ints, threshold: float, n: int) -> Bools:
    """Says which of the first n columns the given neurons clip: (neurons, n)."""
    out = np.empty((neurons.shape[0], n), dtype=np.bool_)
    for i in range(neurons.shape[0]):
        row, said = a[neurons[i]], out[i]
        for column in range(n):
            said[column] = row[column] <= threshold
    return out


@njit(cache=True, nogil=True)
def _sigmoid(a: float) -> float:
    e = math.exp(-abs(a))
    return (1.0 if a >= 0.0 else e) / (1.0 + e)
