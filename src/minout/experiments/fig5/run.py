"""The comparison of Fig. 4 with a tenth of the examples; random rehearsal drawn in two ways."""

from minout.experiments import comparison
from minout.experiments.comparison import Settings
from minout.experiments.task import Source, Task
from minout.results import Row

POLICIES = ("conditional", "uniform", "uniform-once", "none")


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Lists one run per policy and seed."""
    return [Task(settings, seed, policy) for policy in POLICIES for seed in range(seeds)]


def perform(task: Task, source: Source) -> Row:
    """Runs one policy over MNIST-ol."""
    return comparison.perform("fig5", task, source)
