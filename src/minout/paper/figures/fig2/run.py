"""One gradient step of a clipped maxout unit on x_new, and which stored points move.

Six straight lines around a convex set, a cloud of stored points, one new example inside.
"""

from dataclasses import asdict, dataclass

import numpy as np

from minout import maths, results
from minout._typing import Bools, Floats
from minout.paper.figures.task import Source, Task


@dataclass(frozen=True)
class Settings:
    """A clipped maxout unit of two inputs, and what it is to learn at `x_new`.

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


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return the one task: the picture shows one cloud of points."""
    del seeds
    return [Task(settings, seed=0)]


def perform(task: Task, source: Source) -> results.Row:
    """Divide the points into S1, S2 and S3, take the step, and find the outputs that moved.

    In the row, `members` and `moved_members` count S1, S2 and S3 in this order.
    """
    del source
    settings: Settings = task.settings
    W, b = _unit(settings)
    x_new = np.array(settings.x_new)
    rng = np.random.default_rng(task.seed)
    points = rng.uniform(-settings.half_width, settings.half_width, (settings.points, 2))
    before = maths.activations(W, b, points)
    neuron = int(maths.maxout_winner(maths.activations(W, b, x_new)))
    sets = maths.partition(maths.clipped_above(before), neuron)
    W_after, b_after = _learned(W, b, x_new, settings.target, settings.learning_rate)
    after = maths.activations(W_after, b_after, points)
    moved = _moved(maths.clipped_maxout(before), maths.clipped_maxout(after))
    values = {
        "W_before": W.tolist(),
        "b_before": b.tolist(),
        "W_after": W_after.tolist(),
        "b_after": b_after.tolist(),
        "neuron": neuron,
        "x_new": x_new.tolist(),
        "points": points.tolist(),
        "moved": moved.tolist(),
        "members": [int(each.sum()) for each in sets],
        "moved_members": [int((each & moved).sum()) for each in sets],
    }
    return results.row("fig2", asdict(settings), task.seed, values)


def _unit(settings: Settings) -> tuple[Floats, Floats]:
    angles, distances = np.array(settings.lines).T
    normals = [np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))]
    return np.stack(normals, axis=1), -distances


def _learned(
    W: Floats, b: Floats, x: Floats, target: float, learning_rate: float
) -> tuple[Floats, Floats]:
    """Move the winner down the slope of (h - target)² / 2; no other neuron moves."""
    a = maths.activations(W, b, x)
    winner, h = maths.maxout_winner(a), maths.clipped_maxout(a)
    step = -learning_rate * (h - target) * (h < 0)  # a clipped winner has no slope
    W, b = W.copy(), b.copy()
    W[winner] += step * x
    b[winner] += step
    return W, b


def _moved(before: Floats, after: Floats) -> Bools:
    """Compare bits, not values: 0.0 and -0.0 count as different."""
    return np.asarray(before.view(np.uint64) != after.view(np.uint64))
