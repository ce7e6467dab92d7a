"""One pass in label order, nothing tuned, beside tuned models that see all rows at once."""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import SETS, Array, Ints, Split, split_set
from benchmarks.parts import Progress
from benchmarks.rivals import tuned_lda, tuned_logistic
from benchmarks.tables import Goal, Table, mean_and_deviation
from minout.classifier import MinoutClassifier
from minout.metrics import accuracy

FOLDS = 3
BINS = 10
DRAWS = 20


class DatasetRow(NamedTuple):
    """One data set and split: accuracies, and how well the probabilities are calibrated.

    `stream` is the accuracy after one pass, `ours` after consolidate(). `gap` is the expected
    calibration error: the mean distance between confidence and accuracy over ten bins of the
    highest probability, weighted by their rows. `chance` is the gap if the labels were drawn from
    the predicted probabilities. `log_loss` is the mean of -log p of the true class.
    """

    seed: int
    table: str
    examples: int
    columns: int
    classes: int
    seconds: float
    stream: float
    ours: float
    logistic: float
    lda: float
    gap: float
    chance: float
    logistic_gap: float
    log_loss: float
    logistic_log_loss: float


def measure(names: Sequence[str], seeds: Sequence[int], progress: Progress) -> list[DatasetRow]:
    """Measure every data set once per seed."""
    jobs = [(name, seed) for name in names for seed in seeds]
    rows = []
    for done, (name, seed) in enumerate(jobs):
        progress(name, done, len(jobs))
        rows.append(_measure_one(name, seed, split_set(name, seed)))
    return rows


def _measure_one(name: str, seed: int, data: Split) -> DatasetRow:
    ours = MinoutClassifier()
    start = time.perf_counter()
    for x, y in zip(data.rows, data.labels, strict=True):
        ours.partial_fit(x[None], y[None])
    seconds = time.perf_counter() - start
    stream = accuracy(ours.predict(data.test_rows), data.test_labels)
    ours.consolidate()
    P = ours.predict_proba(data.test_rows)
    logistic = tuned_logistic(data.rows, data.labels, folds=FOLDS)
    logistic_P = logistic.predict_proba(data.test_rows)
    lda = tuned_lda(data.rows, data.labels, folds=FOLDS)
    rng = np.random.default_rng(seed)
    true = np.searchsorted(ours.classes_, data.test_labels)
    return DatasetRow(
        seed,
        name,
        len(data.rows),
        data.rows.shape[1],
        len(ours.classes_),
        seconds / len(data.rows),
        stream,
        accuracy(ours.predict(data.test_rows), data.test_labels),
        accuracy(logistic.predict(data.test_rows), data.test_labels),
        accuracy(lda.predict(data.test_rows), data.test_labels),
        calibration_gap(P, true),
        float(np.mean([calibration_gap(P, draw_labels(P, rng)) for _ in range(DRAWS)])),
        calibration_gap(logistic_P, true),
        log_loss(P, true),
        log_loss(logistic_P, true),
    )


def calibration_gap(P: Array, true: Ints) -> float:
    """Return the expected calibration error of P (n, classes) for the true class numbers (n,)."""
    confidence, right = P.max(axis=1), P.argmax(axis=1) == true
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    apart = [abs(float((confidence[bins == k] - right[bins == k]).sum())) for k in range(BINS)]
    return sum(apart) / len(true)


def draw_labels(P: Array, rng: np.random.Generator) -> Ints:
    """Draw a class number for each row of P (n, classes) with the row's probabilities."""
    u = rng.random((len(P), 1))
    return np.asarray((P.cumsum(axis=1) < u).sum(axis=1))


def log_loss(P: Array, true: Ints) -> float:
    """Return the mean of -log p of the true classes; p is at least 1e-15."""
    return float(-np.log(np.maximum(P[np.arange(len(true)), true], 1e-15)).mean())


def tables(rows: Sequence[DatasetRow]) -> list[Table]:
    """Return accuracies and probabilities, the mean over the splits."""
    note = (
        f"Mean ± standard deviation over {len({row.seed for row in rows})} splits, a quarter to "
        "test on. Ours: unscaled, one row at a time, all of one label before the next. The "
        "others: standardised columns, all rows at once, C or shrinkage tuned by "
        f"{FOLDS}-fold cross-validation on the training rows (LDA by SVD, not tuned, from 2,000 "
        "columns on)."
    )
    head = ("table", "rows × columns, classes", "ms per row", "stream", "consolidated")
    first = Table(
        "Accuracy, one pass in label order",
        (*head, "logistic", "LDA"),
        [_accuracy_line(name, some) for name, some in _groups(rows)],
        note,
    )
    second = Table(
        "Probabilities",
        ("table", "gap", "chance", "logistic's gap", "-log p", "logistic's -log p"),
        [_probability_line(name, some) for name, some in _groups(rows)],
        "gap: the distance between confidence and accuracy, over ten bins of the highest "
        "probability (expected calibration error). chance: the gap if the probabilities were "
        "exactly right, by drawing labels from them.",
    )
    return [first, second]


def goals(rows: Sequence[DatasetRow]) -> list[Goal]:
    """Return the goal of each data set, beside the better of the rivals' means."""
    found = []
    for name, some in _groups(rows):
        ours, logistic, lda = np.mean([(r.ours, r.logistic, r.lda) for r in some], axis=0)
        ahead = 100 * float(ours - max(logistic, lda))
        what = f"{name}: within 2 points of the better"
        found.append(Goal("tables", what, f"{ahead:+.1f} points", ahead >= -2.0))
    return found


def _accuracy_line(name: str, some: list[DatasetRow]) -> tuple[str, ...]:
    names = ("stream", "ours", "logistic", "lda")
    accuracies = ([100 * getattr(row, each) for row in some] for each in names)
    return (
        name,
        f"{some[0].examples:,} × {some[0].columns:,}, {some[0].classes}",
        f"{1e3 * np.mean([row.seconds for row in some]):.2f}",
        *(mean_and_deviation(each, " %", digits=1) for each in accuracies),
    )


def _probability_line(name: str, some: list[DatasetRow]) -> tuple[str, ...]:
    names = ("gap", "chance", "logistic_gap", "log_loss", "logistic_log_loss")
    means = (float(np.mean([getattr(row, each) for row in some])) for each in names)
    return (name, *(f"{mean:.3f}" for mean in means))


def _groups(rows: Sequence[DatasetRow]) -> Iterator[tuple[str, list[DatasetRow]]]:
    for name in SETS:
        some = [row for row in rows if row.table == name]
        if some:
            yield name, some
