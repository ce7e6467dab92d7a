"""Train one unit until its loss is small: the paper's steps, on activations that are updated.

A step adds a multiple of a stored row to a neuron, so the neuron's activation at every row moves by
the same multiple of an inner product that never changes:
    W[j] += s·x_r and b[j] += s give a_j(x) += s·(x_r·x + 1).
The loop asks the index of the appendix which stored rows a step can disturb, and updates it.
`tests/oracle/training.py` is the same in plain NumPy, everything evaluated again at every step.
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

    The sets (3, new): Ŝ, those that a step could disturb, those rehearsed. `sums` adds up over the
    steps: the sizes of the three, how many were in the second but not rehearsed, and steps in which
    a row that was not rehearsed entered or left S1.
    """

    changes: Floats
    sets: Bools
    sums: Ints


@compiled
def train_unit(
    unit: UnitTable, lesson: Lesson, rng: np.random.Generator, log: Log
) -> tuple[int, float]:
    """Take steps in place; return how many, and the last loss (NaN if the steps overflowed)."""
    new, steps = lesson.new, 0
    rehearsed = np.zeros(new, np.bool_)
    while True:
        first = np.argmin(unit.a[:, new])  # the neuron that the new row moves
        least = unit.a[first, new]
        loss = _cross_entropy(least, lesson.positive[new])
        if not math.isfinite(least):
            return steps, math.nan
        if loss < lesson.stop_loss or steps == lesson.max_steps:
            return steps, loss
        moved = np.zeros(unit.a.shape[0], np.bool_)
        moved[first] = True
        at_risk = _interfered(unit, moved, new)
        if lesson.policy != RANDOM_ONCE or steps == 0:
            rehearsed = _choose(unit, lesson, rng, moved, at_risk)
        rows = np.append(np.flatnonzero(rehearsed), new)
        winners, pushes = _pushes(unit.a, lesson, rows)
        moved[:] = False
        moved[winners[pushes != 0.0]] = True
        exact = _interfered(unit, moved, new)
        inside = unit.counters[:new] == 0
        for i in range(rows.shape[0]):
            a, push, products = unit.a[winners[i]], pushes[i], lesson.products[rows[i]]
            log.changes[winners[i], rows[i]] += push
            for c in range(new + 1):
                a[c] += push * products[c]
        follow(unit, moved, lesson.threshold, new + 1)
        leaked = (inside != (unit.counters[:new] == 0)) & ~rehearsed
        for number, each in enumerate((at_risk, exact, rehearsed)):
            log.sets[number] |= each
            log.sums[number] += each.sum()
        log.sums[3] += (exact & ~rehearsed).sum()
        log.sums[4] += leaked.any()
        steps += 1


@compiled
def _interfered(unit: UnitTable, moved: Bools, n: int) -> Bools:
    """Find which of n rows a change of the neurons in `moved` can disturb: clipped(x) ⊆ moved.

    All neurons that clip such a row are among those that move: as many as its counter says.
    """
    count = np.zeros(n, np.int64)
    for j in np.flatnonzero(moved):
        count += unit.clipped[j, :n]
    found: Bools = count == unit.counters[:n]
    return found


@compiled
def follow(unit: UnitTable, moved: Bools, threshold: float, n: int) -> None:
    """Update the index for the first n rows after the activations of some neurons changed."""
    for j in np.flatnonzero(moved):
        for i in range(n):
            now = unit.a[j, i] <= threshold
            unit.counters[i] += np.int64(now) - np.int64(unit.clipped[j, i])
            unit.clipped[j, i] = now


@compiled
def _choose(
    unit: UnitTable, lesson: Lesson, rng: np.random.Generator, moved: Bools, at_risk: Bools
) -> Bools:
    """Return which stored rows to rehearse; "closed" adds to the neurons that move."""
    if lesson.policy == NONE:
        return np.zeros(lesson.new, np.bool_)
    if lesson.policy == CLOSED:
        size = 0
        while size < moved.sum():
            size = moved.sum()
            at_risk = _interfered(unit, moved, lesson.new)
            moved[_find_winners(unit.a, np.flatnonzero(at_risk))[0]] = True
        return at_risk
    if lesson.policy != CONDITIONAL:
        return _draw(rng, np.ones(lesson.new, np.bool_), lesson.budget)
    if 0 <= lesson.budget < at_risk.sum():
        return _draw(rng, at_risk, lesson.budget)
    return at_risk


@compiled
def _draw(rng: np.random.Generator, pool: Bools, size: int) -> Bools:
    """Choose `size` of the pool without repetition, as rng.choice does (Floyd's algorithm)."""
    members, chosen = np.flatnonzero(pool), np.zeros(pool.shape[0], np.bool_)
    n = members.shape[0]
    for last in range(max(n - size, 0), n):
        drawn = members[rng.integers(0, last + 1)]
        chosen[members[last] if chosen[drawn] else drawn] = True
    return chosen


@compiled
def _find_winners(a: Floats, rows: Ints) -> tuple[Ints, Floats]:
    """Return the neuron of the least activation at each of some rows, the lowest of equals."""
    winners, least = np.zeros(rows.shape[0], np.int64), a[0][rows]
    for j in range(1, a.shape[0]):  # neuron by neuron: a row of `a` lies together in memory
        for i in range(rows.shape[0]):
            if a[j, rows[i]] < least[i]:
                winners[i], least[i] = j, a[j, rows[i]]
    return winners, least


@compiled
def _pushes(a: Floats, lesson: Lesson, rows: Ints) -> tuple[Ints, Floats]:
    """Return the winner of each row and how far the row moves it; the new row is the last."""
    winners, pushes = _find_winners(a, rows)
    for i in range(rows.shape[0]):
        weight = 1.0 / (rows.shape[0] - 1) if lesson.mean and rows[i] != lesson.new else 1.0
        e = math.exp(-abs(pushes[i]))
        sigmoid = (1.0 if pushes[i] >= 0.0 else e) / (1.0 + e)
        slope = sigmoid - (1.0 if lesson.positive[rows[i]] else 0.0)
        pushes[i] = np.rint(-lesson.learning_rate * weight * slope * lesson.grid) / lesson.grid
    return winners, pushes


@compiled
def _cross_entropy(a: float, positive: bool) -> float:
    z = -a if positive else a
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))
