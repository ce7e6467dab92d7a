"""What one more example costs as the memory grows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout.bench.engine.material import Material
from minout.bench.engine.table import Claim, Table, ms
from minout.bench.engine.taught import WITH_METRIC, Taught, new_learner, teach
from minout.bench.engine.tell import Tell


class Growth(NamedTuple):
    """Is the cost of the last `window` examples before `stored` were there, in seconds.

    `mean` counts the refreshes that fell into the window, `mean_between` leaves them out. They come
    each time the memory has doubled, so `refreshes_spread` divides all of them so far by all
    examples so far: what they cost each example in the long run.
    """

    order: str
    stored: int
    window: int
    mean: float
    mean_between: float
    refreshes_spread: float
    median: float
    p99: float
    maximum: float
    moved: int
    refreshes: int

    @property
    def long_run(self) -> float:
        """Is the mean with refreshes spread over all examples."""
        return self.mean_between + self.refreshes_spread


def measure(material: Material, tell: Tell) -> list[Growth]:
    """Teaches everything in random order: every window then holds all classes."""
    settings = material.settings
    featured = material.featured(settings.features, tell)
    material.warm_up(tell)
    order = np.random.default_rng(settings.seed).permutation(len(featured.labels))
    order = order[: max((stored for stored, _ in settings.grown), default=0)]
    taught = teach(
        new_learner(WITH_METRIC),
        featured.rows[order],
        featured.labels[order],
        tell,
        what="shuffled stream",
    )
    return grown("shuffled", taught, settings.grown)


def grown(order: str, taught: Taught, windows: Sequence[tuple[int, int]]) -> list[Growth]:
    """Reads the cost of one example off a stream, at each size that it reached."""
    n = len(taught.seconds)
    return [_at(order, taught, stored, window) for stored, window in windows if stored <= n]


def _at(order: str, taught: Taught, stored: int, window: int) -> Growth:
    last = slice(max(stored - window, 0), stored)
    seconds, refreshed = taught.seconds[last], taught.refreshed[last]
    all_refreshes = taught.seconds[:stored][taught.refreshed[:stored]].sum()
    return Growth(
        order,
        stored,
        len(seconds),
        float(seconds.mean()),
        float(seconds[~refreshed].sum() / max(np.count_nonzero(~refreshed), 1)),
        float(all_refreshes / stored),
        float(np.median(seconds)),
        float(np.percentile(seconds, 99)),
        float(seconds.max()),
        int(np.count_nonzero(taught.moved[last])),
        int(refreshed.sum()),
    )


def tables(rows: Sequence[Growth]) -> list[Table]:
    """Writes a line for each size."""
    lines = [
        (
            row.order,
            f"{row.stored:,}",
            f"{row.window:,}",
            ms(row.mean),
            ms(row.mean_between),
            ms(row.refreshes_spread),
            ms(row.median),
            ms(row.p99),
            ms(row.maximum),
            f"{row.moved} / {row.refreshes}",
        )
        for row in rows
    ]
    head = (
        "order",
        "stored",
        "window",
        "mean",
        "without refreshes",
        "refreshes, spread",
        "median",
        "99 %",
        "maximum",
        "moved / refreshes",
    )
    note = (
        "Milliseconds per example, over the last examples before that many were stored. A refresh "
        "comes when the memory has doubled; spread: all so far over all examples so far. "
        "In label order MNIST's first 5,923 are one class, so growth is judged by the shuffled one."
    )
    return [Table("3. Cost of one example", head, lines, note)] if rows else []


def claims(rows: Sequence[Growth]) -> list[Claim]:
    """Says what the issue asks of growth, from the least to the most stored."""
    first, last = rows[0], rows[-1]
    return [
        Claim(
            3,
            "the mean does not grow",
            f"{ms(first.long_run)} → {ms(last.long_run)} ms, refreshes spread",
            last.long_run <= first.long_run,
        ),
        Claim(
            3,
            "the 99th percentile grows by less than 4",
            f"{ms(first.p99)} → {ms(last.p99)} ms, × {last.p99 / first.p99:.1f}",
            last.p99 < 4 * first.p99,
        ),
    ]
