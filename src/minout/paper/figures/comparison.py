"""The paper's experiment as one function: a policy, a seed, and what was measured on the way."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from minout import streams
from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.paper import (
    Closed,
    Conditional,
    GradientRule,
    NoRehearsal,
    PaperLearner,
    Policy,
    Uniform,
)
from minout.paper.evaluate import Curves, watch
from minout.paper.figures.task import Source, Task
from minout.results import Row, row
from minout.streams import Data, Stream


@dataclass(frozen=True)
class Settings:
    """The settings of the paper's experiment; `classes` teaches only the first labels.

    `budget` is how many examples the uniform policies rehearse; the paper sets it to `per_class`.
    """

    per_class: int = 100
    classes: int = 10
    budget: int = 100
    neurons: int = 50
    learning_rate: float = 0.01
    reduction: Literal["sum", "mean"] = "sum"
    clip: Literal["sigmoid", "hard"] = "sigmoid"
    initial_scale: float = 0.3
    max_steps: int = 10_000


def perform(figure: str, task: Task, source: Source) -> Row:
    """Run one policy (the task's variant) over MNIST-ol and return its curves as a row."""
    settings: Settings = task.settings
    data, stream = examples(settings, task.seed, source)
    curves = watch(
        learner_for(settings, task.variant, task.seed), stream, data.test_rows, data.test_labels
    )
    knobs = {**asdict(settings), "policy": task.variant, "data": data.name}
    return row(figure, knobs, task.seed, as_values(curves))


def examples(settings: Settings, seed: int, source: Source) -> tuple[Data, Stream]:
    """Draw the training examples with the seed and put them in label order."""
    data = streams.load(source)
    data = data._replace(
        **_first_classes(data.rows, data.labels, settings.classes, ""),
        **_first_classes(data.test_rows, data.test_labels, settings.classes, "test_"),
    )
    data = streams.pick_per_class(data, settings.per_class, np.random.default_rng(seed))
    return data, streams.ordered(data)


def learner_for(settings: Settings, policy: str, seed: int) -> PaperLearner:
    """Make the paper's learner; its weights and draws come from the seed."""
    chosen = policy_named(policy, settings.budget)
    return PaperLearner(range(settings.classes), rule=rule_for(settings), policy=chosen, seed=seed)


def rule_for(settings: Settings) -> GradientRule:
    """Return how the units are trained."""
    return GradientRule(
        neurons=settings.neurons,
        learning_rate=settings.learning_rate,
        reduction=settings.reduction,
        clip=settings.clip,
        initial_scale=settings.initial_scale,
        max_steps=settings.max_steps,
    )


def policy_named(name: str, budget: int) -> Policy:
    """Find a policy by the name that rows and pictures use for it."""
    policies: dict[str, Policy] = {
        "conditional": Conditional(),
        "closed": Closed(),
        "uniform": Uniform(budget),
        "uniform-once": Uniform(budget, fresh=False),
        "none": NoRehearsal(),
    }
    if name not in policies:
        raise InvalidInputError(f"There is no policy {name!r}; there are {', '.join(policies)}.")
    return policies[name]


def as_values(curves: Curves) -> dict[str, Any]:
    """Return lists for a row: 6 digits, and None where no unit took a step."""
    return {name: _as_list(curve) for name, curve in curves._asdict().items()}


def _as_list(curve: Floats) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 6) for value in curve]


def _first_classes(rows: Floats, labels: Any, count: int, prefix: str) -> dict[str, Any]:
    kept = labels < count
    return {f"{prefix}rows": rows[kept], f"{prefix}labels": labels[kept]}
