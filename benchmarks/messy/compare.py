"""One pass in label order over tables as they are, beside pipelines that see all rows at once."""

import resource
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.measuring import in_fresh_process, resident_mb
from benchmarks.messy.data import split_table
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mb, mean_and_deviation
from minout.classifier import MinoutClassifier
from minout.metrics import accuracy

BATCH = 100
MODELS = ("stream", "ours", "logistic", "boosting")
POINT = 0.01


class MessyRow(NamedTuple):
    """One model on one table and split; memory is the growth of a fresh process, at its peak."""

    seed: int
    table: str
    model: str
    examples: int
    columns: int
    accuracy: float
    seconds: float
    megabytes: float | None


def measure(
    names: Sequence[str], seeds: Sequence[int], rows: int, progress: Progress
) -> list[MessyRow]:
    """Measure every model on every table, each in a fresh process."""
    jobs = [(name, seed, model) for name in names for seed in seeds for model in MODELS]
    found = []
    for done, job in enumerate(jobs):
        progress(f"{job[0]}, {job[2]}", done, len(jobs))
        found.append(in_fresh_process(_measure_one, *job, rows, progress=progress))
    return found


def _measure_one(name: str, seed: int, model: str, rows: int, _progress: Progress) -> MessyRow:
    data = split_table(name, seed, rows)
    few = slice(None, None, 20)
    _predicted(_fitted(model, data.rows[few], data.labels[few]), data.test_rows[:5])  # compiles
    before, start = resident_mb(), time.perf_counter()
    fitted = _fitted(model, data.rows, data.labels)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return MessyRow(
        seed,
        name,
        model,
        len(data.rows),
        data.rows.shape[1],
        accuracy(_predicted(fitted, data.test_rows), data.test_labels),
        seconds,
        None if before is None else max(peak - before, 0.0),
    )


def _fitted(model: str, X: Any, y: Any) -> Any:
    if model == "logistic":
        return _pipeline(LogisticRegression(max_iter=2_000)).fit(X, y)
    if model == "boosting":
        return _pipeline(HistGradientBoostingClassifier(random_state=0)).fit(X, y)
    ours = MinoutClassifier()
    for n in range(0, len(y), BATCH):
        ours.partial_fit(X[n : n + BATCH], y[n : n + BATCH])
    if model == "ours":
        ours.consolidate()
    return ours


def _predicted(fitted: Any, X: Any) -> Any:
    with warnings.catch_warnings():
        # A value that only the rows to test on have; every model counts it as none.
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        return fitted.predict(X)


def _pipeline(estimator: Any) -> Any:
    # skrub's TableVectorizer, with what skrub puts between it and this kind of estimator.
    from skrub import tabular_pipeline

    return tabular_pipeline(estimator)


def tables(rows: Sequence[MessyRow]) -> list[Table]:
    """Return accuracy, seconds and memory of every model, the mean over the splits."""
    lines = []
    for name, some in _groups(rows):
        for model in MODELS:
            of = [row for row in some if row.model == model]
            memory = [row.megabytes for row in of if row.megabytes is not None]
            lines.append(
                (
                    f"{name}, {of[0].examples:,} × {of[0].columns}",
                    model,
                    mean_and_deviation([100 * row.accuracy for row in of], " %"),
                    f"{np.mean([row.seconds for row in of]):.2f}",
                    mb(float(np.mean(memory)) if memory else None),
                )
            )
    note = (
        f"Mean ± standard deviation over {len({row.seed for row in rows})} splits, half to test "
        "on; a fifth of all cells is missing. stream: one pass in the order of the labels, "
        f"{BATCH} rows a call; ours: and consolidated. logistic and boosting: logistic regression "
        "and HistGradientBoosting behind skrub's TableVectorizer, put together by its "
        "tabular_pipeline; both get all rows at once. Memory: by how much a fresh process grew at "
        "its peak."
    )
    head = ("table", "model", "accuracy", "seconds", "memory")
    return [Table("Tables as they are", head, lines, note)]


def goals(rows: Sequence[MessyRow]) -> list[Goal]:
    """Return the goal of each table: not below logistic regression by more than a point."""
    found = []
    for name, some in _groups(rows):
        of = {
            model: float(np.mean([row.accuracy for row in some if row.model == model]))
            for model in ("ours", "logistic")
        }
        apart = of["ours"] - of["logistic"]
        goal = "at most 1 point below logistic regression"
        found.append(Goal(name, goal, f"{100 * apart:+.2f} points", apart >= -POINT))
    return found


def _groups(rows: Sequence[MessyRow]) -> Iterator[tuple[str, list[MessyRow]]]:
    for name in dict.fromkeys(row.table for row in rows):
        yield name, [row for row in rows if row.table == name]
