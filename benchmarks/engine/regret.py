"""Regret of the choice of regions and hat functions: beside the best fixed ones, consolidated."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.curved import split_any
from benchmarks.data import Split
from benchmarks.engine.inputs import Inputs
from benchmarks.inside import Form, form
from benchmarks.learners import AUTOMATIC, Pins, consolidated_learner
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mean_and_error, percent
from minout.metrics import accuracy

REGIONS = (1, 2, 4, 8)
EXPAND = (None, 3, 9)
FIXED = [Pins(regions=regions, expand=expand) for regions, expand in product(REGIONS, EXPAND)]
MOST_POINTS = 0.5


class RegretRow(NamedTuple):
    """One setting on one split of one set: test accuracy after consolidate().

    `chosen`: regions and hats were chosen from the training rows; else they were fixed.
    """

    seed: int
    name: str
    examples: int
    chosen: bool
    regions: int
    hats: int
    accuracy: float


def measure(inputs: Inputs, progress: Progress) -> list[RegretRow]:
    """Measure the default settings and all fixed ones on every split of every set and size."""
    settings = inputs.settings
    jobs = [
        (name, size, seed)
        for name in settings.regret_sets
        for size, splits in settings.regret_at
        for seed in range(splits)
    ]
    rows = []
    for done, (name, size, seed) in enumerate(jobs):
        progress("forms, regret", done, len(jobs))
        data = split_any(name, size, settings.table_test, np.random.default_rng(seed))
        if data is not None:
            rows += [_measure_one(name, seed, data, pins) for pins in (AUTOMATIC, *FIXED)]
    return rows


def _measure_one(name: str, seed: int, data: Split, pins: Pins) -> RegretRow:
    learner = consolidated_learner(pins, data.rows, data.labels, dtype="float64")
    right = accuracy(learner.predict(data.test_rows), data.test_labels)
    return RegretRow(seed, name, len(data.rows), pins == AUTOMATIC, *form(learner), right)


class _Cell(NamedTuple):
    """All splits of one set and size; `best` is the fixed form with the highest mean accuracy."""

    name: str
    examples: int
    chosen: list[RegretRow]
    fixed: dict[Form, list[RegretRow]]

    @property
    def best(self) -> Form:
        return max(self.fixed, key=lambda each: _mean_percent(self.fixed[each]))

    @property
    def regrets(self) -> list[float]:
        """What the choice loses to the best fixed form, in points, split by split."""
        pairs = zip(self.fixed[self.best], self.chosen, strict=True)
        return [100 * (fixed.accuracy - chosen.accuracy) for fixed, chosen in pairs]


def _cells(rows: Sequence[RegretRow]) -> list[_Cell]:
    cells: dict[tuple[str, int], _Cell] = {}
    for row in rows:
        key = row.name, row.examples
        cell = cells.setdefault(key, _Cell(*key, [], {}))
        fixed = cell.fixed
        (cell.chosen if row.chosen else fixed.setdefault(_form(row), [])).append(row)
    return list(cells.values())


def _form(row: RegretRow) -> Form:
    return Form(row.regions, row.hats)


def _mean_percent(rows: Sequence[RegretRow]) -> float:
    return 100 * float(np.mean([row.accuracy for row in rows]))


def tables(rows: Sequence[RegretRow]) -> list[Table]:
    """Return a line for each set and size."""
    head = (
        *("set", "rows", "splits", "default", "1 region, no hats", "best fixed"),
        *("its regions × hats", "regret, points", "chosen regions × hats"),
    )
    note = (
        "Accuracy after consolidate(), mean over the splits; the regret is that of the default "
        "to the fixed setting that is best by this mean, paired, ± its standard error."
    )
    return [Table("18c. Regret of the choice", head, [_line(cell) for cell in _cells(rows)], note)]


def _line(cell: _Cell) -> tuple[str, ...]:
    counts = Counter(map(_form, cell.chosen)).most_common()
    plain = cell.fixed[Form(1, 0)]
    return (
        cell.name,
        f"{cell.examples:,}",
        str(len(cell.chosen)),
        *(percent(_mean_percent(some) / 100) for some in (cell.chosen, plain)),
        percent(_mean_percent(cell.fixed[cell.best]) / 100),
        str(cell.best),
        mean_and_error(cell.regrets),
        "; ".join(f"{each}: {count}" for each, count in counts),
    )


def goals(rows: Sequence[RegretRow]) -> list[Goal]:
    """Return the goal of the mean regret over all sets and sizes."""
    cells = _cells(rows)
    means = {f"{cell.name}, {cell.examples:,}": float(np.mean(cell.regrets)) for cell in cells}
    mean, worst = float(np.mean(list(means.values()))), max(means, key=means.__getitem__)
    measured = f"{mean:.2f} points; most with {worst} rows: {means[worst]:.2f}"
    what = f"mean regret of the choice at most {MOST_POINTS} points"
    return [Goal("forms", what, measured, mean <= MOST_POINTS)]
