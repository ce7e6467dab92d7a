"""The paper's training on one example, in exact fractions; only σ and the loss are floats."""

from fractions import Fraction

from oracle.loss import GRID, cross_entropy
from oracle.sets import clipped_hard, clipped_sigmoid, closure, interfered
from oracle.units import activations, first_least, sigmoid


def teach(W, b, rows, labels, policy, *, clip, reduction, learning_rate, stop_loss, max_steps):
    """Trains every unit on the last row, in place; W[i][j][f] and rows[r][f] are fractions.

    Returns for each unit its steps: (rows rehearsed, neurons moved).
    """
    return [
        _train_unit(
            W[i],
            b[i],
            rows,
            [label == i for label in labels],
            policy,
            {"hard": clipped_hard, "sigmoid": clipped_sigmoid}[clip],
            reduction,
            learning_rate,
            stop_loss,
            max_steps,
        )
        for i in range(len(W))
    ]


def _train_unit(
    W, b, rows, positive, policy, clipped, reduction, learning_rate, stop_loss, max_steps
):
    new = len(rows) - 1
    steps = []
    while True:
        a = [activations(W, b, x) for x in rows]
        winner = [first_least(each) for each in a]
        least = [each[j] for each, j in zip(a, winner, strict=True)]
        if cross_entropy(least[new], positive[new]) < stop_loss or len(steps) == max_steps:
            return steps
        chosen = _choose(policy, [clipped(each) for each in a[:new]], winner[:new], winner[new])
        moved = set()
        for r in [*chosen, new]:
            weight = 1.0 / len(chosen) if reduction == "mean" and r != new else 1.0
            slope = sigmoid(least[r]) - (1.0 if positive[r] else 0.0)
            push = Fraction(round(-learning_rate * weight * slope * GRID), GRID)
            if push:
                moved.add(winner[r])
            for f in range(len(rows[r])):
                W[winner[r]][f] += push * rows[r][f]
            b[winner[r]] += push
        steps.append((chosen, sorted(moved)))


def _choose(policy, clipped, winners, neuron):
    if policy == "none":
        return []
    if policy == "conditional":
        return sorted(interfered(clipped, {neuron}))
    return sorted(closure(clipped, winners, neuron))
