"""Train one unit until its loss is small: the paper's steps, on activations that are updated.

A step adds a multiple of a stored row to a neuron, so the neuron's activation at every row moves by
the same multiple of an inner product that never changes:
    W[j] += s·x_r and b[j] += s give a_j(x) += s·(x_r·x + 1).
The loop asks the index of the appendix which stored rows a step can disturb, and updates it.
`minout.paper.specification` is the same in plain NumPy.
"""

import math
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled

NONE, RANDOM, RANDOM_ONCE, CONDITIONAL, CLOSED = range(5)
"""The policies by number."""


class UnitTable(NamedTuple):
    """One unit at every row: a (k, ≥ n), and the index, clipped (k, ≥ n) and counters (≥ n,)."""

    a: Floats
    clipped: Bools
    counters: Ints


class Lesson(NamedTuple):
    """What to learn, row `new` beside the stored rows 0 … new - 1, and how.

    products (≥ n, ≥ n) holds x_r·x_i + 1; positive (n,) says which rows belong to the unit; `mean`
    averages the rehearsal losses; a `budget` below 0 is none.
    """

    new: int
    products: Floats
    positive: Bools
    learning_rate: float
    mean: bool
    stop_loss: float
    max_steps: int
    threshold: float
    grid: float
    policy: int
    budget: int


class Log(NamedTuple):
    """What was done: weight changes (k, n) by neuron and row, and which rows were ever in a set.

    `sums` adds up over the steps: examples in Ŝ, in the exact set, rehearsed, in the exact set but
    not rehearsed, and steps in which a row that was not rehearsed entered or left S1.
    """

    changes: Floats
    interfered: Bools
    exact: Bools
    rehearsed: Bools
    sums: Ints


class Step(NamedTuple):
    """One step, by row: four sets, the winner, its activation and its push; which neurons move.

    The sets: Ŝ; rehearsed, or the new row; those that the step can disturb; S1 before the step.
    """

    at_risk: Bools
    chosen: Bools
    exact: Bools
    inside: Bools
    winners: Ints
    least: Floats
    pushes: Floats
    moved: Bools


@compiled
def train_unit(
    unit: UnitTable, lesson: Lesson, rng: np.random.Generator, log: Log
) -> tuple[int, float]:
    """Take steps in place; return how many, and the last loss (NaN if the steps overflowed)."""
    n, k = lesson.new + 1, unit.a.shape[0]
    sets = np.zeros((4, n), np.bool_)
    numbers = np.zeros((2, n))
    step = Step(
        sets[0], sets[1], sets[2], sets[3],
        np.zeros(n, np.int64), numbers[0], numbers[1], np.zeros(k, np.bool_),
    )  # fmt: skip
    step.chosen[-1] = True  # the new row itself
    steps = 0
    while True:
        _find_winners(unit.a, step, step.chosen.shape[0] - 1)
        least = step.least[-1]
        loss = _cross_entropy(least, lesson.positive[-1])
        if not math.isfinite(least):
            return steps, math.nan
        if loss < lesson.stop_loss or steps == lesson.max_steps:
            return steps, loss
        step.moved[:] = False
        step.moved[step.winners[-1]] = True
        find_interfered(unit, step.moved, step.at_risk[:-1])
        if lesson.policy != RANDOM_ONCE or steps == 0:
            _choose(unit, lesson, rng, step)
        _find_winners(unit.a, step, 0)
        _find_pushes(lesson, step)
        find_interfered(unit, step.moved, step.exact[:-1])
        step.inside[:] = unit.counters[:n] == 0
        _push(unit, lesson, step, log.changes)
        follow(unit, step.moved, lesson.threshold, n)
        _note(log, step, unit.counters)
        steps += 1


@compiled
def find_interfered(unit: UnitTable, moved: Bools, out: Bools) -> None:
    """Find the rows that a change of the neurons in `moved` can disturb: clipped(x) ⊆ moved.

    All neurons that clip such a row are among those that move: as many as its counter says.
    """
    n = out.shape[0]
    count = np.zeros(n, np.int64)
    for j in range(moved.shape[0]):
        if moved[j]:
            for i in range(n):
                count[i] += unit.clipped[j, i]
    for i in range(n):
        out[i] = count[i] == unit.counters[i]


