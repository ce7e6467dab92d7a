"""An ordinary network under SGD, batch size 1, on a stream in label order or shuffled.

The network of the appendix, 784-128-10, taught one example at a time by plain SGD.

The learning rate is the same for both streams and was chosen without the test set, by
`run.held_out_accuracy`: one pass over a random 3,200 of the sample's 4,000 training rows, judged on
the other 800 (in per cent, mean of seeds 0 to 4; the seeds spread by 1 to 3 points, less than that
where it is at chance):

    rate      0.0001  0.001  0.002  0.005  0.01  0.02  0.05   0.1   0.2
    shuffled    30.9   81.7   85.7   88.4  89.1  89.2  87.5  78.8  22.5
    ordered     24.1    9.8    9.8    9.8   9.8   9.8   9.8   9.8   9.8

From 0.005 to 0.02 the seeds decide more than the rate; 0.01 is the middle. In label order no rate
helps: one that forgets less has learned less.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from minout import results, streams
from minout._typing import Floats, Ints
from minout.maths import perceptron
from minout.maths.perceptron import Perceptron
from minout.paper.figures.task import Source, Task


@dataclass(frozen=True)
class Settings:
    """What is taught and how often it is measured; `per_class` None is everything."""

    hidden: int = 128
    learning_rate: float = 0.01
    per_class: int | None = None
    points: int = 100


PAPER = Settings()
TESTING = Settings(per_class=200, points=10)
VARIANTS = ("ordered", "shuffled")


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return one task per stream and seed."""
    return [Task(settings, seed, variant) for variant in VARIANTS for seed in range(seeds)]


def perform(task: Task, source: Source) -> results.Row:
    """Teach one pass; measure training and test accuracy at equal intervals.

    The seed draws the weights, the same for both streams, and the order (within a label, too).
    """
    values = _taught(task, streams.load(source))
    return results.row("fig6", asdict(task.settings), task.seed, values)


def held_out_accuracy(task: Task, source: Source) -> float:
    """Evaluate the same run on the last fifth of the training rows, taught on the others.

    The test set is not read. This is how the learning rate was chosen: see the top of this file.
    """
    data = streams.load(source)
    rows, labels, _ = streams.shuffled(data, np.random.default_rng(task.seed))
    cut = 4 * len(rows) // 5
    part = data._replace(
        rows=rows[:cut], labels=labels[:cut], test_rows=rows[cut:], test_labels=labels[cut:]
    )
    return float(_taught(task, part)["test_accuracy"][-1])


def _taught(task: Task, data: streams.Data) -> dict[str, Any]:
    settings: Settings = task.settings
    weights_rng, order_rng = np.random.default_rng(task.seed).spawn(2)
    if settings.per_class is not None:
        data = streams.pick_per_class(data, settings.per_class, order_rng)
    rows, labels, _ = _stream(data, task.variant, order_rng)
    sizes = (rows.shape[1], settings.hidden, int(labels.max()) + 1)
    net = perceptron.initial(sizes, weights_rng)
    stops = np.linspace(0, len(rows), settings.points + 1).round().astype(np.int64)
    training, test = [], []
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        _teach(net, rows[start:stop], labels[start:stop], settings.learning_rate)
        training.append(_accuracy(net, rows, labels))
        test.append(_accuracy(net, data.test_rows, data.test_labels))
    return {
        "stream": task.variant,
        "data": data.name,
        "per_label": np.bincount(labels).tolist(),
        "taught": stops.tolist(),
        "training_accuracy": training,
        "test_accuracy": test,
    }


def _stream(data: streams.Data, variant: str, rng: np.random.Generator) -> streams.Stream:
    shuffled = streams.shuffled(data, rng)
    if variant == "shuffled":
        return shuffled
    return streams.ordered(data._replace(rows=shuffled.rows, labels=shuffled.labels))


def _teach(net: Perceptron, rows: Floats, labels: Ints, learning_rate: float) -> None:
    for x, y in zip(rows, labels.tolist(), strict=True):
        perceptron.sgd_step(net, x, y, learning_rate)


def _accuracy(net: Perceptron, rows: Floats, labels: Ints) -> float:
    return float(np.mean(perceptron.predictions(net, rows) == labels))
