"""A stream taught to any model, and how much it knows after each example."""

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


class Known(NamedTuple):
    """Is the share that is right of everything taught so far, as told, and of the rows held out."""

    taught: float
    held_out: float


def watched(
    teach: Callable[[Example], object],
    predict: Predict,
    examples: Sequence[Example],
    tests: Sequence[Example],
) -> Iterator[Known]:
    """Teaches one example after the other and says after each what is known now."""
    rows, labels = together([*tests, *examples])
    first = len(tests)
    for end, example in enumerate(examples, start=first + 1):
        teach(example)
        said = predict(rows[:end])
        yield Known(
            accuracy(said[first:], labels[first:end]), accuracy(said[:first], labels[:first])
        )


def known(predict: Predict, examples: Sequence[Example], tests: Sequence[Example]) -> Known:
    """Says how much a model knows at the end."""
    taught, held_out = together(examples), together(tests)
    return Known(
        accuracy(predict(taught[0]), taught[1]), accuracy(predict(held_out[0]), held_out[1])
    )


def together(examples: Sequence[Example]) -> tuple[Floats, NDArray[Any]]:
    """Gives the rows (n, d) and the labels (n,) of examples."""
    rows = np.array([example.row for example in examples])
    return rows, np.array([str(example.label) for example in examples])


def row(
    settings: Settings,
    who: str,
    examples: Sequence[Example],
    tests: Sequence[Example],
    curve: Sequence[Known],
) -> results.Row:
    """Puts down a run for the picture: both curves, when each label came first, its mean."""
    rows, told = together(examples)
    held_out = together(tests)[1]
    labels, turns = np.unique(told, return_index=True)
    values = {
        "who": who,
        "labels": labels.tolist(),
        "turns": turns.tolist(),
        "looks": [rows[told == label].mean(axis=0).tolist() for label in labels],
        "held_out_shares": [float(np.mean(held_out == label)) for label in labels],
        "taught": [each.taught for each in curve],
        "held_out": [each.held_out for each in curve],
    }
    return results.row("demo", asdict(settings), settings.seed, values)
