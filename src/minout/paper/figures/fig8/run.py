"""Teach MNIST-ol to one point of the line; measure sharing, rehearsal and forgetting."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from minout import results, streams
from minout._typing import Floats, Ints
from minout.metrics import accuracy, average_accuracy_at_end, forgetting_from_best
from minout.paper.evaluate import task_matrix
from minout.paper.figures.fig8.line import ExampleReport, ReportLog, point
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
    log = ReportLog(
        point(
            task.settings, kind, int(size),
            rehearse=how == "rehearsed", prototypes=examples.prototypes, seed=task.seed,
        )
    )  # fmt: skip
    rows, labels = judges
    tests = [(rows[labels == label], labels[labels == label]) for label in np.unique(stream.labels)]
    R = task_matrix(log, stream, tests)
    return {
        "kind": kind,
        "size": int(size),
        "rehearsing": how == "rehearsed",
        "test": average_accuracy_at_end(R),
        "train": accuracy(log.predict(stream.rows), stream.labels),
        "forgetting": forgetting_from_best(R),
        **_told(log.reports),
    }


def _told(reports: Sequence[ExampleReport]) -> dict[str, float]:
    """Sum up the reports: what was shared, as a fraction of what was stored before each."""
    later = list(enumerate(reports))[1:]
    return {
        "shared": _mean([n / stored for stored, report in later for n in report.at_risk]),
        "shared_exactly": _mean([n / stored for stored, report in later for n in report.exact]),
        "at_risk": _mean([n for report in reports for n in report.at_risk]),
        "rehearsed": _mean([report.rehearsed for report in reports]),
        "idle": sum(not report.at_risk for report in reports),
        "caps": sum(report.caps for report in reports),
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 6)
