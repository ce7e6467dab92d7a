"""An ordinary network under SGD, batch size 1, on a stream in label order or shuffled."""

from dataclasses import asdict

import numpy as np

from minout import results, streams
from minout._typing import Floats, Ints
from minout.experiments.fig6.settings import Settings
from minout.experiments.task import Source, Task
from minout.maths import perceptron
from minout.maths.perceptron import Perceptron

VARIANTS = ("ordered", "shuffled")


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Lists one task per stream and seed."""
    return [Task(settings, seed, variant) for variant in VARIANTS for seed in range(seeds)]


def perform(task: Task, source: Source) -> results.Row:
    """Teaches one pass; accuracy on the whole training set and the test set at even distances.

    The seed draws the weights, the same for both streams, and the order (within a label, too).
    """
    settings: Settings = task.settings
    weights_rng, order_rng = np.random.default_rng(task.seed).spawn(2)
    data = streams.load(source)
    if settings.per_class is not None:
        data = streams.pick_per_class(data, settings.per_class, order_rng)
    stream = streams.shuffled(data, order_rng)
    rows, labels = stream.rows, stream.labels
    if task.variant == "ordered":
        rows, labels, _ = streams.ordered(data._replace(rows=rows, labels=labels))
    net = _initial(settings, data, weights_rng)
    stops = np.linspace(0, len(rows), settings.points + 1).round().astype(np.int64)
    training, test = [], []
    for start, stop in zip(np.append(0, stops), stops, strict=False):
        _teach(net, rows[start:stop], labels[start:stop], settings.learning_rate)
        training.append(_accuracy(net, rows, labels))
        test.append(_accuracy(net, data.test_rows, data.test_labels))
    values = {
        "stream": task.variant,
        "data": data.name,
        "taught": stops.tolist(),
        "training_accuracy": training,
        "test_accuracy": test,
        "per_label": np.unique(labels, return_counts=True)[1].tolist(),
    }
    return results.row("fig6", asdict(settings), task.seed, values)


def held_out_accuracy(settings: Settings, source: Source, seed: int) -> float:
    """Judges a learning rate on every fifth of the shuffled training rows; the test set is unread.

    This is how the rate was chosen: see `settings.py`.
    """
    weights_rng, order_rng = np.random.default_rng(seed).spawn(2)
    data = streams.load(source)
    rows, labels, _ = streams.shuffled(data, order_rng)
    held = np.arange(len(rows)) % 5 == 0
    net = _initial(settings, data, weights_rng)
    _teach(net, rows[~held], labels[~held], settings.learning_rate)
    return _accuracy(net, rows[held], labels[held])


def _initial(settings: Settings, data: streams.Data, rng: np.random.Generator) -> Perceptron:
    sizes = (data.rows.shape[1], settings.hidden, int(data.labels.max()) + 1)
    return perceptron.initial(sizes, rng)


def _teach(net: Perceptron, rows: Floats, labels: Ints, learning_rate: float) -> None:
    for x, y in zip(rows, labels.tolist(), strict=True):
        perceptron.sgd_step(net, x, y, learning_rate)


def _accuracy(net: Perceptron, rows: Floats, labels: Ints) -> float:
    return float(np.mean(perceptron.predictions(net, rows) == labels))
