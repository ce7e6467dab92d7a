"""Regions and hat functions: what they cost, and the share of the choice in learning."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.curved import clusters, split_any
from benchmarks.data import Array, Ints, Split, in_label_order
from benchmarks.engine import regret
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.regret import EXPAND, REGIONS, RegretRow
from benchmarks.inside import form, stored_separators, timed_choices
from benchmarks.learners import STRAIGHT, Pins, new_learner, teach
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, ms, percent
from minout.learner import Learner
from minout.metrics import accuracy

LABELS = "labels"
ORDERS = (LABELS, "shuffled")
LARGE = 10_000
"""From so many rows on the choice has a largest share of the time; below, a longest time."""
MOST_SHARE = 1.0 / 3.0
MOST_SECONDS = 5.0


class CostRow(NamedTuple):
    """One table taught in label order with fixed regions and hat functions.

    `seconds` (the mean per example) and `consolidate_seconds` are without the choice of the other
    settings. `file_mb` is the size of the model file, `accuracy` after consolidate().
    """

    data: str
    examples: int
    columns: int
    classes: int
    regions: int
    hats: int
    seconds: float
    consolidate_seconds: float
    separators: int
    file_mb: float
    accuracy: float


class ChoiceRow(NamedTuple):
    """A stream with default settings: its seconds, and those of its choices.

    `order` is "labels" or "shuffled". `seconds` is without consolidate(), which chooses once more.
    """

    order: str
    classes: int
    examples: int
    seconds: float
    choices: int
    choice_seconds: float
    consolidate_seconds: float
    consolidate_choice_seconds: float
    regions: int
    hats: int

    @property
    def share(self) -> float:
        """The share of the choices in the time of the stream."""
        return self.choice_seconds / self.seconds


Row = CostRow | ChoiceRow | RegretRow


def measure(inputs: Inputs, progress: Progress) -> list[Row]:
    """Measure the cost of fixed forms, the time of the choice, and how good the choice is."""
    inputs.compile(progress)
    return [
        *_costs(inputs, progress),
        *_choices(inputs, progress),
        *regret.measure(inputs, progress),
    ]


def _costs(inputs: Inputs, progress: Progress) -> list[CostRow]:
    settings = inputs.settings
    rows_of = {"digits": settings.cost_digits, "thresholds": settings.cost_rows}
    jobs = [("digits", STRAIGHT._replace(regions=regions)) for regions in REGIONS]
    jobs += [("thresholds", STRAIGHT._replace(expand=expand)) for expand in EXPAND]
    rows = []
    for done, (name, pins) in enumerate(jobs):
        progress("forms, cost", done, len(jobs))
        rng = np.random.default_rng(settings.seed)
        data = split_any(name, rows_of[name], settings.table_test, rng)
        assert data is not None
        rows.append(_cost(name, data, pins))
    return rows


def _cost(name: str, data: Split, pins: Pins) -> CostRow:
    learner = new_learner(pins, dtype="float64")
    with timed_choices() as choosing:
        seconds = float(teach(learner, data.rows, data.labels).seconds.sum()) - sum(choosing)
    with timed_choices() as choosing:
        consolidate_seconds = seconds_of(learner.consolidate) - sum(choosing)
    return CostRow(
        name,
        *data.rows.shape,
        len(learner.classes),
        *form(learner),
        seconds / len(data.rows),
        consolidate_seconds,
        stored_separators(learner).count,
        _file_mb(learner),
        accuracy(learner.predict(data.test_rows), data.test_labels),
    )


def _file_mb(learner: Learner) -> float:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        learner.save(file)
        return file.stat().st_size / 1e6


def _choices(inputs: Inputs, progress: Progress) -> list[ChoiceRow]:
    settings = inputs.settings
    jobs = list(product(ORDERS, settings.choice_classes, settings.choice_rows))
    rows = []
    for done, (name, classes, examples) in enumerate(jobs):
        progress("forms, choice", done, len(jobs))
        rng = np.random.default_rng(settings.seed)
        X, labels = clusters(examples, rng, classes=classes)
        order = in_label_order(labels) if name == LABELS else np.arange(examples)
        rows.append(_choice(name, X[order], labels[order]))
    return rows


def _choice(order: str, rows: Array, labels: Ints) -> ChoiceRow:
    learner = new_learner(dtype="float64")
    with timed_choices() as choosing:
        seconds = float(teach(learner, rows, labels).seconds.sum())
    chosen = form(learner)
    with timed_choices() as choosing_again:
        consolidate_seconds = seconds_of(learner.consolidate)
    return ChoiceRow(
        order,
        len(learner.classes),
        len(labels),
        seconds,
        len(choosing),
        sum(choosing),
        consolidate_seconds,
        sum(choosing_again),
        *chosen,
    )


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the costs, the time of the choice, and the regret."""
    costs = [row for row in rows if isinstance(row, CostRow)]
    choices = [row for row in rows if isinstance(row, ChoiceRow)]
    return [_cost_table(costs), _choice_table(choices), *regret.tables(_regrets(rows))]


def _cost_table(rows: Sequence[CostRow]) -> Table:
    lines = [
        (
            f"{row.data}, {row.examples:,} × {row.columns}, {row.classes} classes",
            str(row.regions),
            str(row.hats),
            str(row.separators),
            ms(row.seconds),
            f"{row.consolidate_seconds:.2f}",
            f"{row.file_mb:.2f}",
            percent(row.accuracy),
        )
        for row in rows
    ]
    first = ("table", "regions", "hats", "separators", "ms per example", "consolidate, s")
    note = "Label order; times are without the choice of the other settings."
    return Table("18a. Cost of forms", (*first, "file, MB", "accuracy"), lines, note)


def _choice_table(rows: Sequence[ChoiceRow]) -> Table:
    lines = [
        (
            row.order,
            str(row.classes),
            f"{row.examples:,}",
            f"{row.seconds:.2f}",
            str(row.choices),
            f"{row.choice_seconds:.2f}",
            percent(row.share, 0),
            f"{row.regions} × {row.hats}",
            f"{row.consolidate_seconds:.2f}",
            f"{row.consolidate_choice_seconds:.2f}",
        )
        for row in rows
    ]
    head = (
        *("order", "classes", "rows", "stream, s", "choices", "their s", "their share"),
        *("regions × hats", "consolidate, s", "choice in it, s"),
    )
    note = "Default settings; classes of four clusters each, 12 columns."
    return Table("18b. Time of the choice", head, lines, note)


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the goals of the time of the choice, and of the regret."""
    choices = [_choice_goal(row) for row in rows if isinstance(row, ChoiceRow)]
    return choices + regret.goals(_regrets(rows))


def _choice_goal(row: ChoiceRow) -> Goal:
    # A stream that never chooses takes no time for it, but does not meet the goal.
    measured, met = f"{row.choice_seconds:.2f} s", row.choice_seconds <= MOST_SECONDS
    most = f"{MOST_SECONDS:g} s"
    if row.examples >= LARGE:
        measured, met = percent(row.share, 0), row.share <= MOST_SHARE
        most = "a third of the stream"
    if not row.choices:
        measured, met = "no choice was made", False
    stream = f"{row.order}, {row.classes} classes, {row.examples:,} rows"
    return Goal("forms", f"{stream}: the choice takes at most {most}", measured, met)


def _regrets(rows: Sequence[Row]) -> list[RegretRow]:
    return [row for row in rows if isinstance(row, RegretRow)]
