"""The paper's training of one layer of minout units, written to be read: the specification.

Everything is evaluated again at every step by a matrix product. `PaperLearner` does the same with a
compiled loop that touches only what changed, and agrees with this to the last bit.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError
from minout.maths import interfered
from minout.paper.equations import (
    GRID,
    HARD_CLIP,
    SIGMOID_CLIP,
    activations,
    clipped,
    cross_entropy,
    minout_winner,
    step,
)

POLICIES = ("none", "random", "random-once", "conditional", "closed")


@dataclass(frozen=True)
class GradientRule:
    """Settings of the paper's training: gradient steps on one example, with rehearsal.

    Parameters
    ----------
    neurons : int, default=50
        Neurons per unit.
    learning_rate : float, default=0.01
        Step size of gradient descent.
    reduction : {"sum", "mean"}, default="sum"
        Whether the losses of the rehearsed examples are added or averaged; the loss of the new
        example is added to that.
    clip : {"sigmoid", "hard"}, default="sigmoid"
        When a neuron counts as clipped: "sigmoid" is the paper's σ(a) < 0.1, "hard" is a ≤ 0, for
        which the theorem holds to the last bit. The loss is the same for both.
    initial_scale : float, default=0.3
        Standard deviation of the initial weights; initial biases are 0.
    stop_loss : float, default=0.1
        A unit stops when the loss of the new example is below this.
    max_steps : int, default=10_000
        A unit stops after so many steps in any case, and the report says so.

    Raises
    ------
    InvalidInputError
        If a setting is out of its range.
    """

    neurons: int = 50
    learning_rate: float = 0.01
    reduction: Literal["sum", "mean"] = "sum"
    clip: Literal["sigmoid", "hard"] = "sigmoid"
    initial_scale: float = 0.3
    stop_loss: float = 0.1
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        """Check the settings."""
        for name in ("neurons", "max_steps"):
            if not isinstance(value := getattr(self, name), int) or value < 1:
                raise InvalidInputError(f"`{name}` must be a whole number from 1, not {value!r}.")
        for name in ("learning_rate", "initial_scale", "stop_loss"):
            if not 0 < (value := getattr(self, name)) < math.inf:
                raise InvalidInputError(f"`{name}` must be a positive number, not {value!r}.")
        for name, known in (("reduction", ("sum", "mean")), ("clip", ("sigmoid", "hard"))):
            if (value := getattr(self, name)) not in known:
                raise InvalidInputError(f"`{name}` must be one of {known}, not {value!r}.")

    @property
    def threshold(self) -> float:
        """The activation at and below which a neuron counts as clipped."""
        return HARD_CLIP if self.clip == "hard" else SIGMOID_CLIP


class Layer(NamedTuple):
    """One minout unit per class: W (m, k, d), b (m, k)."""

    W: Floats
    b: Floats


class Rehearsal(NamedTuple):
    """A policy, the most examples that a step rehearses, and the source of random draws."""

    policy: str
    budget: int | None
    rng: np.random.Generator


class Trace(NamedTuple):
    """What one unit did: for each step, the rows it rehearsed and the neurons that moved."""

    rehearsed: list[Ints]
    moved: list[Ints]


def initial_layer(units: int, features: int, rule: GradientRule, rng: np.random.Generator) -> Layer:
    """Draw W ~ N(0, scale²), rounded to the grid of the steps, and b = 0."""
    with np.errstate(over="ignore"):  # weights that overflow are infinite
        W = rng.normal(0.0, rule.initial_scale, (units, rule.neurons, features))
        return Layer(np.rint(W * GRID) / GRID, np.zeros((units, rule.neurons)))


def teach(
    layer: Layer, rows: Floats, labels: Ints, rule: GradientRule, rehearsal: Rehearsal
) -> list[Trace]:
    """Train every unit, in place, on the last row; the rows before it are the stored ones."""
    return [
        train_unit(W, b, rows, labels == unit, rule, rehearsal)
        for unit, (W, b) in enumerate(zip(layer.W, layer.b, strict=True))
    ]


def train_unit(
    W: Floats, b: Floats, rows: Floats, targets: Bools, rule: GradientRule, rehearsal: Rehearsal
) -> Trace:
    """Take steps on the last row and the rehearsed ones until its loss is below `stop_loss`."""
    new = len(rows) - 1
    trace = Trace([], [])
    while True:
        a = activations(W, b, rows)
        winners, least = minout_winner(a), a.min(axis=-1)
        loss = cross_entropy(least[new], targets[new])
        if loss < rule.stop_loss or len(trace.moved) == rule.max_steps:
            return trace
        if rehearsal.policy == "random-once" and trace.rehearsed:
            chosen = trace.rehearsed[0]
        else:
            chosen = choose(rehearsal, clipped(a[:new], rule.threshold), winners)
        used = np.append(chosen, new)
        weights = np.ones(len(used))
        if rule.reduction == "mean":  # the new row counts 1, the rehearsed ones 1 together
            weights[:-1] /= max(len(chosen), 1)
        steps = step(least[used], targets[used], weights, rule.learning_rate)
        coefficients = np.zeros((len(W), len(used)))
        coefficients[winners[used], np.arange(len(used))] = steps
        W += coefficients @ rows[used]
        b += coefficients.sum(axis=1)
        trace.rehearsed.append(chosen)
        trace.moved.append(np.unique(winners[used][steps != 0.0]))


def choose(rehearsal: Rehearsal, clipped: Bools, winners: Ints) -> Ints:
    """Return the stored rows to rehearse.

    `clipped` (n, k) is that of the stored rows; `winners` (n + 1,) is G of them and the new row.
    """
    policy, budget, rng = rehearsal
    moved = {int(winners[-1])}
    at_risk = np.flatnonzero(interfered(clipped, moved))  # Ŝ = S1 ∪ S2 of that one neuron
    if policy == "conditional" and (budget is None or len(at_risk) <= budget):
        return at_risk
    if policy == "closed":
        while not moved >= (wanted := set(winners[at_risk].tolist())):
            moved |= wanted
            at_risk = np.flatnonzero(interfered(clipped, moved))
        return at_risk
    pool = at_risk if policy == "conditional" else np.arange(len(clipped))
    size = 0 if policy == "none" else min(budget or 0, len(pool))
    return np.sort(rng.choice(pool, size, replace=False, shuffle=False))
