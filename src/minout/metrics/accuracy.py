"""The share of labels that are right."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError


def accuracy(predicted: NDArray[Any], labels: NDArray[Any]) -> float:
    """Is the share of rows whose predicted label is the true one.

    >>> accuracy(np.array([1, 2, 2]), np.array([1, 2, 0]))
    0.6666666666666666
    """
    if predicted.shape != labels.shape or labels.size == 0:
        raise InvalidInputError(
            f"Accuracy needs one prediction per label and at least one, "
            f"not shapes {predicted.shape} and {labels.shape}."
        )
    return float(np.mean(predicted == labels))
