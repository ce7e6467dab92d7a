"""Cross-entropies as printed in textbooks, and slopes by differences."""

import math

from oracle.units import sigmoid

GRID = 2**24


def cross_entropy(a, positive):
    """Is -log p for a positive and -log(1 - p) for a negative, with p = σ(a)."""
    return -math.log(sigmoid(a)) if positive else -math.log(sigmoid(-a))


def softmax_cross_entropy(theta, x, label):
    """Is -log of the share of `label`, for scores theta[c]·(x, 1)."""
    scores = [sum(t * v for t, v in zip(row, [*x, 1.0], strict=True)) for row in theta]
    return -math.log(math.exp(scores[label]) / sum(math.exp(each) for each in scores))


def slope_by_differences(function, at, width=1e-6):
    """Is (f(at + width) - f(at - width)) / 2·width."""
    return (function(at + width) - function(at - width)) / (2 * width)
