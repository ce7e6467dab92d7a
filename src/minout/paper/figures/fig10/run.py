"""The exact engine with more and more regions per label: what each step concerns.

Half of the rows are stored and consolidated. The others are taught one by one in random order. No
refresh happens meanwhile, so each step moves only the separators in which its example needs it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from minout import streams
from minout._typing import Floats, Ints
from minout.learner import Learner
from minout.metrics import accuracy
from minout.paper.figures.fig10.clouds import Clouds, generate
from minout.paper.figures.task import Source, Task
from minout.results import Row, row

DATA = ("clouds", "digits")
CLOUDS = Clouds()


@dataclass(frozen=True)
class Settings:
    """The numbers of regions per label, the generated data, how many rows, and the most seeds.

    `rows` are taught, half of them before the measurement; of the digits, all or as many. The
    generated test rows are as many again.
    """

    regions: tuple[int, ...] = (1, 2, 4, 8, 16)
    clouds: Clouds = CLOUDS
    rows: int = 1_500
    most_seeds: int = 3


PAPER = Settings()
TESTING = Settings(regions=(1, 4), clouds=Clouds(count=8, labels=2, columns=2), rows=300)
LEARNER = {"C": 1.0, "whiten": False, "lda_prior": True, "standardize": False, "expand": None}


class Point(NamedTuple):
    """The settings of one task."""

    data: str
    regions: int
    clouds: Clouds
    rows: int


class Table(NamedTuple):
    """Rows to teach, in order, and test rows."""

    rows: Floats
    labels: Ints
    test_rows: Floats
    test_labels: Ints


def plan(settings: Settings, seeds: int) -> list[Task]:
    """Return a run for each data set, number of regions and seed; the longest come first."""
    return [
        Task(Point(data, regions, settings.clouds, settings.rows), seed)
        for data in DATA
        for regions in sorted(settings.regions, reverse=True)
        for seed in range(min(seeds, settings.most_seeds))
    ]


def perform(task: Task, source: Source) -> Row:
    """Teach one stream and measure each step that moves something; `source` is not used."""
    del source
    point: Point = task.settings
    table = tabled(point, task.seed)
    learner = Learner(regions=point.regions, refresh="manual", **LEARNER)  # type: ignore[arg-type]
    half = len(table.rows) // 2
    learner.teach_many(table.rows[:half], table.labels[:half].tolist())
    learner.consolidate()
    units = sum(len(each) for each in learner.regions().values())
    steps = list(measured(learner, table.rows[half:], table.labels[half:].tolist()))
    at_risk, checked = np.array(steps, dtype=np.float64).reshape(-1, 2).T
    values = {
        "units": units,
        "steps": len(steps),
        "taught": len(table.rows) - half,
        "at_risk": round(float(at_risk.mean()), 6),
        "checked": round(float(checked.mean()), 6),
        "train": accuracy(learner.predict(table.rows), table.labels),
        "test": accuracy(learner.predict(table.test_rows), table.test_labels),
        "misfits": len(learner.misfits),
        "unclipped": round(unclipped(learner, table.rows), 6),
    }
    told = {**asdict(point.clouds), **LEARNER, "data": point.data, "regions": point.regions}
    return row("fig10", {**told, "rows": len(table.rows)}, task.seed, values)


def tabled(point: Point, seed: int) -> Table:
    """Return the rows of one run: a seed draws the clouds, or shuffles the digits."""
    if point.data == "clouds":
        X, y = generate(point.clouds, 2 * point.rows, seed)
        return Table(X[: point.rows], y[: point.rows], X[point.rows :], y[point.rows :])
    digits = streams.digits()
    order = np.random.default_rng(seed).permutation(len(digits.rows))[: point.rows]
    return Table(digits.rows[order], digits.labels[order], digits.test_rows, digits.test_labels)


def measured(
    learner: Learner, rows: Floats, labels: Sequence[int]
) -> Iterator[tuple[float, float]]:
    """Teach rows; yield what each step that moves something concerns, per stored example.

    First the examples whose outputs it could change, then the margins that it checked.
    """
    for x, y in zip(rows, labels, strict=True):
        stored, found = len(learner), learner.what_if(x, y)
        certificate = learner.teach(x, y).certificate
        if certificate.moved:
            yield len(found.interfered) / stored, certificate.checked / (stored + 1)


def unclipped(learner: Learner, rows: Floats) -> float:
    """Return the mean number of regions with an output at a row, of whatever label."""
    names = [(y, i) for y, each in learner.regions().items() for i in range(len(each))]
    least = np.full((len(names), len(rows)), np.inf)
    for n, (a, i) in enumerate(names):
        for m, (b, j) in enumerate(names[:n]):
            if a != b:
                weights, bias, _ = learner.separator(a, b, regions=(i, j))
                margins = rows @ weights + bias
                np.minimum(least[n], margins, out=least[n])
                np.minimum(least[m], -margins, out=least[m])
    return float((least > 0.0).sum(axis=0).mean())
