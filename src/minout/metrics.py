"""Accuracy and its interval, and forgetting."""

from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats


def accuracy(predicted: NDArray[Any], labels: NDArray[Any]) -> float:
    """Return the share of rows whose predicted label is the true one.

    >>> accuracy(np.array([1, 2, 2]), np.array([1, 2, 0]))
    0.6666666666666666
    """
    return float(np.mean(predicted == labels))


def wilson_interval(right: float, examples: float) -> tuple[float, float]:
    """Return the 95 % interval of Wilson for the share of which `right` of `examples` were seen.

    Unlike p ± 1.96 √(p(1 - p)/n) it is not empty for a share of 0 or 1.

    >>> [round(each, 3) for each in wilson_interval(98, 100)]
    [0.93, 0.994]
    """
    share, z2 = right / examples, NormalDist().inv_cdf(0.975) ** 2
    middle = (share + z2 / (2.0 * examples)) / (1.0 + z2 / examples)
    variance = share * (1.0 - share) / examples + z2 / (4.0 * examples**2)
    half = sqrt(z2 * variance) / (1.0 + z2 / examples)
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)


def forgetting_from_best(R: Floats) -> float:
    """Return the mean over earlier tasks of the best accuracy before the end minus that at the end.

    R[i, j] is the test accuracy on task j after task i was learned, for T tasks (T, T). For j < T:
    max of R[i, j] over i < T, minus R[T, j] (Chaudhry and others, 2018); 0 for one task.

    >>> forgetting_from_best(np.array([[0.9, 0.0], [0.5, 0.8]]))
    0.4
    """
    earlier = R[:-1, :-1]
    return float((earlier.max(axis=0) - R[-1, :-1]).mean()) if len(earlier) else 0.0
