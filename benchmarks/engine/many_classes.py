"""Many classes: what 150 of them cost, and how time and memory grow with their number."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import Array, Split, encoder_vectors
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.settings import Settings
from benchmarks.inside import chosen, misfits, stored_separators
from benchmarks.learners import new_learner, teach
from benchmarks.measuring import in_fresh_process, median_seconds, resident_mb, seconds_of
from benchmarks.parts import Progress
from benchmarks.rivals import plain_lda, streaming_lda
from benchmarks.tables import Goal, Table, mb, ms, percent, yes
from minout.learner import Learner
from minout.metrics import accuracy

HEAD = (
    *("data", "classes × each", "separators", "weights", "rows", "memory grew by"),
    *("mean", "median", "99 %", "maximum", "refreshes", "in all"),
    *("misfits", "pending", "audit agrees"),
    *("test", "consolidated", "LDA with ridge", "LDA"),
    *("predict", "predict alone", "chosen"),
)
UNITS = (
    "milliseconds per example, and per row of a prediction in batches and alone. LDA with the "
    "engine's ridge, and scikit-learn's without."
)


class ManyClassesRow(NamedTuple):
    """One set of synthetic vectors, taught in label order in a fresh process.

    `memory_mb` is the growth of the process while it was taught, the stored rows included, before
    the audit. `mean` to `maximum` are seconds of one `teach`, priors and refreshes included.
    `predict_seconds` and `predict_one_seconds` are per row, in batches and for a row alone, of the
    last model. `lda` has the engine's ridge, `lda_plain` is scikit-learn's. Consolidated values
    are None where the set is not consolidated.
    """

    data: str
    classes: int
    examples: int
    dimensions: int
    separators: int
    weights_mb: float
    rows_mb: float
    memory_mb: float | None
    mean: float
    median: float
    p99: float
    maximum: float
    refresh_seconds: float
    seconds: float
    misfits: int
    pending: int
    agrees: bool
    accuracy: float
    accuracy_consolidated: float | None
    consolidate_seconds: float | None
    lda: float
    lda_plain: float
    predict_seconds: float
    predict_one_seconds: float
    chosen: str


def measure(inputs: Inputs, progress: Progress) -> list[ManyClassesRow]:
    """Measure `classes` × `examples`, then growing numbers of classes with fewer examples."""
    settings = inputs.settings
    inputs.compile(progress)  # compiled here, so that the fresh processes only load
    shapes = [(settings.classes, settings.examples, True)]
    shapes += [(classes, settings.examples_each, False) for classes in settings.class_counts]
    return [in_fresh_process(_measure_one, settings, *shape, progress=progress) for shape in shapes]


def _measure_one(
    settings: Settings, classes: int, examples: int, consolidate: bool, progress: Progress
) -> ManyClassesRow:
    data = encoder_vectors(
        classes,
        examples,
        settings.held_out,
        dimensions=settings.dimensions,
        spread=settings.spread,
        rng=np.random.default_rng(settings.seed),
    )
    return measure_set("one spread", data, settings, progress, consolidate=consolidate)


def measure_set(
    name: str, data: Split, settings: Settings, progress: Progress, *, consolidate: bool
) -> ManyClassesRow:
    """Teach the rows of a set to a new learner and measure everything, in this process."""
    _load_kernels(data)
    learner = new_learner()
    classes = len(np.unique(data.labels))
    before = resident_mb()
    what = f"{classes:,} classes × {len(data.labels) // classes}"
    steps = teach(learner, data.rows, data.labels, progress, what=what)
    after = resident_mb()
    progress("audit", 0, 1)
    audit, listed, pending = learner.audit(), misfits(learner), set(learner.pending)
    separators = stored_separators(learner)
    seconds = steps.seconds
    streamed = _held_out_accuracy(learner, data)
    consolidated, consolidate_seconds = None, None
    if consolidate:
        progress("consolidating", 0, 1)
        consolidate_seconds = seconds_of(learner.consolidate)
        consolidated = _held_out_accuracy(learner, data)
    progress("predicting", 0, 1)
    in_batches, alone = _predict_seconds(learner, data.test_rows, settings)
    progress("LDA", 0, 1)
    lda = [model(data.rows, data.labels, data.test_rows) for model in (streaming_lda, plain_lda)]
    return ManyClassesRow(
        name,
        classes,
        len(seconds),
        data.rows.shape[1],
        separators.count,
        separators.bytes / 1e6,
        data.rows.nbytes / 1e6,
        None if before is None or after is None else after - before,
        float(seconds.mean()),
        float(np.median(seconds)),
        float(np.percentile(seconds, 99)),
        float(seconds.max()),
        float(seconds[steps.refreshed].sum()),
        float(seconds.sum()),
        len(listed),
        len(pending),
        audit.ok and misfits(audit) == listed and set(audit.pending) == pending,
        streamed,
        consolidated,
        consolidate_seconds,
        *(accuracy(predicted, data.test_labels) for predicted in lda),
        in_batches,
        alone,
        chosen(learner),
    )


def _load_kernels(data: Split) -> None:
    few = np.flatnonzero(data.labels < 4)
    teach(new_learner(), data.rows[few], data.labels[few])


def _held_out_accuracy(learner: Learner, data: Split) -> float:
    return accuracy(learner.predict(data.test_rows), data.test_labels)


def _predict_seconds(learner: Learner, rows: Array, settings: Settings) -> tuple[float, float]:
    # Per row: in batches, and alone.
    rng = np.random.default_rng(settings.seed)
    X = rows[rng.integers(0, len(rows), settings.batch)]
    (batches,) = median_seconds([learner.predict], [X] * settings.repeats)
    (alone,) = median_seconds([learner.predict], [x[None] for x in X])
    return batches / len(X), alone


def tables(rows: Sequence[ManyClassesRow]) -> list[Table]:
    """Return a line for each number of classes; that with the most examples of each is first."""
    note = (
        f"Unit vectors of {rows[0].dimensions} float32 numbers around a unit centre per class, in "
        f"label order, each line in a fresh process; {UNITS} Up to 200 classes every "
        "pair of them has a separator with weights, so weights grow with the square."
    )
    return [Table("9. Many classes", HEAD, [line(row) for row in rows], note)]


def line(row: ManyClassesRow) -> tuple[str, ...]:
    """Return the line of a set below `HEAD`."""
    consolidated = "–"
    if row.accuracy_consolidated is not None:
        consolidated = f"{percent(row.accuracy_consolidated)} ({row.consolidate_seconds:.0f} s)"
    return (
        row.data,
        f"{row.classes:,} × {row.examples // row.classes}",
        f"{row.separators:,}",
        f"{row.weights_mb:.1f} MB",
        mb(row.rows_mb),
        mb(row.memory_mb),
        ms(row.mean),
        ms(row.median),
        ms(row.p99),
        ms(row.maximum),
        f"{row.refresh_seconds:.1f} s",
        f"{row.seconds:.1f} s",
        str(row.misfits),
        str(row.pending),
        yes(row.agrees),
        percent(row.accuracy),
        consolidated,
        percent(row.lda),
        percent(row.lda_plain),
        ms(row.predict_seconds),
        ms(row.predict_one_seconds),
        row.chosen,
    )


def goals(rows: Sequence[ManyClassesRow]) -> list[Goal]:
    """Return the goal of the first line."""
    row = rows[0]
    measured = f"{row.misfits} listed, audit {'agrees' if row.agrees else 'does NOT agree'}"
    return [Goal("many", f"{row.classes} classes: all fitted or listed", measured, row.agrees)]
