"""What a unit computes, one number at a time, in exact fractions where no sigmoid is needed."""

import math
from fractions import Fraction


def fractions(numbers):
    """Turns nested lists of floats into nested lists of the same numbers, exactly."""
    if isinstance(numbers, list):
        return [fractions(each) for each in numbers]
    return Fraction(numbers)


def activations(W, b, x):
    """Gives W[j]·x + b[j] for every neuron j."""
    out = []
    for row, bias in zip(W, b, strict=True):
        total = bias
        for weight, value in zip(row, x, strict=True):
            total = total + weight * value
        out.append(total)
    return out


def maxout(a):
    """Is eq. (5)."""
    best = a[0]
    for each in a:
        best = each if each > best else best
    return best


def clipped_maxout(a):
    """Is eq. (8) and (9): z_j = min(a_j, 0), h = max_j z_j."""
    return maxout([each if each < 0 else 0 for each in a])


def clipped_minout(a):
    """Is eq. (10) and (11): z_j = max(a_j, 0), h = min_j z_j."""
    z = [each if each > 0 else 0 for each in a]
    least = z[0]
    for each in z:
        least = each if each < least else least
    return least


def sigmoid(a):
    """Is 1 / (1 + exp(-a)), as printed; `a` must be moderate."""
    return 1.0 / (1.0 + math.exp(-float(a)))


def sigmoid_minout(a):
    """Is the unit of the experiments: the least of the sigmoids."""
    return min(sigmoid(each) for each in a)


def gate(a):
    """Is the appendix's product of sigmoids."""
    product = 1.0
    for each in a:
        product *= sigmoid(each)
    return product


def first_largest(a):
    """Is G(x) of a maxout unit, the lowest neuron among equals."""
    for j, each in enumerate(a):
        if all(each >= other for other in a):
            return j
    raise AssertionError("a unit has at least one neuron")


def first_least(a):
    """Is G(x) of a minout unit, the lowest neuron among equals."""
    return first_largest([-each for each in a])
