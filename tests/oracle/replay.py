"""One unit's steps taken again from the weights before, everything evaluated anew each time."""

from typing import NamedTuple

import numpy as np

from oracle.loss import GRID
from oracle.sets import interfered


class Step(NamedTuple):
    """Is one gradient step: whom it could disturb, who moved, and who pulled how far."""

    asked: set  # Ŝ of the neuron that the new row moves
    exact: set  # the rule for all neurons that moved
    chosen: list
    moved: set
    pushes: dict  # (neuron, row) → amount
    inside_before: set  # stored rows that no neuron clips
    inside_after: set


def replay(W, b, rows, targets, choices, *, threshold, learning_rate, reduction):
    """Takes one step for each choice of rows to rehearse; returns the steps and the new W, b.

    The last row is the new one. Written for rows and weights on a grid, where sums are exact.
    """
    W, b, new, steps = W.copy(), b.copy(), len(rows) - 1, []
    for chosen in choices:
        a = rows @ W.T + b
        clipped = [set(np.flatnonzero(each <= threshold)) for each in a[:new]]
        winners = a.argmin(axis=1)
        pushes, moved = {}, set()
        for r in [*chosen.tolist(), new]:
            weight = 1.0 / len(chosen) if reduction == "mean" and r != new else 1.0
            slope = 1.0 / (1.0 + np.exp(-a[r, winners[r]])) - (1.0 if targets[r] else 0.0)
            push = np.rint(-learning_rate * weight * slope * GRID) / GRID
            if push != 0.0:
                pushes[int(winners[r]), r] = push
                moved.add(int(winners[r]))
        for (neuron, r), push in pushes.items():
            W[neuron] += push * rows[r]
            b[neuron] += push
        after = rows @ W.T + b
        steps.append(
            Step(
                asked=interfered(clipped, {winners[new]}),
                exact=interfered(clipped, moved),
                chosen=chosen.tolist(),
                moved=moved,
                pushes=pushes,
                inside_before=interfered(clipped, set()),
                inside_after={e for e in range(new) if (after[e] > threshold).all()},
            )
        )
    return steps, W, b
