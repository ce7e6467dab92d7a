"""The paper's learner, compiled, beside the plain-NumPy specification on the same examples.

Both measure accuracy on the training and the test set after every example: the specification by
matrix products over everything, the learner by what changed. Both use conditional rehearsal and
the settings of fig4.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.data import Array, Ints
from benchmarks.learners import new_paper_learner
from minout import maths
from minout.errors import InvalidInputError
from minout.maths import Layer, Training
from minout.paper import GradientRule
from minout.paper.evaluate import TrackedActivations, watch
from minout.streams import Data, Stream, ordered, pick_per_class, shuffled

SEED = 0
RULE = GradientRule()
TRAINING = Training(RULE.learning_rate, RULE.reduction, RULE.stop_loss, RULE.max_steps)


class Speed(NamedTuple):
    """One whole run of both, and whether ids, weights and curves are the same.

    `same_ids_rehearsed` counts the examples, from the first on, for which both rehearsed the same
    ids in every unit.
    """

    examples: int
    seconds: float
    specification_seconds: float
    same_ids_rehearsed: int
    same_weights: bool
    same_curves: bool


class Growth(NamedTuple):
    """The mean cost of one more example at a number of stored ones, for both."""

    stored: int
    seconds: float
    specification_seconds: float


def speed(data: Data, per_class: int, tick: Callable[[], None] = lambda: None) -> Speed:
    """Teach MNIST-ol to both.

    Parameters
    ----------
    data : Data
        The examples to draw from.
    per_class : int
        How many are drawn of each class.
    tick : callable
        Called after each example of the specification, the slower one.
    """
    data = pick_per_class(data, per_class, np.random.default_rng(SEED))
    stream = ordered(data)
    classes = np.unique(stream.labels)
    _load_kernels(stream, classes)
    learner = new_paper_learner(classes, seed=SEED, rule=RULE)
    start = time.perf_counter()
    curves = watch(learner, stream, data.test_rows, data.test_labels)
    seconds = time.perf_counter() - start

    layer = RULE.initial(len(classes), stream.rows.shape[1], np.random.default_rng(SEED))
    ids, train, test = [], [], []
    start = time.perf_counter()
    for i in range(len(stream.rows)):
        ids.append(_teach(layer, stream, i))
        train.append(_accuracy(layer, stream.rows, stream.labels))
        test.append(_accuracy(layer, data.test_rows, data.test_labels))
        tick()
    specification_seconds = time.perf_counter() - start
    return Speed(
        len(stream.rows),
        seconds,
        specification_seconds,
        _equal_prefix(_ids_rehearsed(stream, classes), ids),
        all((ours == theirs).all() for ours, theirs in zip(learner.layer, layer, strict=True)),
        bool((curves.train == train).all() and (curves.test == test).all()),
    )


def check_stored(data: Data, stored: int, more: int = 20) -> None:
    """Raise InvalidInputError if the data has fewer than `stored` and `more` examples."""
    if not 1 <= stored <= len(data.rows) - more:
        raise InvalidInputError(
            f"{stored} stored examples and {more} more were asked for; the data has "
            f"{len(data.rows)} to learn from, so ask for 1 to {len(data.rows) - more}."
        )


def growth(data: Data, stored: int, more: int = 20) -> Growth:
    """Teach `stored` examples in random order, then time `more` for both."""
    check_stored(data, stored, more)
    stream = shuffled(data, np.random.default_rng(SEED))
    rows, labels = stream.rows[: stored + more], stream.labels[: stored + more]
    stream = Stream(rows, labels, stream.tasks[: stored + more])
    everything = np.concatenate([rows, data.test_rows])
    learner = new_paper_learner(np.unique(data.labels), seed=SEED, rule=RULE)
    for x, y in zip(rows[:stored], labels[:stored].tolist(), strict=True):
        learner.teach(x, y)
    layer = learner.layer
    tracked = TrackedActivations(layer, everything, taught=rows[:stored])

    start = time.perf_counter()
    for x, y in zip(rows[stored:], labels[stored:].tolist(), strict=True):
        tracked.follow(x, learner.teach(x, y))
        tracked.winners()
    seconds = time.perf_counter() - start

    start = time.perf_counter()
    for i in range(stored, stored + more):
        _teach(layer, stream, i)
        maths.scores(layer, everything).argmax(axis=1)
    specification_seconds = time.perf_counter() - start
    return Growth(stored, seconds / more, specification_seconds / more)


Ids = list[list[int]]


def _teach(layer: Layer, stream: Stream, i: int) -> Ids:
    rows, labels = stream.rows[: i + 1], stream.labels[: i + 1]
    traces = maths.teach(layer, rows, labels, maths.choose_conditional, TRAINING)
    return [
        np.unique(np.concatenate(trace.rehearsed)).tolist() for trace in traces if trace.rehearsed
    ]


def _ids_rehearsed(stream: Stream, classes: Ints) -> Iterator[Ids]:
    learner = new_paper_learner(classes, seed=SEED, rule=RULE)
    for x, y in zip(stream.rows, stream.labels.tolist(), strict=True):
        yield [unit.rehearsed.tolist() for unit in learner.teach(x, y).units]


def _equal_prefix(ours: Iterator[Ids], theirs: list[Ids]) -> int:
    for count, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if one != other:
            return count
    return len(theirs)


def _accuracy(layer: Layer, rows: Array, labels: Ints) -> float:
    return float((maths.scores(layer, rows).argmax(axis=1) == labels).mean())


def _load_kernels(stream: Stream, classes: Ints) -> None:
    # Compiling, or loading compiled kernels from the cache, is not timed.
    few = Stream(stream.rows[:3], stream.labels[:3], stream.tasks[:3])
    learner = new_paper_learner(classes, seed=SEED, rule=RULE)
    watch(learner, few, few.rows, few.labels)
