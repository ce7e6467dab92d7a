"""A thousand classes and more, with similar neighbours, beside linear discriminant analysis."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import Split, embedding_vectors
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.many_classes import HEAD, UNITS, ManyClassesRow, line, measure_set
from benchmarks.engine.settings import Settings
from benchmarks.learners import new_learner, teach
from benchmarks.measuring import in_fresh_process, resident_mb
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mb, ms, percent

DIFFERING, SHARED = "differing covariances", "shared covariance"
MOST_CLASSES = 1_000
"""Goals of cost and accuracy hold up to this many classes."""
MOST_SECONDS = 0.003
MOST_MB = 1_000.0
"""Memory beside the bytes of the rows."""
MOST_LOST = 0.005
"""Accuracy that may be lost to LDA where LDA is optimal."""
MOST_PREDICT = 0.0002
CLASSES_AT_A_TIME = 500
"""With more classes than `MOST_CLASSES`, so many are taught between two measurements."""


class EndedRow(NamedTuple):
    """A set whose process ended before it was measured, for example for lack of memory."""

    data: str
    classes: int
    examples: int
    error: str


class ReachedRow(NamedTuple):
    """A part of a set that is too large to be taught whole: how far the time goes.

    `classes` and `examples` are those taught so far, `seconds` the time for all of them, `mean`
    that of one example of the last part. `memory_mb` is the growth of the process.
    """

    data: str
    classes: int
    examples: int
    seconds: float
    mean: float
    memory_mb: float | None
    misfits: int


Row = ManyClassesRow | ReachedRow | EndedRow


def measure(inputs: Inputs, progress: Progress) -> list[Row]:
    """Measure every set of `embeddings`, each in a fresh process."""
    settings = inputs.settings
    inputs.compile(progress)  # compiled here, so that the fresh processes only load
    rows: list[Row] = []
    for differing, classes, examples in settings.embeddings:
        name = DIFFERING if differing else SHARED
        shape = name, classes, examples
        try:
            if classes > MOST_CLASSES:
                rows += in_fresh_process(_measure_reach, settings, *shape, progress=progress)
            else:
                rows += [in_fresh_process(_measure_one, settings, *shape, progress=progress)]
        except (ChildProcessError, MemoryError) as error:
            rows += [EndedRow(name, classes, classes * examples, str(error) or "out of memory")]
    return rows


def _measure_one(
    settings: Settings, name: str, classes: int, examples: int, progress: Progress
) -> ManyClassesRow:
    data = _vectors(settings, name, classes, examples, progress)
    return measure_set(name, data, settings, progress, consolidate=True)


def _measure_reach(
    settings: Settings, name: str, classes: int, examples: int, progress: Progress
) -> list[ReachedRow]:
    # Teach some classes after the others until the time is over.
    data = _vectors(settings, name, classes, examples, progress)
    learner, before, total, rows = new_learner(), resident_mb(), 0.0, []
    for end in range(CLASSES_AT_A_TIME, classes + 1, CLASSES_AT_A_TIME):
        part = (data.labels >= end - CLASSES_AT_A_TIME) & (data.labels < end)
        steps = teach(learner, data.rows[part], data.labels[part], progress, what=f"to {end:,}")
        total, after = total + float(steps.seconds.sum()), resident_mb()
        grown = None if before is None or after is None else after - before
        mean, listed = float(steps.seconds.mean()), len(learner.misfits)
        rows += [ReachedRow(name, end, len(learner), total, mean, grown, listed)]
        if total > settings.reach_seconds:
            break
    return rows


def _vectors(
    settings: Settings, name: str, classes: int, examples: int, progress: Progress
) -> Split:
    progress("drawing vectors", 0, 1)
    return embedding_vectors(
        classes,
        examples,
        settings.held_out,
        dimensions=settings.dimensions,
        differing=name == DIFFERING,
        rng=np.random.default_rng(settings.seed),
    )


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return a line for each set."""
    note = (
        "Float32 vectors with the spectrum of text embeddings, in groups of ten similar classes "
        "(benchmarks/data.py), in label order, each line in a fresh process with default "
        f"settings; {UNITS} 150 × 100 is in part 9."
    )
    whole = [row for row in rows if not isinstance(row, ReachedRow)]
    lines = [line(row) if isinstance(row, ManyClassesRow) else _ended_line(row) for row in whole]
    found = [Table("14. A thousand classes", HEAD, lines, note)]
    reached = [row for row in rows if isinstance(row, ReachedRow)]
    if reached:
        head = ("data", "classes", "examples", "seconds", "mean", "memory grew by", "misfits")
        note = "Mean: milliseconds per example of the last part. It ends when its time is over."
        lines = [_reached_line(row) for row in reached]
        found.append(Table("14. How far it goes", head, lines, note))
    return found


def _reached_line(row: ReachedRow) -> tuple[str, ...]:
    counts = f"{row.classes:,}", f"{row.examples:,}", f"{row.seconds:.0f}"
    return (row.data, *counts, ms(row.mean), mb(row.memory_mb), str(row.misfits))


def _ended_line(row: EndedRow) -> tuple[str, ...]:
    dashes = ("–",) * (len(HEAD) - 3)
    return (row.data, f"{row.classes:,} × {row.examples // row.classes}", *dashes, row.error)


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the goals: all fitted or listed; up to 1,000 classes also cost and accuracy."""
    found = []
    for row in rows:
        if isinstance(row, ReachedRow):
            continue
        what = f"{row.classes:,} × {row.examples // row.classes}, {row.data}"
        if isinstance(row, EndedRow):
            found.append(Goal("thousand", f"{what}: measured", row.error, False))
            continue
        agrees = "agrees" if row.agrees else "does NOT agree"
        measured = f"{row.misfits} listed, {row.pending} pending, audit {agrees}"
        found.append(Goal("thousand", f"{what}: all fitted or listed", measured, row.agrees))
        if row.classes <= MOST_CLASSES:
            found += [Goal("thousand", f"{what}: {words}", *rest) for words, *rest in _limits(row)]
    return found


def _limits(row: ManyClassesRow) -> list[tuple[str, str, bool]]:
    most_mb = row.rows_mb + MOST_MB
    accuracy = row.accuracy if row.accuracy_consolidated is None else row.accuracy_consolidated
    lda = max(row.lda, row.lda_plain)
    beside_lda = ("above LDA", accuracy > lda)
    if row.data == SHARED:
        beside_lda = (f"within {100 * MOST_LOST:g} points of LDA", accuracy >= lda - MOST_LOST)
    return [
        (
            f"mean of at most {ms(MOST_SECONDS)} ms",
            f"{ms(row.mean)} ms",
            row.mean <= MOST_SECONDS,
        ),
        (
            f"memory grows by at most {mb(most_mb)}",
            mb(row.memory_mb),
            row.memory_mb is not None and row.memory_mb <= most_mb,
        ),
        (beside_lda[0], f"{percent(accuracy)}, LDA {percent(lda)}", beside_lda[1]),
        (
            f"a prediction takes at most {ms(MOST_PREDICT)} ms in batches",
            f"{ms(row.predict_seconds)} ms",
            row.predict_seconds <= MOST_PREDICT,
        ),
    ]
