"""What one taught example did: small, frozen, and complete enough to check."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.learner.certificate import Certificate, Id, Label, Refresh


class Pulls(NamedTuple):
    """Says how a unit's weights moved: W[neurons[i]] += amounts[i]·x(ids[i]), and b likewise."""

    neurons: Ints
    ids: Ints
    amounts: Floats


class UnitReport(NamedTuple):
    """Tells what one unit did while it learned one example.

    `interfered` is the union over its steps of the paper's Ŝ, for the one neuron that the new
    example moved; `exact` is that of the rule for all neurons that moved; `rehearsed` is whom the
    policy chose. The three means are per step: how many were rehearsed, how many the exact set
    held, and how many of those were not rehearsed. `leaks` counts the steps in which an example
    that was not rehearsed came into or fell out of the set where no neuron is clipped. `wrong`
    lists the stored examples that are on the wrong side of the unit when it stops: steps that were
    too long for the data show here.
    """

    unit: int
    steps: int
    hit_the_cap: bool
    loss_before: float
    loss: float
    moved: Ints
    interfered: Ints
    exact: Ints
    rehearsed: Ints
    mean_rehearsed: float
    mean_exact: float
    mean_missed: float
    leaks: int
    wrong: Ints
    pulls: Pulls


class StepReport(NamedTuple):
    """Tells what one step did: who was taught what, and what that moved.

    From the gradient rule: `units` holds the units that took a step, `losses` the example's loss
    at every unit. From the margin rule: `certificate` states what holds now, and `refresh` tells of
    a pause in which origin, scale, metric and priors were renewed, if there was one.
    """

    example_id: Id
    label: Label
    units: tuple[UnitReport, ...] = ()
    losses: Floats | None = None
    certificate: Certificate | None = None
    refresh: Refresh | None = None

    @property
    def steps(self) -> int:
        """Counts the gradient steps of all units."""
        return sum(unit.steps for unit in self.units)

    @property
    def neurons_moved(self) -> int:
        """Counts the neurons that moved, over all units."""
        return sum(len(unit.moved) for unit in self.units)

    @property
    def rehearsed(self) -> Ints:
        """Lists the ids that any unit rehearsed."""
        return _union([unit.rehearsed for unit in self.units])

    @property
    def wrong(self) -> Ints:
        """Lists the ids that are on the wrong side of a unit that took a step."""
        return _union([unit.wrong for unit in self.units])

    @property
    def interfered(self) -> Ints:
        """Lists the ids in the paper's set of any unit."""
        return _union([unit.interfered for unit in self.units])

    @property
    def hit_the_cap(self) -> bool:
        """Says whether a unit ran out of steps before the example was learned."""
        return any(unit.hit_the_cap for unit in self.units)


def _union(sets: list[Ints]) -> Ints:
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *sets]))
