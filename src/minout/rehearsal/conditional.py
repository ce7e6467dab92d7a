"""Conditional rehearsal, the paper's policy."""

from dataclasses import dataclass

import numpy as np

from minout._typing import Ints
from minout.rehearsal.at_risk import AtRisk


@dataclass(frozen=True)
class Conditional:
    """Rehearses Ŝ = S1 ∪ S2 of the one neuron that the new example moves.

    The rehearsed examples move neurons of their own, about which nobody asked: an example
    outside Ŝ can still be disturbed. The report says how often; `Closed` does not allow it.
    """

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Lists the ids that a change of that neuron can disturb."""
        del rng
        return at_risk.ids
