"""One gradient step of a maxout unit on x_new, and what it does to two stored points.

Three lines, two stored points and a new one; all in eighths, so that the sums are exact.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from minout import maths, results
from minout._typing import Floats
from minout.paper.figures.task import Source, Task


@dataclass(frozen=True)
class Settings:
    """A maxout unit of one input, and what it is to learn at `x_new`."""

    slopes: tuple[float, ...] = (-1.0, 0.125, 1.25)
    intercepts: tuple[float, ...] = (-1.5, 0.5, -1.0)
    x1: float = -0.75
    x2: float = 1.625
    x_new: float = 0.5
    target: float = 2.0
    learning_rate: float = 0.5


PAPER = Settings()
TESTING = PAPER  # it takes no time


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return the one task: nothing here is random."""
    del seeds
    return [Task(settings, seed=0)]


def perform(task: Task, source: Source) -> results.Row:
    """Take the step; the row holds lines and points, each before and after.

    Neurons are numbered from 0, as everywhere in the code; the paper and the picture count from 1.
    """
    del source
    settings: Settings = task.settings
    W, b = np.array(settings.slopes)[:, None], np.array(settings.intercepts)
    points = np.array([settings.x1, settings.x_new, settings.x2])[:, None]
    before = _state(W, b, points)
    _learn(W, b, np.array([settings.x_new]), settings.target, settings.learning_rate)
    after = _state(W, b, points)
    values = {
        "names": ["x1", "x_new", "x2"],
        "points": points[:, 0].tolist(),
        **{f"{name}_before": value for name, value in before.items()},
        **{f"{name}_after": value for name, value in after.items()},
    }
    return results.row("fig1", asdict(settings), task.seed, values)


def _state(W: Floats, b: Floats, points: Floats) -> dict[str, Any]:
    a = maths.activations(W, b, points)
    return {
        "slopes": W[:, 0].tolist(),
        "intercepts": b.tolist(),
        "outputs": maths.maxout(a).tolist(),
        "winners": maths.maxout_winner(a).tolist(),
    }


def _learn(W: Floats, b: Floats, x: Floats, target: float, learning_rate: float) -> None:
    """Move the winner, in place, down the slope of (h - target)² / 2; the max moves no other."""
    a = maths.activations(W, b, x)
    winner = maths.maxout_winner(a)
    step = -learning_rate * (maths.maxout(a) - target)
    W[winner] += step * x
    b[winner] += step
