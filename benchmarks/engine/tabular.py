"""Ordinary tables: unscaled columns, overlapping classes, and scikit-learn's small sets."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import Split, split_set, two_gaussians
from benchmarks.engine.inputs import Inputs
from benchmarks.inside import chosen, misfits
from benchmarks.learners import new_learner, teach
from benchmarks.parts import Progress, no_progress
from benchmarks.rivals import tuned_lda, tuned_svc
from benchmarks.tables import Goal, Table, mean_and_deviation, yes
from minout.metrics import accuracy

FOLDS = 5


class TabularRow(NamedTuple):
    """One table taught in label order, unscaled, beside scikit-learn's tuned linear models.

    `seconds` is the mean per example, `most` the longest; accuracy is after consolidate().
    """

    seed: int
    table: str
    examples: int
    columns: int
    classes: int
    seconds: float
    most: float
    misfits: int
    agrees: bool
    accuracy: float
    svc: float
    lda: float
    chosen: str


def measure(inputs: Inputs, progress: Progress) -> list[TabularRow]:
    """Teach the overlapping Gaussians once, and each small set once per seed of its split."""
    settings = inputs.settings
    inputs.compile(progress)
    rng = np.random.default_rng(settings.seed)
    gaussians = two_gaussians(settings.table_rows, settings.table_test, rng)
    rows = [_measure_one("two Gaussians", settings.seed, gaussians, progress)]
    jobs = [(name, seed) for name in settings.sets for seed in settings.seeds]
    for done, (name, seed) in enumerate(jobs):
        progress("small tables", done, len(jobs))
        rows.append(_measure_one(name, seed, split_set(name, seed), no_progress))
    return rows


def _measure_one(name: str, seed: int, data: Split, progress: Progress) -> TabularRow:
    learner = new_learner(dtype="float64")
    steps = teach(learner, data.rows, data.labels, progress, what=name)
    progress("consolidating", 0, 1)
    learner.consolidate()
    agrees = learner.audit().ok
    progress("scikit-learn, tuned", 0, 1)
    svc = tuned_svc(data.rows, data.labels, folds=FOLDS).predict(data.test_rows)
    lda = tuned_lda(data.rows, data.labels, folds=FOLDS).predict(data.test_rows)
    return TabularRow(
        seed,
        name,
        len(data.rows),
        data.rows.shape[1],
        len(learner.classes),
        float(steps.seconds.mean()),
        float(steps.seconds.max()),
        len(misfits(learner)),
        agrees,
        accuracy(learner.predict(data.test_rows), data.test_labels),
        accuracy(svc, data.test_labels),
        accuracy(lda, data.test_labels),
        chosen(learner),
    )


def tables(rows: Sequence[TabularRow]) -> list[Table]:
    """Return a line for each table, the mean over its splits."""
    head = (
        "table",
        "rows × columns, classes",
        "ms per example",
        "longest",
        "misfits",
        "audit agrees",
        "ours",
        "LinearSVC",
        "LDA",
        "to LinearSVC",
        "to LDA",
        "chosen",
    )
    note = (
        "Label order, consolidated. The Gaussians' columns have scales and offsets from 0.001 to "
        "10,000 and a Bayes error of 10 %. LinearSVC and LDA have standardised columns and C or "
        f"shrinkage tuned by {FOLDS}-fold cross-validation on the training rows."
    )
    lines = [_line(name, some) for name, some in _groups(rows)]
    return [Table("8. Ordinary tables", head, lines, note)]


def _line(name: str, some: list[TabularRow]) -> tuple[str, ...]:
    return (
        name,
        f"{some[0].examples:,} × {some[0].columns}, {some[0].classes}",
        mean_and_deviation([1e3 * row.seconds for row in some], digits=3),
        f"{1e3 * max(row.most for row in some):.0f}",
        mean_and_deviation([float(row.misfits) for row in some], digits=1),
        yes(all(row.agrees for row in some)),
        mean_and_deviation([100 * row.accuracy for row in some], " %"),
        mean_and_deviation([100 * row.svc for row in some], " %"),
        mean_and_deviation([100 * row.lda for row in some], " %"),
        mean_and_deviation([100 * (row.accuracy - row.svc) for row in some]),
        mean_and_deviation([100 * (row.accuracy - row.lda) for row in some]),
        "; ".join(sorted({row.chosen for row in some})),
    )


def goals(rows: Sequence[TabularRow]) -> list[Goal]:
    """Return the goal of each table, beside the better of the rivals' means over the splits."""
    found = []
    for name, some in _groups(rows):
        ours, svc, lda = np.mean([(row.accuracy, row.svc, row.lda) for row in some], axis=0)
        behind = 100 * float(max(svc, lda) - ours)
        what = f"{name}: within 1 point of the better"
        found.append(Goal("tables", what, f"{-behind:+.2f} points", behind <= 1.0))
    return found


def _groups(rows: Sequence[TabularRow]) -> list[tuple[str, list[TabularRow]]]:
    names = dict.fromkeys(row.table for row in rows)
    return [(name, [row for row in rows if row.table == name]) for name in names]
