"""Tables of numbers, one pass in label order, beside models that see all rows at once."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss

from benchmarks import rivals
from benchmarks.data import TABLES, Array, Ints, Split, split_table
from benchmarks.measuring import Options, Table, accuracy, spread, teach, timed, track
from minout import MinoutClassifier

STREAM, OURS, SVM = "stream", "consolidated", "RBF-SVM, tuned"
LOGISTIC, BOOSTING = "logistic, tuned", "boosting"
RIVALS = {
    "SGD": rivals.Sgd,
    "Hoeffding tree": rivals.HoeffdingTree,
    LOGISTIC: rivals.tuned_logistic,
    SVM: rivals.tuned_svm,
    BOOSTING: rivals.boosting,
}


class Run(NamedTuple):
    """One model on one split: accuracy, and its probabilities' log loss and calibration error."""

    table: str
    model: str
    accuracy: float
    seconds: float
    log_loss: float | None = None
    gap: float | None = None


def run(options: Options) -> Iterator[Table]:
    """Yield accuracies, times and the quality of probabilities."""
    names = ("wine",) if options.small else tuple(TABLES)
    rows, splits = (60, 1) if options.small else (1_500, 5)
    jobs = [(name, options.seed + n) for name in names for n in range(splits)]
    found, shapes = [], {}
    for name, seed in track(jobs, "tables"):
        data = split_table(name, seed, rows)
        shapes[name] = f"{name}, {len(data.rows):,} × {data.rows.shape[1]}"
        shapes[name] += f", {len(np.unique(data.labels))} classes"
        found += _measure(name, data)
    models = (STREAM, OURS, *RIVALS)
    yield Table(
        "Accuracy in %, tables of numbers",
        ("table", *(f"minout, {name}" for name in models[:2]), *models[2:]),
        [
            (shapes[name], *(spread(_values(found, name, model, "accuracy")) for model in models))
            for name in names
        ],
        f"Mean ± standard deviation over {splits} splits. minout (default settings, unscaled "
        "columns), SGD and river's Hoeffding tree get one pass in label order; the others all rows "
        "at once. Tuned by 3-fold cross-validation.",
    )
    yield Table(
        "Seconds to learn",
        ("table", *models),
        [
            (name, *(f"{fmean(_values(found, name, model, 'seconds')):.2f}" for model in models))
            for name in names
        ],
    )
    asked = (OURS, LOGISTIC, BOOSTING)
    yield Table(
        "Probabilities: log loss, and expected calibration error in ten bins",
        ("table", *asked),
        [(name, *(_quality(found, name, model) for model in asked)) for name in names],
        "C of logistic regression was tuned for accuracy.",
    )


def calibration_error(probabilities: Array, right: Any, weights: Any = 1.0) -> float:
    """Return the mean gap between the highest probability (n,) and what was right, in ten bins.

    Weights (n,) have the mean 1.
    """
    bins, gaps = np.minimum((10 * probabilities).astype(int), 9), weights * (probabilities - right)
    return float(sum(abs(gaps[bins == each].sum()) for each in range(10)) / len(right))


def _measure(name: str, data: Split) -> Iterator[Run]:
    ours = MinoutClassifier()
    seconds = sum(teach(ours, data.rows, data.labels, name))
    yield Run(name, STREAM, accuracy(ours, data.test_rows, data.test_labels), seconds)
    seconds += timed(ours.consolidate)[0]
    yield _judged(name, OURS, ours, data, seconds)
    for model, fit in RIVALS.items():
        seconds, fitted = timed(fit, data.rows, data.labels)
        yield _judged(name, model, fitted, data, seconds)


def _judged(name: str, model: str, fitted: Any, data: Split, seconds: float) -> Run:
    right = accuracy(fitted, data.test_rows, data.test_labels)
    if model not in (OURS, LOGISTIC, BOOSTING):
        return Run(name, model, right, seconds)
    q = fitted.predict_proba(data.test_rows)
    labels: Ints = data.test_labels
    is_right = fitted.classes_[q.argmax(axis=1)] == labels
    loss = log_loss(labels, q, labels=fitted.classes_)
    return Run(name, model, right, seconds, loss, calibration_error(q.max(axis=1), is_right))


def _values(found: list[Run], table: str, model: str, field: str) -> list[Any]:
    return [getattr(each, field) for each in found if (each.table, each.model) == (table, model)]


def _quality(found: list[Run], table: str, model: str) -> str:
    values = [fmean(_values(found, table, model, field)) for field in ("log_loss", "gap")]
    return f"{values[0]:.3f}, {values[1]:.3f}"
