"""Every cell of the map: one policy, one setting, one seed.

Step size, reduction and initial scale, at 10 and at 100 per class.
"""

from dataclasses import asdict, dataclass
from itertools import product
from typing import Literal

import numpy as np

from minout import streams
from minout.paper.evaluate import watch
from minout.paper.figures import comparison
from minout.paper.figures.task import Source, Task
from minout.results import Row, row


@dataclass(frozen=True)
class Settings:
    """The grid; accuracies are of training rows only, the test set is never read.

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


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return one run per cell, policy and seed; a task's settings are (cell, rows held out)."""
    cells = [
        comparison.Settings(
            per_class=per_class,
            budget=per_class,
            neurons=settings.neurons,
            learning_rate=rate,
            reduction=reduction,
            initial_scale=scale,
        )
        for per_class, reduction, rate, scale in product(
            settings.per_class,
            settings.reductions,
            settings.learning_rates,
            settings.initial_scales,
        )
    ]
    chosen = range(min(seeds, settings.most_seeds))
    return [
        Task((cell, settings.held_out), seed, policy)
        for cell, policy, seed in product(cells, settings.policies, chosen)
    ]


def perform(task: Task, source: Source) -> Row:
    """Teach one cell; measure it on what was taught and on training rows that were not."""
    cell, held_out = task.settings
    rng = np.random.default_rng(task.seed)
    data = streams.pick_per_class(streams.load(source), cell.per_class + held_out, rng)
    place = np.arange(len(data.labels)) % (cell.per_class + held_out)  # within its class
    taught = place < cell.per_class
    stream = streams.ordered(data._replace(rows=data.rows[taught], labels=data.labels[taught]))
    learner = comparison.learner_for(cell, task.variant, task.seed)
    curves = watch(learner, stream, data.rows[~taught], data.labels[~taught])
    values = {
        "train": float(curves.train[-1]),
        "held_out": float(curves.test[-1]),
        "rehearsed": float(np.nanmean(curves.rehearsed)),
        "steps": int(curves.steps.sum()),
        "caps": int(curves.caps.sum()),
    }
    return row("map", {**asdict(cell), "policy": task.variant}, task.seed, values)
