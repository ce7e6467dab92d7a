"""Small tables: the whole of `fit`, one row taught, rows predicted, beside scikit-learn."""

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.data import Array, Ints, Rng, blobs, embeddings
from benchmarks.measuring import Options, Table, track
from minout import Learner, MinoutClassifier

OTHERS: dict[str, Callable[[], Any]] = {
    "SVC": SVC,
    "LogisticRegression, scaled": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "HistGradientBoosting": HistGradientBoostingClassifier,
}
TOGETHER = 50  # so many calls are timed at once, because the clock itself takes half a microsecond


class Goal(NamedTuple):
    """What was measured, and the most that it may be."""

    what: str
    value: float
    most: float
    unit: str

    @property
    def line(self) -> tuple[str, ...]:
        """The row of a table."""
        unit = f" {self.unit}".rstrip()
        is_met = "met" if self.value <= self.most else "missed"
        return self.what, f"{self.value:,.3g}{unit}", f"{self.most:g}{unit}", is_met


class Size(NamedTuple):
    """Rows to predict: their classes and columns, and the goals for one row and for batches."""

    classes: int
    columns: int
    microseconds: float
    ratio: float


SIZES = (Size(10, 2_032, 30.0, 2.0), Size(150, 384, 80.0, 4.0))
SMALL = (Size(10, 40, 30.0, 2.0), Size(12, 20, 80.0, 4.0))


def run(options: Options) -> Iterator[Table]:
    """Yield whole fits, and then single calls and predictions with their goals."""
    with threadpool_limits(1):
        yield _fits(options)
        yield _goals(options)


def _fits(options: Options) -> Table:
    turns, lines, models = 1 if options.small else 5, [], {"minout": MinoutClassifier} | OTHERS
    for name, X, y in _tables(options):
        for make in models.values():
            make().fit(X[:50], y[:50])  # loads modules
        taken = [[_spent(make().fit, X, y) for make in models.values()] for _ in range(turns)]
        cpu, wall = np.median(taken, axis=0).T
        ratios = zip(cpu[0] / cpu[1:], wall[0] / wall[1:], strict=True)
        shown = (f"{c:.2f}, {w:.2f}" for c, w in ratios)
        lines.append((f"{name}, {len(X):,} × {X.shape[1]}", f"{cpu[0]:.2f}, {wall[0]:.2f}", *shown))
    return Table(
        "The whole of `fit`",
        ("table", "minout, seconds", *(f"minout / {name}" for name in OTHERS)),
        lines,
        "CPU time, and wall time. All have their default settings; minout chooses its own from the "
        f"data, and consolidates. Medians of {turns} fits each, in turns, one thread for BLAS and "
        "OpenMP. No goals.",
    )


def _tables(options: Options) -> Iterator[tuple[str, Array, Ints]]:
    X, y = load_breast_cancer(return_X_y=True)
    if options.small:
        yield "breast cancer", X[:60], y[:60]
        return
    yield "breast cancer", X, y
    yield "digits", *load_digits(return_X_y=True)
    made = {"n_informative": 10, "n_classes": 3, "random_state": options.seed}
    yield "made", *make_classification(10_000, 20, **made)


def _goals(options: Options) -> Table:
    rng = np.random.default_rng(options.seed)
    sizes = SMALL if options.small else SIZES
    found = [*_fit_of_1000(options, rng), *_taught(options, rng)]
    for size in track(sizes, "sizes"):
        found += _predicted(size, options, rng)
    return Table(
        "Goals",
        ("what", "measured", "goal", ""),
        [each.line for each in found],
        f"CPU time, one BLAS thread. Single calls: the median of means of {TOGETHER} calls. "
        "Batches beside `LogisticRegression.predict` of the same rows, in turns. Classes of the "
        "rows taught are far apart, so that nothing moves; rows predicted are like text "
        "embeddings, in float64.",
    )


def _fit_of_1000(options: Options, rng: Rng) -> Iterator[Goal]:
    rows, turns = (60, 1) if options.small else (1_000, 5)
    for name, distance in (("far apart", 30.0), ("overlapping", 3.0)):
        X, y = blobs(3, 20, distance, rows, rng)
        seconds = median(_spent(MinoutClassifier().fit, X, y)[0] for _ in range(turns))
        yield Goal(f"`fit`, {rows:,} × 20, 3 classes, {name}", seconds, 0.3, "s")


def _taught(options: Options, rng: Rng) -> Iterator[Goal]:
    stored, calls = (200, 100) if options.small else (4_200, 3_000)
    X, y = blobs(3, 20, 30.0, stored + calls, rng)
    labels, learner, model = y.tolist(), Learner(), MinoutClassifier()
    learner.teach_many(X[:stored], labels[:stored])
    model.partial_fit(X[:stored], y[:stored])
    new = range(stored, stored + calls)
    seconds = _each(lambda i: learner.teach(X[i], labels[i]), new)
    yield Goal("`Learner.teach` in RAM, 20 columns, 3 classes", 1e6 * seconds, 15.0, "µs")
    seconds = _each(lambda i: model.partial_fit(X[i : i + 1], y[i : i + 1]), new)
    yield Goal("`partial_fit` of one such row", 1e6 * seconds, 35.0, "µs")


def _predicted(size: Size, options: Options, rng: Rng) -> Iterator[Goal]:
    each, turns = (10, 1) if options.small else (4_000 // size.classes, 9)
    X, y = embeddings(size.classes, each, size.columns, rng)
    X, learn = X.astype(np.float64), np.arange(len(y)) % 2 == 0
    rows, labels, test = X[learn], y[learn], X[~learn]
    learner, model = Learner(), MinoutClassifier()
    learner.teach_many(rows, labels.tolist())
    model.partial_fit(rows, labels)
    what = f"{size.classes} classes × {size.columns:,} columns"
    for name, predict in (("Learner.predict", learner.predict), ("predict", model.predict)):
        seconds = _each(lambda i, predict=predict: predict(test[i : i + 1]), range(len(test)))
        yield Goal(f"`{name}` of one row, {what}", 1e6 * seconds, size.microseconds, "µs")
    other = LogisticRegression(max_iter=1_000).fit(rows, labels)
    predicts = learner.predict, model.predict, other.predict
    taken = [[_spent(predict, test)[0] for predict in predicts] for _ in range(turns)]
    own, estimator, logistic = np.median(taken, axis=0)
    for name, seconds in (("Learner.predict", own), ("predict", estimator)):
        yield Goal(f"`{name}` of {len(test):,} rows, {what}", seconds / logistic, size.ratio, "×")


def _spent(call: Callable[..., Any], *arguments: Any) -> tuple[float, float]:
    # CPU and wall time of a call.
    cpu, wall = time.process_time(), time.perf_counter()
    call(*arguments)
    return time.process_time() - cpu, time.perf_counter() - wall


def _each(call: Callable[[int], Any], numbers: range) -> float:
    # The CPU time of a call.
    def some(start: int) -> None:
        for number in numbers[start : start + TOGETHER]:
            call(number)

    starts = range(0, len(numbers) - TOGETHER + 1, TOGETHER) or range(1)
    count = min(TOGETHER, len(numbers))
    return median(_spent(some, start)[0] / count for start in starts)
