"""What a policy is told, and what it answers."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from minout._typing import Ints


class AtRisk(NamedTuple):
    """Is what a policy may know when one unit is about to take a step.

    `neuron` is the one that the new example moves, `ids` are those that its change can disturb,
    and `stored` lists all ids. `interfered(neurons)` asks the same about other neurons;
    `winners(ids)` says which neuron each of them would move if it were rehearsed. `previous` is
    what the policy chose at the step before, for the same example and unit; None at the first.
    """

    neuron: int
    ids: Ints
    stored: Ints
    interfered: Callable[[Ints], Ints]
    winners: Callable[[Ints], Ints]
    previous: Ints | None


class Policy(Protocol):
    """Chooses whom to rehearse at each step of one unit; ids in ascending order."""

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Lists the ids to rehearse."""
        ...
