"""The paper's training of one unit, written to be read; everything is evaluated again each step.

Written for rows and weights on a grid, where sums are exact: == means equal.
"""

from typing import NamedTuple

from oracle.loss import GRID, cross_entropy
from oracle.sets import clipped_hard, clipped_sigmoid, closure, interfered
from oracle.units import first_least, sigmoid

CLIPPED = {"hard": clipped_hard, "sigmoid": clipped_sigmoid}


class Step(NamedTuple):
    """Is one gradient step: whom it could disturb, who moved, and who pulled how far."""

    asked: set  # Ŝ of the neuron that the new row moves
    exact: set  # the rule for all neurons that moved
    chosen: list
    moved: set
    pushes: dict  # (neuron, row) → amount
    inside_before: set  # stored rows that no neuron clips
    inside_after: set


def train_unit(W, b, rows, positive, rule, policy, budget, rng):
    """Trains W (k, d) and b (k,) in place on the last row; the rows before it are the stored ones.

    Returns the steps, and the last loss.
    """
    steps = []
    while True:
        a = (rows @ W.T + b).tolist()
        winners = [first_least(each) for each in a]
        least = [each[j] for each, j in zip(a, winners, strict=True)]
        loss = cross_entropy(least[-1], positive[-1])
        if loss < rule.stop_loss or len(steps) == rule.max_steps:
            return steps, loss
        clipped = [CLIPPED[rule.clip](each) for each in a[:-1]]
        if policy == "random-once" and steps:
            chosen = steps[0].chosen
        else:
            chosen = choose(clipped, winners, policy, budget, rng)
        pushes = {}
        for r in [*chosen, len(rows) - 1]:
            weight = 1 / len(chosen) if rule.reduction == "mean" and r in chosen else 1
            slope = sigmoid(least[r]) - positive[r]
            push = round(-rule.learning_rate * weight * slope * GRID) / GRID
            if push:
                pushes[winners[r], r] = push
        for (neuron, r), push in pushes.items():
            W[neuron] += push * rows[r]
            b[neuron] += push
        moved = {neuron for neuron, _ in pushes}
        after = [CLIPPED[rule.clip](each) for each in (rows[:-1] @ W.T + b).tolist()]
        steps.append(
            Step(
                asked=interfered(clipped, {winners[-1]}),
                exact=interfered(clipped, moved),
                chosen=chosen,
                moved=moved,
                pushes=pushes,
                inside_before=interfered(clipped, set()),
                inside_after=interfered(after, set()),
            )
        )


def choose(clipped, winners, policy, budget, rng):
    """Lists the stored rows to rehearse; the last winner is that of the new row."""
    if policy == "none":
        return []
    if policy == "closed":
        return sorted(closure(clipped, winners, winners[-1]))
    pool = range(len(clipped))
    if policy == "conditional":
        pool = sorted(interfered(clipped, {winners[-1]}))
        if budget is None or len(pool) <= budget:
            return pool
    return sorted(rng.choice(pool, min(budget, len(pool)), replace=False, shuffle=False).tolist())


def check_report(report, steps):
    """Compares the sets, means and changes of one unit's report with its steps, taken again."""
    assert report.steps == len(steps)
    assert set(report.moved.tolist()) == set().union(*(step.moved for step in steps))
    for name, field in (("interfered", "asked"), ("exact", "exact"), ("rehearsed", "chosen")):
        sizes = [len(getattr(step, field)) for step in steps]
        assert set(getattr(report, name)) == set().union(*(getattr(s, field) for s in steps))
        assert getattr(report, f"mean_{name}") == sum(sizes) / len(steps)
    missed = [len(step.exact - set(step.chosen)) for step in steps]
    leaks = [(step.inside_before ^ step.inside_after) - set(step.chosen) for step in steps]
    assert report.mean_missed == sum(missed) / len(steps)
    assert report.leaks == sum(bool(each) for each in leaks)
    total = {}
    for step in steps:
        for place, push in step.pushes.items():
            total[place] = total.get(place, 0.0) + push
    neurons, ids, amounts = (each.tolist() for each in report.changes)
    assert dict(zip(zip(neurons, ids, strict=True), amounts, strict=True)) == total
