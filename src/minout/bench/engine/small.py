"""Few examples per class: our test accuracy and LDA's, paired over seeds."""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from minout.bench.engine.inside import chosen
from minout.bench.engine.lda import lda_predictions
from minout.bench.engine.material import Featured, Material, drawn_per_class
from minout.bench.engine.table import Claim, Table, mean_and_spread
from minout.bench.engine.taught import new_learner, teach
from minout.bench.engine.tell import Tell
from minout.metrics import accuracy

ASKED = {("scattering", 100): 98.2, ("scattering", 10): 93.3, ("raw", 100): 88.0, ("raw", 10): 77.0}


class Small(NamedTuple):
    """Is one seed: so many of each class in label order, consolidated, on the whole test set."""

    seed: int
    features: str
    per_class: int
    accuracy: float
    lda: float
    exceptions: int
    agrees: bool
    chosen: str
    seconds: float


def measure(material: Material, tell: Tell) -> list[Small]:
    """Draws the same examples for both sides, and for both kinds of features."""
    settings = material.settings
    jobs = [
        (features, per_class, seed)
        for features in settings.small_features
        for per_class in settings.small
        for seed in settings.seeds
    ]
    rows = []
    for done, (features, per_class, seed) in enumerate(jobs):
        featured = material.featured(features, tell)
        tell("few per class", done, len(jobs))
        rows.append(_one(featured, features, per_class, seed))
    return rows


def _one(featured: Featured, features: str, per_class: int, seed: int) -> Small:
    drawn = drawn_per_class(featured.labels, per_class, np.random.default_rng(seed))
    rows, labels = featured.rows[drawn], featured.labels[drawn]
    learner = new_learner()
    start = time.perf_counter()
    teach(learner, rows, labels)
    learner.consolidate()
    seconds = time.perf_counter() - start
    return Small(
        seed,
        features,
        per_class,
        accuracy(learner.predict(featured.test_rows), featured.test_labels),
        accuracy(lda_predictions(rows, labels, featured.test_rows), featured.test_labels),
        len(learner.exceptions),
        learner.audit().ok,
        chosen(learner),
        seconds,
    )


def tables(rows: Sequence[Small]) -> list[Table]:
    """Writes a line for each kind of features and size."""
    lines = [
        (
            features,
            str(per_class),
            mean_and_spread([100 * row.accuracy for row in some], " %"),
            mean_and_spread([100 * row.lda for row in some], " %"),
            mean_and_spread(_differences(some)),
            str(max(row.exceptions for row in some)),
            "; ".join(sorted({row.chosen for row in some})),
            mean_and_spread([row.seconds for row in some], " s"),
        )
        for (features, per_class), some in _groups(rows)
    ]
    head = (
        "features",
        "per class",
        "ours",
        "LDA",
        "difference, paired",
        "exceptions",
        "chosen",
        "time",
    )
    note = f"{len({row.seed for row in rows})} seeds; ± is their standard deviation."
    return [Table("4. Few examples per class, consolidated", head, lines, note)]


def claims(rows: Sequence[Small]) -> list[Claim]:
    """Says what the issue asks of each kind of features and size."""
    found = []
    for (features, per_class), some in _groups(rows):
        mean = 100 * float(np.mean([row.accuracy for row in some]))
        least = ASKED.get((features, per_class))
        if least is not None:
            what = f"{features}, {per_class} per class: ≥ {least} %"
            found.append(Claim(4, what, f"{mean:.2f} %", mean >= least))
        if features == "scattering":
            behind = float(np.mean(_differences(some)))
            what = f"{features}, {per_class} per class: not 0.2 below LDA"
            found.append(Claim(4, what, f"{behind:+.2f} points", behind >= -0.2))
    return found


def _differences(rows: Iterable[Small]) -> list[float]:
    return [100 * (row.accuracy - row.lda) for row in rows]


def _groups(rows: Sequence[Small]) -> list[tuple[tuple[str, int], list[Small]]]:
    keys = dict.fromkeys((row.features, row.per_class) for row in rows)
    return [(key, [row for row in rows if (row.features, row.per_class) == key]) for key in keys]
