"""Gradient steps of one unit on one example: find examples at risk, rehearse, update."""

import math
from dataclasses import dataclass

import numpy as np

from minout import kernels
from minout._typing import Bools, Ints
from minout.errors import InvalidInputError
from minout.kernels import GradientStep, Sets, Tally
from minout.paper.activations import Activations
from minout.paper.index import Index
from minout.paper.rehearsal import AtRisk, Policy
from minout.paper.report import UnitReport, WeightChanges
from minout.paper.rule import GradientRule

OVERFLOW = "The steps overflowed; take a smaller learning rate or scale the features."


@dataclass(frozen=True)
class Parts:
    """What a step needs; the last row of the activations is the new example, not yet stored."""

    rule: GradientRule
    policy: Policy
    index: Index
    activations: Activations
    rng: np.random.Generator


def train_unit(parts: Parts, unit: int, targets: Bools) -> UnitReport:
    """Take gradient steps until the unit has learned the new example.

    Activations and index follow every step. The caller moves the weights: the sum of all steps is
    in the report, as `weight_changes`. targets (n,) says which rows are positives of this unit.
    """
    rule, activations, index = parts.rule, parts.activations, parts.index
    a = activations.of_unit(unit)
    new = activations.n - 1
    positive = bool(targets[new])
    neuron, value = kernels.least(a, new)
    loss_before = loss = rule.loss(value, positive)
    log = _Log(len(a), new + 1)
    stored, inside = index.ids(), index.unclipped(unit)
    told = _read_only(stored)
    chosen: Ints | None = None

    def interfered(neurons: Ints) -> Ints:
        return index.interfered(unit, neurons)

    def winners(ids: Ints) -> Ints:
        won: Ints = kernels.least_of(a, _checked(ids, new))[0]
        return won

    while loss >= rule.stop_loss and log.steps < rule.max_steps:
        asked = index.interfered(unit, [neuron])
        at_risk = AtRisk(neuron, _read_only(asked), told, interfered, winners, chosen)
        chosen = _checked(parts.policy.choose(at_risk, parts.rng), new)
        step = rule.gradient_step(a, chosen, targets)
        exact, inside_before = index.interfered(unit, step.moved), inside
        index.replace(unit, step.moved, activations.follow(unit, step, rule.threshold))
        inside = index.unclipped(unit)
        log.note(step, Sets(asked, exact, inside_before, inside))
        neuron, value = kernels.least(a, new)
        loss = rule.loss(value, positive)
        if not math.isfinite(value):
            raise InvalidInputError(OVERFLOW)
    least = kernels.least_of(a, stored)[1]
    wrong = stored[(least > 0.0) != targets[stored]]
    return log.report(unit, (loss_before, loss), loss >= rule.stop_loss, wrong)


def _read_only(ids: Ints) -> Ints:
    """Return a view that a policy cannot write to."""
    view = ids.view()
    view.flags.writeable = False
    return view


def _checked(ids: Ints, end: int) -> Ints:
    """Check ids that a policy returned: kernels do not check them."""
    try:
        asked = np.array(ids)
    except ValueError:  # lists of different lengths
        asked = np.array(None)
    if asked.size == 0:
        return np.empty(0, dtype=np.int64)
    if asked.ndim != 1 or asked.dtype != np.int64 or not kernels.ascending_below(asked, end):
        raise InvalidInputError("A policy must name stored ids, each once, in ascending order.")
    return asked


class _Log:
    """The steps of one unit on one example, added up."""

    def __init__(self, neurons: int, rows: int) -> None:
        self.steps = 0
        self._rehearsed = self._exact = self._missed = self._leaks = 0
        flags = np.zeros((3, rows), dtype=bool)
        self._sums = Tally(np.zeros((neurons, rows)), flags[0], flags[1], flags[2])

    def note(self, step: GradientStep, sets: Sets) -> None:
        """Add one step, and the sets before and after."""
        missed, leaked = kernels.tally(self._sums, step, sets)
        self.steps += 1
        self._rehearsed += len(step.rows) - 1
        self._exact += len(sets.exact)
        self._missed += missed
        self._leaks += leaked

    def report(
        self, unit: int, losses: tuple[float, float], reached_max_steps: bool, wrong: Ints
    ) -> UnitReport:
        """Return the report on all steps."""
        # Contiguous: kernels are compiled once for each memory layout.
        neurons, ids = np.ascontiguousarray(np.nonzero(self._sums.weight_changes))
        return UnitReport(
            unit=unit,
            steps=self.steps,
            reached_max_steps=reached_max_steps,
            loss_before=losses[0],
            loss=losses[1],
            moved=np.unique(neurons),
            interfered=np.flatnonzero(self._sums.interfered),
            exact=np.flatnonzero(self._sums.exact),
            rehearsed=np.flatnonzero(self._sums.rehearsed),
            mean_rehearsed=self._rehearsed / self.steps,
            mean_exact=self._exact / self.steps,
            mean_missed=self._missed / self.steps,
            leaks=self._leaks,
            wrong=wrong,
            weight_changes=WeightChanges(neurons, ids, self._sums.weight_changes[neurons, ids]),
        )
