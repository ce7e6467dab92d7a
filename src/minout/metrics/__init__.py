"""How well it went: accuracies, and forgetting and transfer with the definition in the name."""

from minout.metrics.accuracy import accuracy
from minout.metrics.matrix import (
    average_accuracy_at_end,
    backward_transfer_from_diagonal,
    forgetting_from_best,
    forgetting_from_diagonal,
)

__all__ = [
    "accuracy",
    "average_accuracy_at_end",
    "backward_transfer_from_diagonal",
    "forgetting_from_best",
    "forgetting_from_diagonal",
]
