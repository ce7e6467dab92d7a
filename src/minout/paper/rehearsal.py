"""Rehearsal policies: which stored examples are trained again beside a new one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from minout._typing import Ints
from minout.errors import InvalidInputError


class AtRisk(NamedTuple):
    """The argument of a policy before one unit takes a step.

    Attributes
    ----------
    neuron : int
        The neuron that the new example moves.
    ids : int64 array
        The stored examples that a change of this neuron can disturb: Ŝ = S1 ∪ S2.
    stored : int64 array
        All stored examples.
    interfered : callable
        ``interfered(neurons)`` returns the ids that a change of these neurons can disturb.
    winners : callable
        ``winners(ids)`` returns the neuron that each of these examples would move if rehearsed.
    previous : int64 array or None
        The choice of the policy at the previous step, for the same example and unit; None at the
        first.
    """

    neuron: int
    ids: Ints
    stored: Ints
    interfered: Callable[[Ints], Ints]
    winners: Callable[[Ints], Ints]
    previous: Ints | None


class Policy(Protocol):
    """A rule that chooses the examples to rehearse at each step of one unit."""

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Return the ids to rehearse, each once, in ascending order."""
        ...


@dataclass(frozen=True)
class Conditional:
    """Rehearse Ŝ = S1 ∪ S2 of the one neuron that the new example moves: the paper's policy.

    The rehearsed examples move neurons of their own, and examples that only those neurons can
    disturb are not rehearsed. The report says how often that happens; `Closed` does not allow it.
    """

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Return the ids that a change of that neuron can disturb."""
        del rng
        return at_risk.ids


@dataclass(frozen=True)
class Closed:
    """Rehearse Ŝ of every neuron that the step moves.

    The policy starts from the neuron of the new example, adds the neurons that the rehearsed
    examples move, and repeats until nothing is added: at most as many rounds as a unit has
    neurons. Every example that is left out has a clipped neuron that does not move.
    """

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Return the ids that the whole step can disturb."""
        del rng
        moved = np.array([at_risk.neuron])
        while True:
            chosen = at_risk.interfered(moved)
            wanted = np.union1d(moved, at_risk.winners(chosen))
            if len(wanted) == len(moved):
                return chosen
            moved = wanted


@dataclass(frozen=True)
class Uniform:
    """Rehearse stored examples drawn at random: a baseline.

    Parameters
    ----------
    size : int
        How many to rehearse; all of them while fewer are stored.
    fresh : bool, default=True
        Whether to draw again at every step. Otherwise one draw is used for all steps that a unit
        takes on an example.

    Raises
    ------
    InvalidInputError
        If `size` is not a whole number, 0 or more.
    """

    size: int
    fresh: bool = True

    def __post_init__(self) -> None:
        """Check the size."""
        size = self.size
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 0:
            raise InvalidInputError(f"`size` must be a whole number, 0 or more, not {size!r}.")

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Return a random draw without repetition."""
        if at_risk.previous is not None and not self.fresh:
            return at_risk.previous
        size = min(self.size, len(at_risk.stored))
        return np.sort(rng.choice(at_risk.stored, size, replace=False, shuffle=False))


@dataclass(frozen=True)
class NoRehearsal:
    """Rehearse nothing: a baseline."""

    def choose(self, at_risk: AtRisk, rng: np.random.Generator) -> Ints:
        """Return no ids."""
        del at_risk, rng
        return np.empty(0, dtype=np.int64)
