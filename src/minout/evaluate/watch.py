"""Teaches a learner a stream and measures it after every example."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError
from minout.evaluate.board import Board
from minout.learner import Learner, StepReport, many_rows
from minout.rules import GradientRule
from minout.streams import Stream


class Curves(NamedTuple):
    """Holds one number per example taught.

    train: accuracy over the whole training stream, also over what is still to come (the paper's
    curve). seen: over the examples taught so far. test: over the test set. test_seen: over the
    test rows of the classes taught so far. rehearsed, exact, missed: over the units that took a
    step, the mean number of examples in a step that were rehearsed, that were in the exact set,
    and that were in it but not rehearsed (NaN where no unit took a step). neurons_moved, steps,
    leaks and caps are counted over the units; see `UnitReport`.
    """

    train: Floats
    seen: Floats
    test: Floats
    test_seen: Floats
    rehearsed: Floats
    exact: Floats
    missed: Floats
    neurons_moved: Floats
    steps: Floats
    leaks: Floats
    caps: Floats


def watch(
    learner: Learner,
    stream: Stream,
    test_rows: Floats,
    test_labels: Ints,
    *,
    tick: Callable[[], None] = lambda: None,
) -> Curves:
    """Teaches a fresh learner the stream, one example at a time, and calls `tick` after each."""
    if len(stream.rows) == 0:
        raise InvalidInputError("The stream is empty; there is nothing to learn.")
    if not isinstance(learner.rule, GradientRule):
        raise InvalidInputError("Watching follows gradient steps; this learner has another rule.")
    if len(learner) > 0:
        raise InvalidInputError("This learner was taught before; watch a fresh one.")
    if len(test_labels) != len(test_rows):
        raise InvalidInputError(
            f"There are {len(test_rows)} test rows and {len(test_labels)} labels for them."
        )
    if unknown := set(stream.labels.tolist()) - set(learner.classes.tolist()):
        raise InvalidInputError(
            f"The stream has the label {min(unknown)!r}, which this learner was not made for."
        )
    n = len(stream.rows)
    rows = np.concatenate([stream.rows, many_rows(test_rows, stream.rows.shape[1])])
    labels = np.concatenate([stream.labels, test_labels])
    board: Board | None = None
    curves = np.empty((n, len(Curves._fields)))
    for i, (x, y) in enumerate(zip(stream.rows, stream.labels.tolist(), strict=True)):
        report = learner.teach(x, y)
        if board is None:
            board = Board(learner.layer, rows, taught=stream.rows[:1])
        else:
            board.follow(x, report)
        right = learner.classes[board.winners()] == labels
        known = np.isin(test_labels, stream.labels[: i + 1])
        curves[i] = [*_accuracies(right, n, i + 1, known), *_costs(report)]
        tick()
    return Curves(*curves.T)


def _accuracies(right: Bools, train: int, seen: int, known: Bools) -> list[float]:
    test = right[train:]
    return [
        right[:train].mean(),
        right[:seen].mean(),
        test.mean() if test.size else np.nan,
        test[known].mean() if known.any() else np.nan,
    ]


def _costs(report: StepReport) -> list[float]:
    units = report.units
    means = [(u.mean_rehearsed, u.mean_exact, u.mean_missed) for u in units]
    return [
        *(np.mean(means, axis=0) if means else [np.nan] * 3),
        report.neurons_moved,
        report.steps,
        sum(u.leaks for u in units),
        sum(u.hit_the_cap for u in units),
    ]
