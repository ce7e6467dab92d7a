"""Teach a stream and measure: after every example, or after every task."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError
from minout.inputs import many_rows, one_row
from minout.kernels import GradientStep
from minout.maths import Layer
from minout.metrics import accuracy
from minout.paper.learner import PaperLearner
from minout.paper.report import PaperReport
from minout.streams import Stream


class Curves(NamedTuple):
    """What `watch` measured: one number per example taught, in float64 arrays.

    Attributes
    ----------
    train : array
        Accuracy over the whole training stream, including examples not taught yet: the paper's
        curve.
    seen : array
        Accuracy over the examples taught so far.
    test, test_seen : array
        Accuracy over the test set, and over its rows of the classes taught so far.
    rehearsed, exact, missed : array
        The mean number of examples in a step that were rehearsed, that were in the exact set, and
        that were in it but not rehearsed, over the units that took a step; NaN where none did.
    neurons_moved, steps, leaks, caps : array
        Counts over the units; see `UnitReport`.
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
    learner: PaperLearner,
    stream: Stream,
    test_rows: Floats,
    test_labels: Ints,
    *,
    tick: Callable[[], None] = lambda: None,
) -> Curves:
    """Teach a new learner a stream and measure it after every example.

    Parameters
    ----------
    learner : PaperLearner
        A learner that has not been taught anything.
    stream : Stream
        The examples to teach, in order.
    test_rows, test_labels : arrays of shape (n, features) and (n,)
        The test set; it may be empty.
    tick : callable, optional
        Called after each example.

    Returns
    -------
    Curves
        Accuracies and costs, one number per example.

    Raises
    ------
    InvalidInputError
        If the learner was taught before, or if stream, test set and learner do not fit together.
    """
    if len(stream.rows) == 0:
        raise InvalidInputError("The stream is empty; there is nothing to learn.")
    if len(learner) > 0:
        raise InvalidInputError("This learner was taught before; pass a new one.")
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
    tracked: TrackedActivations | None = None
    curves = np.empty((n, len(Curves._fields)))
    for i, (x, y) in enumerate(zip(stream.rows, stream.labels.tolist(), strict=True)):
        report = learner.teach(x, y)
        if tracked is None:
            tracked = TrackedActivations(learner.layer, rows, taught=stream.rows[:1])
        else:
            tracked.follow(x, report)
        right = learner.classes[tracked.winners()] == labels
        known = np.isin(test_labels, stream.labels[: i + 1])
        curves[i] = [*_accuracies(right, n, i + 1, known), *_costs(report)]
        tick()
    return Curves(*curves.T)


def _accuracies(right: Bools, train: int, seen: int, known: Bools) -> list[float]:
    """Return the accuracies over the stream, the seen part, the test set and its seen classes."""
    test = right[train:]
    return [
        right[:train].mean(),
        right[:seen].mean(),
        test.mean() if test.size else np.nan,
        test[known].mean() if known.any() else np.nan,
    ]


def _costs(report: PaperReport) -> list[float]:
    """Return what one example cost, in the order of `Curves`."""
    units = report.units
    means = [(u.mean_rehearsed, u.mean_exact, u.mean_missed) for u in units]
    return [
        *(np.mean(means, axis=0) if means else [np.nan] * 3),
        report.neurons_moved,
        report.steps,
        sum(u.leaks for u in units),
        sum(u.reached_max_steps for u in units),
    ]


