"""The paper's learner alone; what matters is how many examples it rehearses.

One hundred per class, conditional rehearsal: the settings of Fig. 4.
"""

from minout.paper.figures import comparison
from minout.paper.figures.comparison import Settings
from minout.paper.figures.task import Source, Task
from minout.results import Row

PAPER = Settings()
TESTING = Settings(per_class=4, budget=4, neurons=8)


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return one run per seed."""
    return [Task(settings, seed, "conditional") for seed in range(seeds)]


def perform(task: Task, source: Source) -> Row:
    """Run conditional rehearsal over MNIST-ol."""
    return comparison.perform("fig3", task, source)
