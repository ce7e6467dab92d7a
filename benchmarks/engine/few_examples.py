"""Few examples per class: our test accuracy and LDA's, paired over seeds."""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.engine.inputs import FeatureSet, Inputs, draw_per_class
from benchmarks.inside import chosen, misfits
from benchmarks.learners import new_learner, teach
from benchmarks.parts import Progress
from benchmarks.rivals import streaming_lda
from benchmarks.tables import Goal, Table, mean_and_deviation
from minout.metrics import accuracy

LEAST_PERCENT = {
    ("scattering", 100): 98.2,
    ("scattering", 10): 93.3,
    ("raw", 100): 88.0,
    ("raw", 10): 77.0,
}


class FewRow(NamedTuple):
    """One seed: `per_class` examples in label order, consolidated, on the whole test set."""

    seed: int
    features: str
    per_class: int
    accuracy: float
    lda: float
    misfits: int
    agrees: bool
    chosen: str
    seconds: float


def measure(inputs: Inputs, progress: Progress) -> list[FewRow]:
    """Measure both models on the same examples, for each kind of features, size and seed."""
    settings = inputs.settings
    jobs = [
        (features, per_class, seed)
        for features in settings.small_features
        for per_class in settings.small
        for seed in settings.seeds
    ]
    rows = []
    for done, (features, per_class, seed) in enumerate(jobs):
        data = inputs.features(features, progress)
        progress("few per class", done, len(jobs))
        rows.append(_measure_one(data, features, per_class, seed))
    return rows


def _measure_one(data: FeatureSet, features: str, per_class: int, seed: int) -> FewRow:
    drawn = draw_per_class(data.labels, per_class, np.random.default_rng(seed))
    rows, labels = data.rows[drawn], data.labels[drawn]
    learner = new_learner()
    start = time.perf_counter()
    teach(learner, rows, labels)
    learner.consolidate()
    seconds = time.perf_counter() - start
    return FewRow(
        seed,
        features,
        per_class,
        accuracy(learner.predict(data.test_rows), data.test_labels),
        accuracy(streaming_lda(rows, labels, data.test_rows), data.test_labels),
        len(misfits(learner)),
        learner.audit().ok,
        chosen(learner),
        seconds,
    )


def tables(rows: Sequence[FewRow]) -> list[Table]:
    """Return a line for each kind of features and size."""
    lines = [
        (
            features,
            str(per_class),
            mean_and_deviation([100 * row.accuracy for row in some], " %"),
            mean_and_deviation([100 * row.lda for row in some], " %"),
            mean_and_deviation(_differences(some)),
            str(max(row.misfits for row in some)),
            "; ".join(sorted({row.chosen for row in some})),
            mean_and_deviation([row.seconds for row in some], " s"),
        )
        for (features, per_class), some in _groups(rows)
    ]
    first = ("features", "per class", "ours", "LDA", "difference, paired")
    note = f"{len({row.seed for row in rows})} seeds; ± is their standard deviation."
    title = "4. Few examples per class, consolidated"
    return [Table(title, (*first, "misfits", "chosen", "time"), lines, note)]


def goals(rows: Sequence[FewRow]) -> list[Goal]:
    """Return the goals of each kind of features and size."""
    found = []
    for (features, per_class), some in _groups(rows):
        mean = 100 * float(np.mean([row.accuracy for row in some]))
        least = LEAST_PERCENT.get((features, per_class))
        if least is not None:
            what = f"{features}, {per_class} per class: ≥ {least} %"
            found.append(Goal("small", what, f"{mean:.2f} %", mean >= least))
        if features == "scattering":
            ahead = float(np.mean(_differences(some)))
            what = f"{features}, {per_class} per class: not 0.2 below LDA"
            found.append(Goal("small", what, f"{ahead:+.2f} points", ahead >= -0.2))
    return found


def _differences(rows: Iterable[FewRow]) -> list[float]:
    return [100 * (row.accuracy - row.lda) for row in rows]


def _groups(rows: Sequence[FewRow]) -> list[tuple[tuple[str, int], list[FewRow]]]:
    keys = dict.fromkeys((row.features, row.per_class) for row in rows)
    return [(key, [row for row in rows if (row.features, row.per_class) == key]) for key in keys]