class Teachable(Protocol):
    """A learner that is taught one example at a time and predicts."""

    def teach(self, x: Floats, y: int) -> object:
        """Learn one row x (d,) under the label y."""
        ...

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return a label for each row of X (n, d)."""
        ...


def task_matrix(
    learner: Teachable,
    stream: Stream,
    tests: list[tuple[Floats, Ints]],
    *,
    tick: Callable[[], None] = lambda: None,
) -> Floats:
    """Teach a stream of tasks and return the accuracy matrix.

    Parameters
    ----------
    learner : Teachable
        The learner to teach.
    stream : Stream
        The examples; all of task 0 first, then all of task 1, and so on.
    tests : list of (rows, labels)
        A test set for each task.
    tick : callable, optional
        Called after each example.

    Returns
    -------
    float64 array of shape (tasks, tasks)
        R[i, j], the accuracy on ``tests[j]`` after task i.

    Raises
    ------
    InvalidInputError
        If the stream is empty, or if its tasks do not come in order with a test set for each.
    """
    if len(stream.rows) == 0:
        raise InvalidInputError("The stream is empty; there is nothing to learn.")
    starts = np.append(0, np.flatnonzero(np.diff(stream.tasks)) + 1)
    if stream.tasks[starts].tolist() != list(range(len(tests))):
        raise InvalidInputError(
            f"The stream's tasks come as {stream.tasks[starts].tolist()}; "
            f"they must come one after the other, with a test set for each, not {len(tests)}."
        )
    R = np.empty((len(tests), len(tests)))
    ends = np.append(starts[1:], len(stream.tasks))
    for task, (start, end) in enumerate(zip(starts, ends, strict=True)):
        for x, y in zip(stream.rows[start:end], stream.labels[start:end].tolist(), strict=True):
            learner.teach(x, y)
            tick()
        R[task] = [accuracy(learner.predict(rows), labels) for rows, labels in tests]
    return R


class TrackedActivations:
    """The activation of every neuron at n fixed rows, updated from each report.

    A report lists the weight changes of an example, W[j] += amount·x(id), so the activations here
    move by amount·(x(id)·x + 1). That takes n multiplications per change; evaluating the neuron
    again would take n·d.

    Parameters
    ----------
    layer : Layer
        The weights of the learner now; it is evaluated once.
    rows : float64 array of shape (n, features)
        The rows to predict.
    taught : float64 array of shape (t, features)
        The examples that the learner has been taught so far.
    """

    def __init__(self, layer: Layer, rows: Floats, taught: Floats) -> None:
        m, k, d = layer.W.shape
        self._columns = np.ascontiguousarray(many_rows(rows, d).T)
        self._a = np.empty((m, k, len(rows)))
        for w, out in zip(layer.W.reshape(m * k, d), self._a.reshape(m * k, -1), strict=True):
            kernels.products_by_column(self._columns, w, out)
        self._a += layer.b[:, :, None]
        self._least = self._a.min(axis=1)
        self._products = np.empty((8, len(rows)))
        self._taught = 0
        for x in taught:
            self._remember(x)

    def follow(self, x: Floats, report: PaperReport) -> None:
        """Update from the report on teaching x; every example taught must be followed, in order."""
        if report.example_id != self._taught:
            raise InvalidInputError(
                f"These activations have followed {self._taught} examples; "
                f"they cannot follow example {report.example_id} next."
            )
        self._remember(one_row(x, len(self._columns)))
        for unit in report.units:
            a, (neurons, ids, amounts) = self._a[unit.unit], unit.weight_changes
            step = GradientStep(rows=ids, winners=neurons, steps=amounts, moved=unit.moved)
            kernels.follow(a, self._products, step, self._columns.shape[1])
            self._least[unit.unit] = a.min(axis=0)

    def winners(self) -> Ints:
        """Return the unit with the highest score at each row; ties go to the first."""
        return np.asarray(self._least.argmax(axis=0))

    def scores(self) -> Floats:
        """Return min_j a_j of each unit at each row: (n, m)."""
        return np.array(self._least.T)

    def _remember(self, x: Floats) -> None:
        """Compute the inner products of a taught row with the fixed rows."""
        if self._taught == len(self._products):
            self._products = np.concatenate([self._products, np.empty_like(self._products)])
        out = self._products[self._taught]
        kernels.products_by_column(self._columns, x, out)
        out += 1.0
        self._taught += 1
