"""Ordinary tables: unscaled columns, overlapping classes, and scikit-learn's small sets."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout.bench.engine.inside import chosen
from minout.bench.engine.made import Made, overlapping
from minout.bench.engine.material import Material, in_label_order
from minout.bench.engine.table import Claim, Table, mean_and_spread
from minout.bench.engine.taught import teach
from minout.bench.engine.tell import Tell, to_nobody
from minout.bench.engine.tuned import FOLDS, lda_predictions, svc_predictions
from minout.learner import Learner
from minout.metrics import accuracy

TEST_SHARE = 0.25


class Ordinary(NamedTuple):
    """Is one table taught in label order, as it is, beside scikit-learn's tuned linear models.

    `seconds` is the mean per example, `most` the longest; accuracy is after consolidate().
    """

    seed: int
    table: str
    examples: int
    columns: int
    classes: int
    seconds: float
    most: float
    exceptions: int
    agrees: bool
    accuracy: float
    svc: float
    lda: float
    chosen: str


def measure(material: Material, tell: Tell) -> list[Ordinary]:
    """Teaches the overlapping Gaussians once, and each small set once per seed of its split."""
    settings = material.settings
    material.warm_up(tell)
    rng = np.random.default_rng(settings.seed)
    made = overlapping(settings.table_rows, settings.table_test, rng)
    rows = [_one("two Gaussians", settings.seed, made, tell)]
    jobs = [(name, seed) for name in settings.sets for seed in settings.seeds]
    for done, (name, seed) in enumerate(jobs):
        tell("small tables", done, len(jobs))
        rows.append(_one(name, seed, _small_set(name, seed), to_nobody))
    return rows


def _one(name: str, seed: int, made: Made, tell: Tell) -> Ordinary:
    learner = Learner()
    taught = teach(learner, made.rows, made.labels, tell, what=name)
    tell("consolidating", 0, 1)
    learner.consolidate()
    agrees = learner.audit().ok
    tell("scikit-learn, tuned", 0, 1)
    svc = svc_predictions(made.rows, made.labels, made.test_rows)
    lda = lda_predictions(made.rows, made.labels, made.test_rows)
    return Ordinary(
        seed,
        name,
        len(made.rows),
        made.rows.shape[1],
        len(learner.classes),
        float(taught.seconds.mean()),
        float(taught.seconds.max()),
        len(learner.exceptions),
        agrees,
        accuracy(learner.predict(made.test_rows), made.test_labels),
        accuracy(svc, made.test_labels),
        accuracy(lda, made.test_labels),
        chosen(learner),
    )


def _small_set(name: str, seed: int) -> Made:
    import sklearn.datasets
    from sklearn.model_selection import train_test_split

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    rows, test_rows, labels, test_labels = train_test_split(
        X, y.astype(np.int64), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    order = in_label_order(labels)
    return Made(rows[order], labels[order], test_rows, test_labels)


def tables(rows: Sequence[Ordinary]) -> list[Table]:
    """Writes a line for each table, the mean over its splits."""
    lines = []
    for name, some in _groups(rows):
        behind_svc = [100 * (row.accuracy - row.svc) for row in some]
        behind_lda = [100 * (row.accuracy - row.lda) for row in some]
        lines.append(
            (
                name,
                f"{some[0].examples:,} × {some[0].columns}, {some[0].classes}",
                mean_and_spread([1e3 * row.seconds for row in some], digits=3),
                f"{1e3 * max(row.most for row in some):.0f}",
                mean_and_spread([float(row.exceptions) for row in some], digits=1),
                "yes" if all(row.agrees for row in some) else "NO",
                mean_and_spread([100 * row.accuracy for row in some], " %"),
                mean_and_spread([100 * row.svc for row in some], " %"),
                mean_and_spread([100 * row.lda for row in some], " %"),
                mean_and_spread(behind_svc),
                mean_and_spread(behind_lda),
                "; ".join(sorted({row.chosen for row in some})),
            )
        )
    head = (
        "table",
        "rows × columns, classes",
        "ms per example",
        "longest",
        "exceptions",
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
    return [Table("8. Ordinary tables", head, lines, note)]


def claims(rows: Sequence[Ordinary]) -> list[Claim]:
    """Says what the issue asks of each table: the better of the two means, not of each split."""
    found = []
    for name, some in _groups(rows):
        ours, svc, lda = np.mean([(row.accuracy, row.svc, row.lda) for row in some], axis=0)
        behind = 100 * float(max(svc, lda) - ours)
        what = f"{name}: within 1 point of the better"
        found.append(Claim(8, what, f"{-behind:+.2f} points", behind <= 1.0))
    return found


def _groups(rows: Sequence[Ordinary]) -> list[tuple[str, list[Ordinary]]]:
    names = dict.fromkeys(row.table for row in rows)
    return [(name, [row for row in rows if row.table == name]) for name in names]
