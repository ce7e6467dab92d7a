"""Two sweeps, two policies: the examples a step rehearses beside those it can disturb.

Thirty per class, taught to more and more units, and to units of more and more neurons.

Rate, reduction and initial scale are those of Fig. 4. Each sweep turns one knob of `base`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from minout.metrics import accuracy
from minout.paper import PaperLearner, PaperReport
from minout.paper.figures import comparison
from minout.paper.figures.task import Source, Task
from minout.results import Row, row
from minout.streams import Data, Stream

BASE = comparison.Settings(per_class=30)


@dataclass(frozen=True)
class Settings:
    """The start of the sweeps, and the numbers of classes and neurons that they go through."""

    base: comparison.Settings = BASE
    classes: tuple[int, ...] = tuple(range(2, 11))
    neurons: tuple[int, ...] = (5, 10, 20, 50, 100)


PAPER = Settings()
TESTING = Settings(
    base=comparison.Settings(per_class=4, classes=4, neurons=8, max_steps=500),
    classes=(2, 4),
    neurons=(4, 8),
)


POLICIES = ("conditional", "closed")


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return a run for each point of the two sweeps, policy and seed; they share a point."""
    base = settings.base
    points = [
        *(replace(base, classes=classes) for classes in settings.classes),
        *(replace(base, neurons=neurons) for neurons in settings.neurons),
    ]
    return [
        Task(point, seed, policy)
        for point in dict.fromkeys(points)
        for policy in POLICIES
        for seed in range(seeds)
    ]


def perform(task: Task, source: Source) -> Row:
    """Teach MNIST-ol once and measure the sizes of the sets of each step."""
    settings: comparison.Settings = task.settings
    data, stream = comparison.examples(settings, task.seed, source)
    learner = comparison.learner_for(settings, task.variant, task.seed)
    reports = [
        learner.teach(x, y) for x, y in zip(stream.rows, stream.labels.tolist(), strict=True)
    ]
    knobs = {**asdict(settings), "policy": task.variant, "data": data.name}
    values = {**_sets(reports, stream), **_totals(reports), **_end(learner, data, stream)}
    return row("fig7", knobs, task.seed, values)


def _sets(reports: Sequence[PaperReport], stream: Stream) -> dict[str, float]:
    """Return the mean sizes of five sets: all stored, the unit's class, and three of the report.

    Twice: over the examples that moved a unit, and there over the units that moved, as in Fig. 3;
    and over all steps of all units (`…_per_step`), where long lessons count more.
    """
    sizes, weights, steps = [], [], []
    for report in reports:
        before = stream.labels[: report.example_id]
        for unit in report.units:
            own = int(np.sum(before == unit.unit))
            sizes.append([len(before), own, unit.mean_rehearsed, unit.mean_exact, unit.mean_missed])
            weights.append(1 / len(report.units))
            steps.append(unit.steps)
    names = ("stored", "own_class", "rehearsed", "exact", "missed")
    means = np.average(sizes, axis=0, weights=weights).round(6).tolist()
    per_step = np.average(sizes, axis=0, weights=steps).round(6).tolist()
    return {
        **dict(zip(names, means, strict=True)),
        **{f"{name}_per_step": mean for name, mean in zip(names, per_step, strict=True)},
    }


def _totals(reports: Sequence[PaperReport]) -> dict[str, int]:
    units = [unit for report in reports for unit in report.units]
    return {
        "taught": len(reports),
        "lessons": len(units),
        "steps": sum(unit.steps for unit in units),
        "leaks": sum(unit.leaks for unit in units),
        "caps": sum(unit.reached_max_steps for unit in units),
    }


def _end(learner: PaperLearner, data: Data, stream: Stream) -> dict[str, float]:
    """Measure the learner at the end, over all that was taught.

    `inside` is the size of S1, the mean over the units; `misplaced` counts the pairs of an example
    and a unit where a stranger is inside, or an example of the unit's own class is not.
    """
    inside = learner.scores(stream.rows) > learner.threshold
    own = stream.labels[:, None] == learner.classes
    return {
        "inside": float(inside.sum(axis=0).mean()),
        "misplaced": int((inside != own).sum()),
        "train": accuracy(learner.predict(stream.rows), stream.labels),
        "test": accuracy(learner.predict(data.test_rows), data.test_labels),
    }
