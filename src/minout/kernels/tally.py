"""Add up, step by step, what a unit did while it learned one example."""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled
from minout.kernels.training import GradientStep


class Tally(NamedTuple):
    """The sums: weight changes (k, n) by neuron and row, and which rows were ever in a set (n,)."""

    weight_changes: Floats
    interfered: Bools
    exact: Bools
    rehearsed: Bools


class Sets(NamedTuple):
    """The sets of ids of one step: Ŝ, the exact set, and S1 before and after the step."""

    interfered: Ints
    exact: Ints
    inside_before: Ints
    inside_after: Ints


@compiled
def tally(sums: Tally, taken: GradientStep, sets: Sets) -> tuple[int, bool]:
    """Record one step; return how many of the exact set were not rehearsed, and if one leaked.

    A leak is a row, not rehearsed, that is in S1 before the step and not after, or the other way
    round.
    """
    now = np.zeros(sums.rehearsed.shape[0], dtype=np.bool_)
    for i in range(taken.rows.shape[0]):
        sums.weight_changes[taken.winners[i], taken.rows[i]] += taken.steps[i]
    for row in taken.rows[:-1]:
        now[row] = True
        sums.rehearsed[row] = True
    missed = 0
    for row in sets.exact:
        sums.exact[row] = True
        if not now[row]:
            missed += 1
    for row in sets.interfered:
        sums.interfered[row] = True
    return missed, _differ_outside(now, sets.inside_before, sets.inside_after)


@compiled
def _differ_outside(known: Bools, before: Ints, after: Ints) -> bool:
    # Both lists ascend: walk them side by side and stop at the first id in only one of them.
    i = j = 0
    while i < before.shape[0] or j < after.shape[0]:
        if j == after.shape[0] or (i < before.shape[0] and before[i] < after[j]):
            if not known[before[i]]:
                return True
            i += 1
        elif i == before.shape[0] or after[j] < before[i]:
            if not known[after[j]]:
                return True
            j += 1
        else:
            i += 1
            j += 1
    return False
