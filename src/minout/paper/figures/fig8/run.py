"""Teach MNIST-ol to one point of the line; measure sharing, rehearsal and forgetting."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from minout import results, streams
from minout._typing import Floats, Ints
from minout.metrics import accuracy, average_accuracy_at_end, forgetting_from_best
from minout.paper.evaluate import task_matrix
from minout.paper.figures.fig8.line import Diary, Lesson, point
from minout.paper.figures.fig8.settings import PAPER, TESTING, Settings
from minout.paper.figures.task import Source, Task
from minout.streams import Stream

__all__ = ["PAPER", "TESTING", "Examples", "drawn", "held_out_accuracy", "perform", "plan"]

HELD_OUT = 1_000


class Examples(NamedTuple):
    """What a seed draws; `prototypes` and `others` are training rows that are not taught."""

    stream: Stream
    prototypes: Floats
    others: tuple[Floats, Ints]
    test: tuple[Floats, Ints]
    name: str


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return every point of the line with and without rehearsal, for each seed."""
    points = [
        "rows 0",
        *(f"groups {size}" for size in settings.groups),
        "all 1",
        *(f"minout {size}" for size in settings.neurons),
        f"network {settings.hidden}",
    ]
    return [
        Task(settings, seed, f"{name} {how}")
        for name in points
        for how in ("rehearsed", "alone")
        for seed in range(seeds)
    ]


def perform(task: Task, source: Source) -> results.Row:
    """Teach one stream to one point and measure it on the test set, class by class."""
    examples = drawn(task.settings, task.seed, source)
    values = _measured(task, examples, examples.test)
    knobs = {**asdict(task.settings), "data": examples.name}
    for name in ("groups", "neurons"):
        knobs[name] = list(knobs[name])  # as it will be read back from the disk
    return results.row("fig8", knobs, task.seed, values)


def held_out_accuracy(task: Task, source: Source) -> float:
    """Evaluate the same run on training rows that were not taught; the test set is not used.

    This is how the learning rates were chosen: see `settings.py`.
    """
    examples = drawn(task.settings, task.seed, source)
    return float(_measured(task, examples, examples.others)["test"])


def drawn(settings: Settings, seed: int, source: Source) -> Examples:
    """Draw the stream, then the prototypes from all other training rows, ignoring labels."""
    data = streams.load(source)
    order = np.random.default_rng(seed).permutation(len(data.labels))
    rows, labels = data.rows[order], data.labels[order]
    taught = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        taught[np.flatnonzero(labels == label)[: settings.per_class]] = True
    stream = streams.ordered(data._replace(rows=rows[taught], labels=labels[taught]))
    rows, labels = rows[~taught], labels[~taught]
    groups = max(settings.groups)
    others = slice(groups, groups + HELD_OUT)
    return Examples(
        stream,
        rows[:groups],
        (rows[others], labels[others]),
        (data.test_rows, data.test_labels),
        data.name,
    )


def _measured(task: Task, examples: Examples, judges: tuple[Floats, Ints]) -> dict[str, Any]:
    kind, size, how = task.variant.split()
    stream = examples.stream
    diary = Diary(
        point(
            task.settings, kind, int(size),
            rehearse=how == "rehearsed", prototypes=examples.prototypes, seed=task.seed,
        )
    )  # fmt: skip
    rows, labels = judges
    tests = [(rows[labels == label], labels[labels == label]) for label in np.unique(stream.labels)]
    R = task_matrix(diary, stream, tests)
    return {
        "kind": kind,
        "size": int(size),
        "rehearsing": how == "rehearsed",
        "test": average_accuracy_at_end(R),
        "train": accuracy(diary.predict(stream.rows), stream.labels),
        "forgetting": forgetting_from_best(R),
        **_told(diary.lessons),
    }


def _told(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Sum up the reports: what was shared, as a fraction of what was stored before each."""
    later = list(enumerate(lessons))[1:]
    return {
        "shared": _mean([n / stored for stored, lesson in later for n in lesson.at_risk]),
        "shared_exactly": _mean([n / stored for stored, lesson in later for n in lesson.exact]),
        "at_risk": _mean([n for lesson in lessons for n in lesson.at_risk]),
        "rehearsed": _mean([lesson.rehearsed for lesson in lessons]),
        "idle": sum(not lesson.at_risk for lesson in lessons),
        "caps": sum(lesson.caps for lesson in lessons),
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 6)
