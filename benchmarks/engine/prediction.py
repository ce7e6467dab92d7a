"""What a prediction costs, beside logistic regression and one product with all separators."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Split, encoder_vectors
from benchmarks.engine.inputs import Inputs, draw_per_class
from benchmarks.inside import separator_weights
from benchmarks.measuring import median_seconds
from benchmarks.parts import Progress
from benchmarks.rivals import plain_logistic
from benchmarks.tables import Goal, Table, yes
from minout.classifier import MinoutClassifier
from minout.features import Identity

MOST = {"predict": 3.0, "predict, many classes": 6.0}
"""Goals: so many times the time of logistic regression, for batches."""
MANY = 100
"""From so many classes on, the second goal holds."""
MOST_ALONE = 100.0
"""The goal for a row alone, in microseconds."""


class PredictionRow(NamedTuple):
    """Median time per row of one call, in microseconds, by minout and by logistic regression.

    `product` is the time of `X @ W.T` for the batch, with all separators, in float64. `agrees`
    says whether `predict` gives the labels of the highest scores.
    """

    classes: int
    columns: int
    call: str
    rows: int
    ours: float
    logistic: float
    product: float
    agrees: bool


def measure(inputs: Inputs, progress: Progress) -> list[PredictionRow]:
    """Measure ten classes of images and many classes of synthetic vectors."""
    settings = inputs.settings
    inputs.compile(progress)
    images = inputs.features(settings.features, progress)
    rng = np.random.default_rng(settings.seed)
    few = draw_per_class(images.labels, settings.medium, rng)
    ten = Split(images.rows[few], images.labels[few], images.test_rows, images.test_labels)
    many = encoder_vectors(
        settings.classes,
        settings.examples_each,
        settings.held_out,
        dimensions=settings.dimensions,
        spread=settings.spread,
        rng=rng,
    )
    found = []
    for data in (ten, many):
        progress("fitting", len(found), 8)
        found += _measure_one(data, settings.batch, settings.repeats, rng)
    return found


def _measure_one(
    data: Split, batch: int, repeats: int, rng: np.random.Generator
) -> list[PredictionRow]:
    ours = MinoutClassifier(features=Identity("float32")).partial_fit(data.rows, data.labels)
    theirs = plain_logistic(data.rows, data.labels)
    X = data.test_rows[rng.integers(0, len(data.test_rows), batch)]
    W = separator_weights(ours.learner_)
    highest = ours.classes_[ours.learner_.scores(X).argmax(axis=1)]
    agrees = bool((ours.predict(X) == highest).all())
    found = []
    with threadpool_limits(1):
        expanded = ours.learner_.expanded(X).astype(W.dtype)
        (product,) = median_seconds([lambda rows: rows @ W.T], [expanded] * repeats)
        for call in ("predict", "predict_proba", "decision_function"):
            times = median_seconds([getattr(ours, call), getattr(theirs, call)], [X] * repeats)
            found.append((call, batch, *(1e6 * each / batch for each in times)))
        alone = median_seconds([ours.predict, theirs.predict], [x[None] for x in X])
        found.append(("predict", 1, *(1e6 * each for each in alone)))
    shape = len(ours.classes_), X.shape[1]
    return [PredictionRow(*shape, *numbers, 1e6 * product / batch, agrees) for numbers in found]


def tables(rows: Sequence[PredictionRow]) -> list[Table]:
    """Return a line for each call and number of rows."""
    head = (
        "classes × columns",
        "call",
        "rows",
        "µs per row",
        "logistic regression",
        "ratio",
        "`X @ W.T`",
        "ratio",
        "same as all scores",
    )
    note = (
        "Medians, in turns, on float32 rows. BLAS has one thread; minout itself divides batches "
        "between two. W holds all separators, in float64; X is the batch."
    )
    return [Table("11. Predictions", head, [_line(row) for row in rows], note)]


def _line(row: PredictionRow) -> tuple[str, ...]:
    return (
        f"{row.classes} × {row.columns:,}",
        row.call,
        f"{row.rows:,}",
        f"{row.ours:.1f}",
        f"{row.logistic:.1f}",
        f"{row.ours / row.logistic:.1f}",
        f"{row.product:.1f}",
        f"{row.ours / row.product:.2f}",
        yes(row.agrees),
    )


def goals(rows: Sequence[PredictionRow]) -> list[Goal]:
    """Return the goals of `predict`, for batches and for rows alone."""
    found = []
    for row in rows:
        what = f"{row.classes} × {row.columns:,}, {row.rows:,} rows"
        if row.call == "predict" and row.rows > 1:
            most = MOST["predict, many classes" if row.classes >= MANY else "predict"]
            ratio = row.ours / row.logistic
            goal = f"{what}: at most {most:g} × logistic regression"
            found.append(Goal("predict", goal, f"{ratio:.1f}", ratio <= most and row.agrees))
        elif row.call == "predict":
            goal = f"{what}: at most {MOST_ALONE:g} µs"
            found.append(
                Goal("predict", goal, f"{row.ours:.0f} µs", row.ours <= MOST_ALONE and row.agrees)
            )
    return found
