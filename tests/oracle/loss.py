"""Cross-entropies as printed in textbooks, and slopes by differences."""

import math

import numpy as np

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


def network_by_hand(net, x, y):
    """Gives the logits, the loss and its slopes by W1, b1, W2 and b2, one number at a time."""
    W1, b1, W2, b2 = (array.tolist() for array in net)
    d, h, m = len(W1), len(b1), len(b2)
    before = [b1[j] + sum(x[i] * W1[i][j] for i in range(d)) for j in range(h)]
    hidden = [max(a, 0.0) for a in before]
    scores = [b2[c] + sum(hidden[j] * W2[j][c] for j in range(h)) for c in range(m)]
    total = sum(math.exp(score) for score in scores)
    error = [math.exp(scores[c]) / total - (1.0 if c == y else 0.0) for c in range(m)]
    back = [sum(W2[j][c] * error[c] for c in range(m)) * (before[j] > 0) for j in range(h)]
    slopes = np.outer(x, back), np.array(back), np.outer(hidden, error), np.array(error)
    return scores, math.log(total) - scores[y], slopes
