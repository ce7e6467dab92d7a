"""Conditional rehearsal with a budget, and a count of the examples at risk."""

from dataclasses import dataclass, field

import numpy as np

from minout._typing import Ints
from minout.paper import AtRisk, Policy


@dataclass(frozen=True)
class AtMost:
    """Rehearse Ŝ of the neuron that the new example moves, but at most `size` of it.

    If Ŝ is larger, `size` of its examples are drawn at random, anew at every step, as `Uniform`
    draws from everything that is stored.
    """

    size: int

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Return Ŝ, or a random draw from it without repetition."""
        if len(at_risk.ids) <= self.size:
            return at_risk.ids
        return np.sort(rng.choice(at_risk.ids, self.size, replace=False, shuffle=False))


@dataclass
class Counted:
    """A policy with a record of how many examples were at risk in each step."""

    policy: Policy
    found: list[int] = field(default_factory=list)

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Note the size of Ŝ and return the choice of the policy."""
        self.found.append(len(at_risk.ids))
        return self.policy.choose(at_risk, rng)
