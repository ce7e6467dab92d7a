"""The paper's learner alone; what matters is how many examples it rehearses."""

from minout.experiments import comparison
from minout.experiments.comparison import Settings
from minout.experiments.task import Source, Task
from minout.results import Row


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Lists one run per seed."""
    return [Task(settings, seed, "conditional") for seed in range(seeds)]


def perform(task: Task, source: Source) -> Row:
    """Runs conditional rehearsal over MNIST-ol."""
    return comparison.perform("fig3", task, source)
