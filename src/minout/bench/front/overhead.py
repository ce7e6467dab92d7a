"""What scikit-learn's manners cost: one row through the classifier, beside the learner's call."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout.bench.engine.table import Claim, Table
from minout.bench.engine.tell import Tell
from minout.classifier import MinoutClassifier
from minout.learner import Learner
from minout.rules import MarginRule

COLUMNS = (20, 200, 2_000)
CLASSES = 3
STORED = 60


class Overhead(NamedTuple):
    """Is the median time of one row that is fitted already, in microseconds, on both sides."""

    columns: int
    calls: int
    teach: float
    partial_fit: float
    learner_predict: float
    predict: float

    @property
    def teaching(self) -> float:
        """Is what `partial_fit` costs more than the learner's own call."""
        return self.partial_fit - self.teach

    @property
    def predicting(self) -> float:
        """Is what `predict` costs more than the learner's own call."""
        return self.predict - self.learner_predict


def measure(calls: int, tell: Tell) -> list[Overhead]:
    """Measures rows of a few lengths."""
    found = []
    for done, columns in enumerate(COLUMNS):
        tell("one row", done, len(COLUMNS))
        found.append(overhead(columns, calls))
    return found


def overhead(columns: int, calls: int = 2_000, seed: int = 0) -> Overhead:
    """Teaches and asks the same rows on both sides, one by one and in turns.

    Nothing is renewed meanwhile, and every row lies well inside of its class, so that a teaching
    is one forward pass and the storing of a row.
    """
    rng = np.random.default_rng(seed)
    centres = 10.0 * rng.normal(size=(CLASSES, columns))
    labels = np.arange(STORED + calls) % CLASSES
    rows = centres[labels] + 0.1 * rng.normal(size=(len(labels), columns))
    learner = Learner(rule=MarginRule(refresh="manual"))
    for x, y in zip(rows[:STORED], labels[:STORED].tolist(), strict=True):
        learner.teach(x, y)
    learner.consolidate()
    classifier = MinoutClassifier(refresh="manual").fit(rows[:STORED], labels[:STORED])
    times: list[tuple[float, float, float, float]] = []
    for i in range(STORED, len(rows)):
        x, y, X = rows[i], int(labels[i]), rows[i : i + 1]
        times.append(
            (
                _seconds(learner.teach, x, y),
                _seconds(classifier.partial_fit, X, [y]),
                _seconds(learner.predict, X),
                _seconds(classifier.predict, X),
            )
        )
    return Overhead(columns, calls, *(1e6 * np.median(times, axis=0)).tolist())


def tables(rows: Sequence[Overhead]) -> list[Table]:
    """Writes a line for each length."""
    lines = [
        (
            f"{row.columns:,}",
            f"{row.teach:.0f}",
            f"{row.partial_fit:.0f}",
            f"{row.teaching:+.0f}",
            f"{row.learner_predict:.0f}",
            f"{row.predict:.0f}",
            f"{row.predicting:+.0f}",
        )
        for row in rows
    ]
    head = ("columns", "teach", "partial_fit", "more", "learner's predict", "predict", "more")
    note = "Microseconds for one row that is fitted already: medians, both sides by turns."
    return [Table("One row through the classifier", head, lines, note)]


def claims(rows: Sequence[Overhead]) -> list[Claim]:
    """Says what was asked for."""
    most = max(row.teaching for row in rows)
    return [Claim(1, "one-row partial_fit: less than 100 µs more", f"{most:.0f} µs", most < 100.0)]


def _seconds(call: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start
