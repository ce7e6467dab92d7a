"""Large pools: the time of a solve beside the rows that changed sides, and one from scratch."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.engine.inputs import Inputs
from benchmarks.inside import LargePool
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, ms

JOINED = (1, 10, 100)
"""So many rows with a low margin join the pool before it is solved again."""
APART = 1.28
"""Each class is so far from the middle: the best classifier is wrong on a tenth."""


class SettleRow(NamedTuple):
    """A pool that rows joined: median seconds to solve it again, and without what it keeps.

    `inside` rows have α > 0 in the end; `changed` rows had another α before, 0 or not 0.
    """

    columns: int
    pool: int
    inside: int
    joined: int
    changed: int
    seconds: float
    scratch_seconds: float


def measure(inputs: Inputs, progress: Progress) -> list[SettleRow]:
    """Solve two overlapping Gaussians, and again when rows have joined."""
    settings = inputs.settings
    inputs.compile(progress)
    rows = []
    for columns in settings.pool_columns:
        rng = np.random.default_rng(settings.seed)
        signs = np.where(np.arange(2 * settings.pool) % 2, 1.0, -1.0)
        table = rng.standard_normal((len(signs), columns)).astype(np.float32)
        table[:, 0] += APART * signs
        large = LargePool(table, signs, settings.pool)
        for joined in JOINED:
            progress("settles", len(rows), len(JOINED) * len(settings.pool_columns))
            large.solve(joined)  # not counted: something may be compiled
            times = [large.solve(joined) for _ in range(settings.repeats)]
            found, seconds = times[0], [median(each) for each in zip(*times, strict=True)][-2:]
            rows.append(
                SettleRow(columns, settings.pool, found.inside, joined, found.changed, *seconds)
            )
    return rows


def tables(rows: Sequence[SettleRow]) -> list[Table]:
    """Return a line for each number of columns and of rows that joined."""
    head = ("columns", "pool", "α > 0", "joined", "changed sides", "ms", "from scratch", "ratio")
    lines = [
        (
            f"{row.columns:,}",
            f"{row.pool:,}",
            f"{row.inside:,}",
            f"{row.joined:,}",
            f"{row.changed:,}",
            ms(row.seconds),
            ms(row.scratch_seconds),
            f"{row.seconds / row.scratch_seconds:.2f}",
        )
        for row in rows
    ]
    note = "Medians, in turns. Two Gaussians that overlap, float32; the pool is solved for w."
    return [Table("13. A pool that rows join", head, lines, note)]


def goals(rows: Sequence[SettleRow]) -> list[Goal]:
    """Return the goal: in many columns, a settle of few rows is much cheaper than from scratch."""
    wide = max(row.columns for row in rows)
    few = min((row for row in rows if row.columns == wide), key=lambda row: row.changed)
    ratio = few.seconds / few.scratch_seconds
    goal = f"{wide} columns, few rows change sides: at most a quarter of a solve from scratch"
    return [Goal("settle", goal, f"{ratio:.2f}", ratio <= 0.25)]
