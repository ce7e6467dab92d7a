"""Step size, reduction and initial scale, at 10 and at 100 per class."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Settings:
    """Is the grid; accuracies are of training rows only, the test set is never read.

    `held_out` rows per class, of the training part but not taught, show what generalises. The map
    is wide, so it takes no more than `most_seeds` seeds.
    """

    per_class: tuple[int, ...] = (10, 100)
    learning_rates: tuple[float, ...] = (0.01, 0.03, 0.1)
    reductions: tuple[Literal["sum", "mean"], ...] = ("sum", "mean")
    initial_scales: tuple[float, ...] = (0.1, 0.3, 1.0)
    policies: tuple[str, ...] = ("conditional", "uniform", "uniform-once")
    most_seeds: int = 2
    held_out: int = 100
    neurons: int = 50


PAPER = Settings()
TESTING = Settings(
    per_class=(2, 3), learning_rates=(0.1,), initial_scales=(0.3,), held_out=2, neurons=6
)
