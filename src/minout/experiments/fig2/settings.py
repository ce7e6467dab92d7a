"""Six straight lines around a convex set, a cloud of stored points, one new example inside."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Describes a clipped maxout unit of two inputs and what it is to learn at `x_new`.

    Each neuron is a line (angle of its normal in degrees, distance from the origin): negative on
    the origin's side, clipped on the other. The points are uniform on the square of `half_width`.
    """

    lines: tuple[tuple[float, float], ...] = (
        (15.0, 0.75),
        (62.0, 1.4),
        (125.0, 1.4),
        (185.0, 1.6),
        (250.0, 1.5),
        (315.0, 1.4),
    )
    x_new: tuple[float, float] = (0.375, -0.25)
    target: float = -1.5
    learning_rate: float = 0.5
    points: int = 400
    half_width: float = 2.5


PAPER = Settings()
TESTING = Settings(points=60)
