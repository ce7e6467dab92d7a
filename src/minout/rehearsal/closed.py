"""Conditional rehearsal whose set is closed: it moves only neurons that it has asked about."""

from dataclasses import dataclass

import numpy as np

from minout._typing import Ints
from minout.rehearsal.at_risk import AtRisk


@dataclass(frozen=True)
class Closed:
    """Rehearses Ŝ of every neuron that the step moves.

    It starts from the new example's neuron, adds the neurons that the rehearsed examples move,
    asks again, and so on until nothing is added: at most as many rounds as the unit has neurons.
    Whoever is left out has a clipped neuron that does not move.
    """

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Lists the ids that the whole step can disturb."""
        del rng
        moved = np.array([at_risk.neuron])
        while True:
            chosen = at_risk.interfered(moved)
            wanted = np.union1d(moved, at_risk.winners(chosen))
            if len(wanted) == len(moved):
                return chosen
            moved = wanted
