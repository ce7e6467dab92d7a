"""The paper's training of one layer of minout units, written to be read: the specification.

Everything is evaluated again at every step by a matrix product. The learner does the same with
compiled loops that touch only what changed, and must agree with this to the last bit.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.maths.interference import SIGMOID_CLIP, clipped, interfered
from minout.maths.loss import GRID, cross_entropy, step
from minout.maths.units import activations, minout_winner

Choose = Callable[[Bools, Ints, int], Ints]
"""Choose the stored rows to rehearse, given the clipped neurons of each (n, k), the winning neuron
of each (n,), and the neuron that the new row moves."""


class Layer(NamedTuple):
    """One minout unit per class: W (m, k, d), b (m, k)."""

    W: Floats
    b: Floats


class Training(NamedTuple):
    """How a unit is trained on one example."""

    learning_rate: float = 0.01
    reduction: Literal["sum", "mean"] = "sum"
    stop_loss: float = 0.1
    max_steps: int = 10_000
    threshold: float = SIGMOID_CLIP


class Trace(NamedTuple):
    """The report of one unit: for each step, the rows it rehearsed and the neurons that moved."""

    rehearsed: list[Ints]
    moved: list[Ints]
    loss: float


def initial_layer(
    units: int, neurons: int, features: int, scale: float, rng: np.random.Generator
) -> Layer:
    """Draw W ~ N(0, scale²), rounded to the grid of the steps, and b = 0."""
    W = rng.normal(0.0, scale, (units, neurons, features))
    return Layer(np.rint(W * GRID) / GRID, np.zeros((units, neurons)))


def teach(
    layer: Layer, rows: Floats, labels: Ints, choose: Choose, training: Training
) -> list[Trace]:
    """Train every unit, in place, on the last row; the rows before it are the stored ones."""
    return [
        _train_unit(W, b, rows, labels == unit, choose, training)
        for unit, (W, b) in enumerate(zip(layer.W, layer.b, strict=True))
    ]


def scores(layer: Layer, rows: Floats) -> Floats:
    """Return min_j a_j of every unit, (n, m): the order of the outputs before any clipping."""
    return np.stack(
        [activations(W, b, rows).min(axis=-1) for W, b in zip(layer.W, layer.b, strict=True)], 1
    )


def choose_none(clipped: Bools, winners: Ints, neuron: int) -> Ints:
    """Rehearse nothing."""
    del clipped, winners, neuron
    return np.empty(0, dtype=np.int64)


def choose_conditional(clipped: Bools, winners: Ints, neuron: int) -> Ints:
    """Rehearse Ŝ = S1 ∪ S2 of the one neuron that the new row moves: the paper's policy."""
    del winners
    return np.flatnonzero(interfered(clipped, [neuron]))


def choose_closed(clipped: Bools, winners: Ints, neuron: int) -> Ints:
    """Rehearse Ŝ of all neurons that the new row and the rehearsed rows themselves move."""
    moved = {neuron}
    while True:
        at_risk = np.flatnonzero(interfered(clipped, moved))
        if moved >= (wanted := set(winners[at_risk].tolist())):
            return at_risk
        moved |= wanted


def _train_unit(
    W: Floats, b: Floats, rows: Floats, targets: Bools, choose: Choose, training: Training
) -> Trace:
    new = len(rows) - 1
    rehearsed: list[Ints] = []
    moved: list[Ints] = []
    while True:
        a = activations(W, b, rows)
        winners, least = minout_winner(a), a.min(axis=-1)
        loss = float(cross_entropy(least[new], targets[new]))
        if loss < training.stop_loss or len(moved) == training.max_steps:
            return Trace(rehearsed, moved, loss)
        chosen = choose(clipped(a[:new], training.threshold), winners[:new], int(winners[new]))
        used = np.append(chosen, new)
        steps = step(
            least[used], targets[used], _weights(len(chosen), training), training.learning_rate
        )
        coefficients = np.zeros((len(W), len(used)))
        coefficients[winners[used], np.arange(len(used))] = steps
        W += coefficients @ rows[used]
        b += coefficients.sum(axis=1)
        rehearsed.append(chosen)
        moved.append(np.unique(winners[used][steps != 0.0]))


def _weights(rehearsed: int, training: Training) -> Floats:
    # The new row counts 1; the rehearsed ones count 1 each (sum) or 1 together (mean).
    weights = np.ones(rehearsed + 1)
    if training.reduction == "mean" and rehearsed:
        weights[:-1] /= rehearsed
    return weights
