"""Three lines, two stored points and a new one; all in eighths, so that the sums are exact."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Describes a maxout unit of one input and what it is to learn at `x_new`."""

    slopes: tuple[float, ...] = (-1.0, 0.125, 1.25)
    intercepts: tuple[float, ...] = (-1.5, 0.5, -1.0)
    x1: float = -0.75
    x2: float = 1.625
    x_new: float = 0.5
    target: float = 2.0
    learning_rate: float = 0.5


PAPER = Settings()
TESTING = PAPER  # it takes no time
