"""Expected accuracy, from leaving stored examples out, beside accuracy on held-out rows."""

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np

from benchmarks.data import Split, images, label_order, replace_labels, scattering, split_table
from benchmarks.measuring import Options, Table, accuracy, timed, track
from minout import MinoutClassifier

SETS = ("iris", "wine", "breast cancer", "digits", "20 classes", "two Gaussians", "moons")
WRONG = 0.05
Draw = Callable[[int, int], Split]
"""Draws rows of a size with a seed."""


class Run(NamedTuple):
    """One split: what is expected, its interval, and what is held out; None if none is given."""

    expected: tuple[float, float, float] | None
    held_out: float
    seconds: float


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each set and size."""
    sizes, splits = ((40,), 1) if options.small else ((40, 100, 400, 1_000), 5)
    draws = _draws(options)
    jobs = [(name, size) for name in draws for size in sizes]
    rows, longest = [], 0.0
    for name, size in track(jobs, "expected accuracy"):
        data = draws[name](size, options.seed)
        if len(data.labels) < size:
            continue
        runs = [_measure(draws[name](size, options.seed + n)) for n in range(splits)]
        longest = max(longest, *(each.seconds for each in runs))
        shape = f"{len(data.rows):,} × {data.rows.shape[1]:,}, {len(np.unique(data.labels))}"
        rows.append((name, shape, *_cells(runs)))
    yield Table(
        "Expected and held-out accuracy",
        (
            *("set", "rows × columns, classes", "expected", "held out", "difference, points"),
            *("held out in the 95 % interval", "none given"),
        ),
        rows,
        f"Means over those of {splits} splits for which an estimate is given. Consolidated, "
        f"default settings. The longest estimate took {longest:.2f} s.",
    )


def _draws(options: Options) -> dict[str, Draw]:
    def table(name: str) -> Draw:
        return lambda size, seed: split_table(name, seed, size)

    def wrong(size: int, seed: int) -> Split:
        data, rng = split_table("digits", seed, size), np.random.default_rng(seed)
        given = replace_labels(data.labels, WRONG, rng)
        data = data._replace(labels=given, test_labels=replace_labels(data.test_labels, WRONG, rng))
        return data.reordered(label_order(given))

    def pixels(size: int, seed: int) -> Split:
        return images(options._replace(seed=seed), size // 10)

    names = ("wine",) if options.small else SETS
    found: dict[str, Draw] = {name: table(name) for name in names}
    found |= {f"digits, {WRONG:.0%} wrong labels": wrong, "images, pixels": pixels}
    if not options.small:
        found["images, scattering"] = lambda size, seed: scattering(pixels(size, seed))
    return found


def _measure(data: Split) -> Run:
    model = MinoutClassifier().fit(data.rows, data.labels)
    seconds, found = timed(model.expected_accuracy)
    given = None if np.isnan(found.accuracy) else (found.accuracy, found.low, found.high)
    return Run(given, accuracy(model, data.test_rows, data.test_labels), seconds)


def _cells(runs: list[Run]) -> tuple[str, ...]:
    given = [each for each in runs if each.expected is not None]
    none = f"{len(runs) - len(given)} of {len(runs)}"
    if not given:
        return "–", f"{100 * fmean(each.held_out for each in runs):.1f} %", "–", "–", none
    expected = fmean(each.expected[0] for each in given)
    held_out = fmean(each.held_out for each in given)
    holds = sum(each.expected[1] <= each.held_out <= each.expected[2] for each in given)
    return (
        f"{100 * expected:.1f} %",
        f"{100 * held_out:.1f} %",
        f"{100 * (expected - held_out):+.1f}",
        f"{holds} of {len(given)}",
        none,
    )
