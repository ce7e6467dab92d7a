"""Expected accuracy, from leaving stored examples out, beside accuracy on held-out rows."""

from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np

from benchmarks.data import Split
from benchmarks.measuring import Options, Table, track
from benchmarks.sets import classifier, drawn, load, weights_to_test

SETS = (
    *("digits", "scattering", "pixels", "emoji vectors"),
    *("reviews", "activities", "emoji", "movies", "force", "loans"),
)
SMALL_SETS = ("wine", "few docstrings", "drawn table")
FEW = 300
"""Cells with fewer rows are drawn 20 times, others five times."""


class Run(NamedTuple):
    """One draw: expected accuracy, NaN if none is given, and accuracy on the test rows."""

    expected: float
    held_out: float
    reliable: bool
    holds: bool


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each set and number of rows a class, and one for all."""
    names, sizes = (SMALL_SETS, (10,)) if options.small else (SETS, (10, 100))
    rows, cells = [], []
    for name, each in track([(name, each) for name in names for each in sizes], "expected"):
        data = load(name, options.data)
        first = drawn(data, each, options.seed)
        draws = 1 if options.small else 20 if len(first.labels) < FEW else 5
        splits = (drawn(data, each, options.seed + n) for n in range(draws))
        cells.append([_measure(split) for split in splits])
        shape = f"{len(first.labels):,}, {len(np.unique(first.labels))}"
        rows.append((f"{name}, {each}", shape, *_words(cells[-1])))
    runs = [each for cell in cells for each in cell]
    errors = [_error(cell) for cell in cells if _given(cell)]
    worst = f"{fmean(errors):.1f} (worst {max(errors):.1f})" if errors else "–"
    yield Table(
        "Expected and held-out accuracy",
        (
            *("set, rows a class at most", "rows learned, classes", "expected", "held out"),
            *("difference of the means, points", "reliable", "held out in the 95 % interval"),
        ),
        [
            *rows,
            ("all", "", "", "", worst, _share(runs, "reliable"), _share(_given(runs), "holds")),
        ],
        f"Means over 20 draws, over 5 from {FEW} rows on. Default settings. Test rows, at most "
        "3,000, are weighted so that classes have the shares they have in the rows learned. The "
        "interval is widened by the sampling of the test rows: each half of it is the root of the "
        "sum of its square and of that of 1.96 standard errors of the held-out accuracy. Draws "
        "without an estimate count only as not reliable.",
    )


def _measure(split: Split) -> Run:
    model, weights = classifier(split.rows).fit(split.rows, split.labels), weights_to_test(split)
    found = model.expected_accuracy()
    held_out = float(weights @ (model.predict(split.test_rows) == split.test_labels))
    noise = 1.96**2 * held_out * (1 - held_out) * float(weights @ weights)
    end = found.low if held_out < found.accuracy else found.high
    holds = (held_out - found.accuracy) ** 2 <= (end - found.accuracy) ** 2 + noise
    return Run(found.accuracy, held_out, found.reliable, bool(holds))


def _given(runs: list[Run]) -> list[Run]:
    return [each for each in runs if not np.isnan(each.expected)]


def _error(runs: list[Run]) -> float:
    return 100 * abs(fmean(each.expected - each.held_out for each in _given(runs)))


def _share(runs: list[Run], field: str) -> str:
    return f"{sum(getattr(each, field) for each in runs)} of {len(runs)}"


def _words(runs: list[Run]) -> tuple[str, ...]:
    given = _given(runs)
    words = ("–", f"{100 * fmean(each.held_out for each in given or runs):.1f} %", "–")
    if given:
        expected = f"{100 * fmean(each.expected for each in given):.1f} %"
        words = (expected, words[1], f"{_error(runs):.1f}")
    return *words, _share(runs, "reliable"), _share(given, "holds")
