"""Conditional rehearsal, as many examples at random, and none, on the same streams.

One hundred per class. Rate, reduction and initial scale: see docs/figures.md, "the map".
"""

from minout.paper.figures import comparison
from minout.paper.figures.comparison import Settings
from minout.paper.figures.task import Source, Task
from minout.results import Row

PAPER = Settings(per_class=100, budget=100, learning_rate=0.01, reduction="sum")
TESTING = Settings(per_class=4, budget=4, neurons=8)
POLICIES = ("conditional", "uniform", "none")


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return one run per policy and seed."""
    return [Task(settings, seed, policy) for policy in POLICIES for seed in range(seeds)]


def perform(task: Task, source: Source) -> Row:
    """Run one policy over MNIST-ol."""
    return comparison.perform("fig4", task, source)
