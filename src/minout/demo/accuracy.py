"""Teach a stream to any model and measure the accuracy after each example."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import results
from minout._typing import Floats
from minout.demo.settings import Settings
from minout.metrics import accuracy
from minout.streams.files import Example

Predict = Callable[[Floats], NDArray[Any]]


class Accuracies(NamedTuple):
    """The accuracy on everything taught so far, with the labels in the file, and on test rows."""

    taught: float
    held_out: float


def accuracy_curve(
    teach: Callable[[Example], object],
    predict: Predict,
    examples: Sequence[Example],
    tests: Sequence[Example],
) -> Iterator[Accuracies]:
    """Teach one example after the other and yield the accuracies after each."""
    rows, labels = as_arrays([*tests, *examples])
    first = len(tests)
    for end, example in enumerate(examples, start=first + 1):
        teach(example)
        predicted = predict(rows[:end])
        yield Accuracies(
            accuracy(predicted[first:], labels[first:end]),
            accuracy(predicted[:first], labels[:first]),
        )


def measure(predict: Predict, examples: Sequence[Example], tests: Sequence[Example]) -> Accuracies:
    """Return the accuracies of a model."""
    taught, held_out = as_arrays(examples), as_arrays(tests)
    return Accuracies(
        accuracy(predict(taught[0]), taught[1]), accuracy(predict(held_out[0]), held_out[1])
    )


def as_arrays(examples: Sequence[Example]) -> tuple[Floats, NDArray[Any]]:
    """Return the rows (n, d) and the labels (n,) of examples."""
    rows = np.array([example.row for example in examples])
    return rows, np.array([str(example.label) for example in examples])


def row(
    settings: Settings,
    who: str,
    examples: Sequence[Example],
    tests: Sequence[Example],
    curve: Sequence[Accuracies],
) -> results.Row:
    """Return a run for the picture: both curves, the first step and mean image of each label."""
    rows, labels_given = as_arrays(examples)
    held_out = as_arrays(tests)[1]
    labels, turns = np.unique(labels_given, return_index=True)
    values = {
        "who": who,
        "labels": labels.tolist(),
        "turns": turns.tolist(),
        "looks": [rows[labels_given == label].mean(axis=0).tolist() for label in labels],
        "held_out_shares": [float(np.mean(held_out == label)) for label in labels],
        "taught": [each.taught for each in curve],
        "held_out": [each.held_out for each in curve],
    }
    return results.row("demo", asdict(settings), settings.seed, values)
