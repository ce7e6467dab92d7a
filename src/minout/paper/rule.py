"""The paper's rule: gradient steps on a unit until the new example's loss is small."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError
from minout.kernels import GradientStep
from minout.maths import HARD_CLIP, SIGMOID_CLIP, Layer, initial_layer


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
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise InvalidInputError(
                    f"`{name}` must be a whole number, 1 or more, not {value!r}."
                )
        for name in ("learning_rate", "initial_scale", "stop_loss"):
            value = getattr(self, name)
            if (
                not isinstance(value, int | float | np.integer | np.floating)
                or isinstance(value, bool)
                or not 0 < value < math.inf
            ):
                raise InvalidInputError(f"`{name}` must be a positive number, not {value!r}.")
        if self.reduction not in ("sum", "mean"):
            raise InvalidInputError(f'`reduction` must be "sum" or "mean", not {self.reduction!r}.')
        if self.clip not in ("sigmoid", "hard"):
            raise InvalidInputError(f'`clip` must be "sigmoid" or "hard", not {self.clip!r}.')

    @property
    def threshold(self) -> float:
        """The activation at and below which a neuron counts as clipped."""
        return HARD_CLIP if self.clip == "hard" else SIGMOID_CLIP

    def initial(self, units: int, features: int, rng: np.random.Generator) -> Layer:
        """Draw the initial weights; those that overflow are infinite."""
        with np.errstate(over="ignore"):
            return initial_layer(units, self.neurons, features, self.initial_scale, rng)

    def loss(self, least: float, positive: bool) -> float:
        """Return the cross-entropy of an example at a unit whose least activation is `least`."""
        z = -least if positive else least
        return max(z, 0.0) + math.log1p(math.exp(-abs(z)))

    def gradient_step(self, a: Floats, chosen: Ints, targets: Bools) -> GradientStep:
        """Return which neuron each row moves and by how much of itself; the new row comes last.

        a (k, ≥ n) holds the unit's activations, a column per row, the new one in column n - 1;
        `chosen` are the columns to rehearse; targets (n,) says which columns are positives.
        """
        rehearsed = len(chosen)
        weight = 1.0 / rehearsed if self.reduction == "mean" and rehearsed else 1.0
        step: GradientStep = kernels.gradient_step(a, chosen, targets, weight, self.learning_rate)
        return step