@compiled
def follow(unit: UnitTable, moved: Bools, threshold: float, n: int) -> None:
    """Update the index for the first n rows after the activations of some neurons changed."""
    for j in range(moved.shape[0]):
        if moved[j]:
            for i in range(n):
                now = unit.a[j, i] <= threshold
                unit.counters[i] += np.int64(now) - np.int64(unit.clipped[j, i])
                unit.clipped[j, i] = now


@compiled
def _choose(unit: UnitTable, lesson: Lesson, rng: np.random.Generator, step: Step) -> None:
    """Choose the rows to rehearse beside the new one, the last."""
    chosen, at_risk = step.chosen[:-1], step.at_risk[:-1]
    chosen[:] = False
    if lesson.policy == CONDITIONAL:
        if lesson.budget < 0 or at_risk.sum() <= lesson.budget:
            chosen[:] = at_risk
        else:
            _draw(rng, np.flatnonzero(at_risk), lesson.budget, chosen)
    elif lesson.policy == CLOSED:
        size, before = 1, 0  # neurons that move
        while size > before:
            find_interfered(unit, step.moved, chosen)
            _find_winners(unit.a, step, 0)
            for i in np.flatnonzero(chosen):
                step.moved[step.winners[i]] = True
            size, before = step.moved.sum(), size
    elif lesson.policy != NONE:
        _draw(rng, np.arange(lesson.new), lesson.budget, chosen)


@compiled
def _draw(rng: np.random.Generator, pool: Ints, size: int, chosen: Bools) -> None:
    """Choose `size` of the pool without repetition, as rng.choice does (Floyd's algorithm)."""
    n = pool.shape[0]
    for last in range(max(n - size, 0), n):
        drawn = pool[rng.integers(0, last + 1)]
        if chosen[drawn]:
            drawn = pool[last]
        chosen[drawn] = True


@compiled
def _find_winners(a: Floats, step: Step, start: int) -> None:
    """Find the least activation of the chosen rows from `start` on, and its neuron.

    Ties go to the lowest neuron.
    """
    winners, least = step.winners, step.least
    rows = start + np.flatnonzero(step.chosen[start:])
    for i in rows:
        winners[i], least[i] = 0, a[0, i]
    for j in range(1, a.shape[0]):  # neuron by neuron: a row of `a` lies together in memory
        for i in rows:
            if a[j, i] < least[i]:
                winners[i], least[i] = j, a[j, i]


@compiled
def _find_pushes(lesson: Lesson, step: Step) -> None:
    """Find how far each chosen row moves its winner, and which neurons move."""
    rehearsed = step.chosen.sum() - 1
    step.moved[:] = False
    for i in np.flatnonzero(step.chosen):
        weight = 1.0 / rehearsed if lesson.mean and i != lesson.new else 1.0
        slope = _sigmoid(step.least[i]) - (1.0 if lesson.positive[i] else 0.0)
        push = np.rint(-lesson.learning_rate * weight * slope * lesson.grid) / lesson.grid
        step.pushes[i] = push
        if push != 0.0:
            step.moved[step.winners[i]] = True


@compiled
def _push(unit: UnitTable, lesson: Lesson, step: Step, changes: Floats) -> None:
    """Update the activations of all rows, neuron by neuron."""
    used = np.flatnonzero(step.chosen)
    for j in np.flatnonzero(step.moved):
        a = unit.a[j]
        for i in used:
            if step.winners[i] == j:
                push, products = step.pushes[i], lesson.products[i]
                changes[j, i] += push
                for c in range(lesson.new + 1):
                    a[c] += push * products[c]


@compiled
def _note(log: Log, step: Step, counters: Ints) -> None:
    """Add one step to the log."""
    leaked = False
    for i in range(step.chosen.shape[0] - 1):
        at_risk, exact, chosen = step.at_risk[i], step.exact[i], step.chosen[i]
        log.interfered[i] |= at_risk
        log.exact[i] |= exact
        log.rehearsed[i] |= chosen
        log.sums[0] += at_risk
        log.sums[1] += exact
        log.sums[2] += chosen
        log.sums[3] += exact and not chosen
        leaked |= not chosen and step.inside[i] != (counters[i] == 0)
    log.sums[4] += leaked


@compiled
def _cross_entropy(a: float, positive: bool) -> float:
    z = -a if positive else a
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@compiled
def _sigmoid(a: float) -> float:
    e = math.exp(-abs(a))
    return (1.0 if a >= 0.0 else e) / (1.0 + e)
