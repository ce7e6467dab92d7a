"""More and more modes, the same number of rows, a budget of 100 rehearsed examples per step.

2,000 rows in label order. Two settings of the learner: those of Fig. 4, which are the defaults, and
those of Fig. 5. They were not chosen for this figure.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from minout import streams
from minout.metrics import accuracy
from minout.paper import PaperLearner, PaperReport
from minout.paper.figures import comparison
from minout.paper.figures.fig4 import run as fig4
from minout.paper.figures.fig5 import run as fig5
from minout.paper.figures.fig9.modes import Pictures, generate
from minout.paper.figures.fig9.policies import AtMost, Counted
from minout.paper.figures.task import Source, Task
from minout.results import Row, row

POLICIES = ("conditional", "uniform", "none")
PICTURES = Pictures()


@dataclass(frozen=True)
class Settings:
    """The numbers of modes, the learners, the pictures, and the most seeds to take."""

    modes: tuple[int, ...] = (10, 30, 100, 300, 1_000)
    learners: tuple[comparison.Settings, ...] = (
        replace(fig4.PAPER, per_class=200, budget=100),
        replace(fig5.PAPER, per_class=200, budget=100),
    )
    pictures: Pictures = PICTURES
    most_seeds: int = 3


PAPER = Settings()
TESTING = Settings(
    modes=(3, 12),
    learners=tuple(
        replace(each, per_class=8, classes=3, budget=6, neurons=8) for each in PAPER.learners
    ),
    pictures=Pictures(side=6, test_rows=24),
)


class Point(NamedTuple):
    """The settings of one task."""

    modes: int
    learner: comparison.Settings
    pictures: Pictures


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return a run for each learner, number of modes, policy and seed; the longest come first."""
    return [
        Task(Point(modes, learner, settings.pictures), seed, policy)
        for learner in settings.learners
        for modes in sorted(settings.modes, reverse=True)
        for policy in POLICIES
        for seed in range(min(seeds, settings.most_seeds))
    ]


def perform(task: Task, source: Source) -> Row:
    """Teach one stream and measure accuracies at the end; `source` is not used."""
    del source
    point: Point = task.settings
    knobs = point.learner
    rows = knobs.per_class * knobs.classes
    data = generate(point.pictures, point.modes, rows, knobs.classes, task.seed)
    stream = streams.ordered(data)
    policy = Counted(
        AtMost(knobs.budget)
        if task.variant == "conditional"
        else comparison.policy_named(task.variant, knobs.budget)
    )
    learner = PaperLearner(
        range(knobs.classes), rule=comparison.rule_for(knobs), policy=policy, seed=task.seed
    )
    reports = learner.teach_many(stream.rows, stream.labels.tolist())
    values = {
        "train": accuracy(learner.predict(stream.rows), stream.labels),
        "test": accuracy(learner.predict(data.test_rows), data.test_labels),
        **_rehearsal(reports),
        **_at_risk(policy.found, knobs.budget),
    }
    told = {**asdict(knobs), **asdict(point.pictures), "modes": point.modes, "policy": task.variant}
    return row("fig9", {**told, "data": data.name}, task.seed, values)


def _rehearsal(reports: Sequence[PaperReport]) -> dict[str, float]:
    """Return the mean number rehearsed per step, the number of steps, and of caps reached."""
    units = [unit for report in reports for unit in report.units]
    steps = sum(unit.steps for unit in units)
    return {
        "rehearsed": round(sum(unit.steps * unit.mean_rehearsed for unit in units) / steps, 6),
        "steps": steps,
        "caps": sum(unit.reached_max_steps for unit in units),
    }


def _at_risk(found: Sequence[int], budget: int) -> dict[str, float]:
    """Return the mean size of Ŝ over the steps, and in which part of them it was over budget."""
    sizes = np.array(found)
    return {
        "at_risk": round(float(sizes.mean()), 6),
        "over_budget": round(float((sizes > budget).mean()), 6),
    }
