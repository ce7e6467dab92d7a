"""The settings of the paper's training, and the weights before it."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.paper.equations import GRID, HARD_CLIP, SIGMOID_CLIP

POLICIES = ("none", "random", "random-once", "conditional", "closed")


@dataclass(frozen=True)
class GradientRule:
    """Settings of the paper's training: gradient steps on one example, with rehearsal.

    Parameters
    ----------
    neurons : int, default=50
        Neurons per unit.
    learning_rate : float, default=0.01
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


def initial_layer(units: int, features: int, rule: GradientRule, rng: np.random.Generator) -> Layer:
    """Draw W ~ N(0, scale²), rounded to the grid of the steps, and b = 0."""
    with np.errstate(over="ignore"):  # weights that overflow are infinite
        W = rng.normal(0.0, rule.initial_scale, (units, rule.neurons, features))
        return Layer(np.rint(W * GRID) / GRID, np.zeros((units, rule.neurons)))
