"""The baseline that rehearses as many examples, chosen blindly."""

from dataclasses import dataclass

import numpy as np

from minout._typing import Ints
from minout.errors import InvalidInputError
from minout.rehearsal.at_risk import AtRisk


@dataclass(frozen=True)
class Uniform:
    """Rehearses `size` stored examples at random, all of them while there are fewer.

    `fresh` draws anew at every step; otherwise one draw serves all steps that a unit takes on an
    example.
    """

    size: int
    fresh: bool = True

    def __post_init__(self) -> None:
        """Refuses a size that cannot be drawn."""
        if not isinstance(self.size, int | np.integer) or self.size < 0:
            raise InvalidInputError(f"`size` is a whole number from 0 on, not {self.size!r}.")

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Lists a random draw without repetition."""
        if at_risk.previous is not None and not self.fresh:
            return at_risk.previous
        size = min(self.size, len(at_risk.stored))
        return np.sort(rng.choice(at_risk.stored, size, replace=False, shuffle=False))
