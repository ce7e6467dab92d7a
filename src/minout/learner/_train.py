"""The order of one unit's steps: who is disturbed, whom to rehearse, how the weights move."""

import math
from dataclasses import dataclass

import numpy as np

from minout import kernels
from minout._typing import Bools, Ints
from minout.errors import InvalidInputError
from minout.index import Index
from minout.kernels import Sets
from minout.learner._activations import Activations
from minout.learner._log import Log
from minout.learner.report import UnitReport
from minout.rehearsal import AtRisk, Policy
from minout.rules import GradientRule

OVERFLOW = "The steps overflowed; take a smaller learning rate or scale the features."


@dataclass(frozen=True)
class Parts:
    """Is what meets in a step; the activations' last row is the new example, not yet stored."""

    rule: GradientRule
    policy: Policy
    index: Index
    activations: Activations
    rng: np.random.Generator


def train_unit(parts: Parts, unit: int, targets: Bools) -> UnitReport:
    """Steps until the unit has learned the new example, of which its loss is still too high.

    Activations and index follow every step; the weights are left to the caller, who gets the sum
    of all steps as `pulls`. targets (n,) says which rows are positives of this unit.
    """
    rule, activations, index = parts.rule, parts.activations, parts.index
    a = activations.of_unit(unit)
    new = activations.n - 1
    positive = bool(targets[new])
    neuron, value = kernels.least(a, new)
    loss_before = loss = rule.loss(value, positive)
    log = Log(len(a), new + 1)
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
        pull = rule.pull(a, chosen, targets)
        exact, inside_before = index.interfered(unit, pull.moved), inside
        index.replace(unit, pull.moved, activations.follow(unit, pull, rule.threshold))
        inside = index.unclipped(unit)
        log.note(pull, Sets(asked, exact, inside_before, inside))
        neuron, value = kernels.least(a, new)
        loss = rule.loss(value, positive)
        if not math.isfinite(value):
            raise InvalidInputError(OVERFLOW)
    least = kernels.least_of(a, stored)[1]
    wrong = stored[(least > 0.0) != targets[stored]]
    return log.report(unit, (loss_before, loss), loss >= rule.stop_loss, wrong)


def _read_only(ids: Ints) -> Ints:
    view = ids.view()
    view.flags.writeable = False
    return view


def _checked(ids: Ints, end: int) -> Ints:
    # Kernels trust ids; what a policy answers or asks about is not trusted.
    asked = np.array(ids)
    if asked.size == 0:
        return np.empty(0, dtype=np.int64)
    if asked.ndim != 1 or asked.dtype != np.int64 or not kernels.ascending_below(asked, end):
        raise InvalidInputError("A policy must name stored ids, each once, in ascending order.")
    return asked
