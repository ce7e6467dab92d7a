"""One gradient step of one unit, on activations that are updated instead of computed again.

A step adds a multiple of a stored row to a neuron, so every activation of that neuron moves by
the same multiple of an inner product that never changes:
    W[j] += s·x_r and b[j] += s give a_j(x) += s·(x_r·x + 1).
"""

import math
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled
from minout.maths.loss import GRID


class GradientStep(NamedTuple):
    """For each row, the new one last, the neuron it moves and how far; and which moved."""

    rows: Ints
    winners: Ints
    steps: Floats
    moved: Ints


@compiled
def least(a: Floats, column: int) -> tuple[int, float]:
    """Find the neuron that wins a column of a (k, n), and its activation there."""
    winner, value = 0, a[0, column]
    for j in range(1, a.shape[0]):
        if a[j, column] < value:
            winner, value = j, a[j, column]
    return winner, value


def least_of(a: Floats, columns: Ints) -> tuple[Ints, Floats]:
    """Return the neuron that wins each of the columns of a (k, n), and its activation there."""
    winners, values = np.empty(len(columns), dtype=np.int64), np.empty(len(columns))
    _least_of(a, columns, winners, values)
    return winners, values


@compiled
def _least_of(a: Floats, columns: Ints, winners: Ints, values: Floats) -> None:
    """Do so neuron by neuron: a's rows lie together in memory."""
    for i in range(columns.shape[0]):
        winners[i], values[i] = 0, a[0, columns[i]]
    for j in range(1, a.shape[0]):
        activations = a[j]
        for i in range(columns.shape[0]):
            value = activations[columns[i]]
            if value < values[i]:
                winners[i], values[i] = j, value


def gradient_step(
    a: Floats, chosen: Ints, targets: Bools, rehearsal_weight: float, learning_rate: float
) -> GradientStep:
    """Twin of minout_winner and step, for the chosen columns of a (k, ≥ n) and the new one.

    `targets` (n,) says of every column whether it is a positive; the new column is the last, n - 1.
    """
    count, k = len(chosen) + 1, len(a)
    rows, winners = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    steps, moved = np.empty(count), np.empty(k, dtype=np.int64)
    out = GradientStep(rows, winners, steps, moved)
    found = _gradient_step(a, chosen, targets, rehearsal_weight, learning_rate, out)
    return GradientStep(rows, winners, steps, moved[:found])


@compiled
def _gradient_step(
    a: Floats,
    chosen: Ints,
    targets: Bools,
    rehearsal_weight: float,
    learning_rate: float,
    out: GradientStep,
) -> int:
    """Write the step, and return how many neurons have moved."""
    rows, winners, steps, moved = out.rows, out.winners, out.steps, out.moved
    count = rows.shape[0]
    rows[:-1] = chosen
    rows[-1] = targets.shape[0] - 1
    values = np.empty(count)
    _least_of(a, rows, winners, values)
    has_moved = np.zeros(a.shape[0], dtype=np.bool_)
    for i in range(count):
        weight = 1.0 if i == count - 1 else rehearsal_weight
        slope = _sigmoid(values[i]) - (1.0 if targets[rows[i]] else 0.0)
        steps[i] = np.rint(-learning_rate * weight * slope * GRID) / GRID
        if steps[i] != 0.0:
            has_moved[winners[i]] = True
    found = 0
    for j in range(a.shape[0]):
        if has_moved[j]:
            moved[found] = j
            found += 1
    return found


@compiled
def follow(a: Floats, products: Floats, taken: GradientStep, n: int) -> None:
    """Update the activations a (k, ≥ n) of all n columns after a step.

    products[r, i] is x_r·x_i + 1, the one for the bias. Rows that move the same neuron are added
    four at a time, so that the neuron's activations are read and written a fourth as often.
    """
    mine = np.empty(taken.rows.shape[0], dtype=np.int64)
    for neuron in taken.moved:
        count = 0
        for i in range(taken.rows.shape[0]):
            if taken.winners[i] == neuron:
                mine[count] = i
                count += 1
        moved = a[neuron]
        fours = count - count % 4
        for i in range(0, fours, 4):
            i0, i1, i2, i3 = mine[i], mine[i + 1], mine[i + 2], mine[i + 3]
            s0, s1, s2, s3 = taken.steps[i0], taken.steps[i1], taken.steps[i2], taken.steps[i3]
            p0, p1 = products[taken.rows[i0]], products[taken.rows[i1]]
            p2, p3 = products[taken.rows[i2]], products[taken.rows[i3]]
            for c in range(n):
                moved[c] += s0 * p0[c] + s1 * p1[c] + s2 * p2[c] + s3 * p3[c]
        for i in range(fours, count):
            step, product = taken.steps[mine[i]], products[taken.rows[mine[i]]]
            for c in range(n):
                moved[c] += step * product[c]


def clipped(a: Floats, neurons: Ints, threshold: float, n: int) -> Bools:
    """Return which of the first n columns the given neurons clip: (neurons, n)."""
    out = np.empty((len(neurons), n), dtype=np.bool_)
    _clip(a, neurons, threshold, out)
    return out


@compiled
def _clip(a: Floats, neurons: Ints, threshold: float, out: Bools) -> None:
    n = out.shape[1]
    for i in range(neurons.shape[0]):
        row, said = a[neurons[i]], out[i]
        for column in range(n):
            said[column] = row[column] <= threshold


def follow_and_clip(
    a: Floats, products: Floats, taken: GradientStep, n: int, threshold: float
) -> Bools:
    """Follow a step and return which of the columns before the last its neurons clip now."""
    follow(a, products, taken, n)
    return clipped(a, taken.moved, threshold, n - 1)


@compiled
def _sigmoid(a: float) -> float:
    e = math.exp(-abs(a))
    return (1.0 if a >= 0.0 else e) / (1.0 + e)
