"""What teaching one example did to the paper's learner."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints, Label


class WeightChanges(NamedTuple):
    """For each i, W[neurons[i]] of a unit grows by amounts[i] · x(ids[i]), and b by amounts[i]."""

    neurons: Ints
    ids: Ints
    amounts: Floats


class UnitReport(NamedTuple):
    """What one unit did while it learned one example; all ids are in ascending order.

    Attributes
    ----------
    unit, steps : int
        The place of its label in ``classes``, and the number of gradient steps.
    reached_max_steps : bool
        Whether the unit stopped at ``max_steps`` before the example was learned.
    interfered, exact, rehearsed : int64 arrays
        The ids in the paper's Ŝ = S1 ∪ S2 of the one neuron that the new example moves, over all
        steps; those that the steps could disturb, given all the neurons that moved; and those that
        were rehearsed.
    mean_interfered, mean_exact, mean_rehearsed, mean_missed : float
        Means per step: examples in Ŝ; in the exact set; rehearsed; in the exact set but not
        rehearsed.
    leaks : int
        The number of steps in which an example that was not rehearsed entered or left the set S1,
        where no neuron is clipped.
    wrong : int64 array
        The stored examples that are on the wrong side of the unit when it stops. A learning rate
        that is too large for the data shows here.
    changes : WeightChanges
    """

    unit: int
    steps: int
    reached_max_steps: bool
    interfered: Ints
    exact: Ints
    rehearsed: Ints
    mean_interfered: float
    mean_exact: float
    mean_rehearsed: float
    mean_missed: float
    leaks: int
    wrong: Ints
    changes: WeightChanges

    @property
    def moved(self) -> Ints:
        """The neurons that moved."""
        return np.unique(self.changes.neurons)


class PaperReport(NamedTuple):
    """What teaching one example did, as returned by `PaperLearner.teach`.

    Attributes
    ----------
    example_id, label : int, and int or str
        The number of the example, 0 for the first one taught, and its label.
    units : tuple of UnitReport
        The units that took at least one step, in the order of ``classes``.
    losses : float64 array of shape (classes,)
        The loss of the example at every unit, after training.
    """

    example_id: int
    label: Label
    units: tuple[UnitReport, ...]
    losses: Floats

    @property
    def steps(self) -> int:
        """The number of gradient steps, over all units."""
        return sum(unit.steps for unit in self.units)

    @property
    def neurons_moved(self) -> int:
        """The number of neurons that moved, over all units."""
        return sum(len(unit.moved) for unit in self.units)

    @property
    def rehearsed(self) -> Ints:
        """The ids that at least one unit rehearsed."""
        return _union([unit.rehearsed for unit in self.units])

    @property
    def wrong(self) -> Ints:
        """The ids that are on the wrong side of a unit that took a step."""
        return _union([unit.wrong for unit in self.units])


def _union(sets: list[Ints]) -> Ints:
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *sets]))
