"""Many classes: what 150 of them cost, and how time and memory grow with their number."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.data import Split, encoder_vectors
from benchmarks.engine.inputs import Inputs
from benchmarks.engine.settings import Settings
from benchmarks.inside import chosen, misfits, weight_bytes
from benchmarks.learners import new_learner, teach
from benchmarks.measuring import in_fresh_process, resident_mb, seconds_of
from benchmarks.parts import Progress
from benchmarks.rivals import streaming_lda
from benchmarks.tables import Goal, Table, mb, ms, percent, yes
from minout.metrics import accuracy


class ManyClassesRow(NamedTuple):
    """One set of synthetic vectors, taught in label order in a fresh process.

    `memory_mb` is the growth of the process while it was taught, the stored rows included, before
    the audit. `accuracy_consolidated` is measured for the first set only.
    """

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
    agrees: bool
    accuracy: float
    accuracy_consolidated: float | None
    consolidate_seconds: float | None
    lda: float
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
    _load_kernels(data)
    learner = new_learner()
    before = resident_mb()
    what = f"{classes} classes × {examples}"
    steps = teach(learner, data.rows, data.labels, progress, what=what)
    after = resident_mb()
    progress("audit", 0, 1)
    audit = learner.audit()
    listed = misfits(learner)
    seconds = steps.seconds
    streamed = accuracy(learner.predict(data.test_rows), data.test_labels)
    consolidated, consolidate_seconds = None, None
    if consolidate:
        progress("consolidating", 0, 1)
        consolidate_seconds = seconds_of(learner.consolidate)
        consolidated = accuracy(learner.predict(data.test_rows), data.test_labels)
    return ManyClassesRow(
        classes,
        len(seconds),
        settings.dimensions,
        classes * (classes - 1) // 2,
        weight_bytes(learner) / 1e6,
        data.rows.nbytes / 1e6,
        None if before is None or after is None else after - before,
        float(seconds.mean()),
        float(np.median(seconds)),
        float(np.percentile(seconds, 99)),
        float(seconds.max()),
        float(seconds[steps.refreshed].sum()),
        float(seconds.sum()),
        len(listed),
        audit.ok and misfits(audit) == listed,
        streamed,
        consolidated,
        consolidate_seconds,
        accuracy(streaming_lda(data.rows, data.labels, data.test_rows), data.test_labels),
        chosen(learner),
    )


def _load_kernels(data: Split) -> None:
    few = np.flatnonzero(data.labels < 4)
    teach(new_learner(), data.rows[few], data.labels[few])


def tables(rows: Sequence[ManyClassesRow]) -> list[Table]:
    """Return a line for each number of classes, the largest set first."""
    head = (
        "classes × each",
        "separators",
        "weights",
        "memory grew by",
        "mean",
        "median",
        "99 %",
        "maximum",
        "refreshes",
        "in all",
        "misfits",
        "audit agrees",
        "test",
        "consolidated",
        "LDA",
        "chosen",
    )
    note = (
        f"Unit vectors of {rows[0].dimensions} float32 numbers around a unit centre per class, in "
        "label order, each line in a fresh process; milliseconds per example. Every pair of "
        "classes has a separator, so weights grow with the square."
    )
    return [Table("9. Many classes", head, [_line(row) for row in rows], note)]


def _line(row: ManyClassesRow) -> tuple[str, ...]:
    consolidated = "–"
    if row.accuracy_consolidated is not None:
        consolidated = f"{percent(row.accuracy_consolidated)} ({row.consolidate_seconds:.0f} s)"
    return (
        f"{row.classes} × {row.examples // row.classes}",
        f"{row.separators:,}",
        f"{row.weights_mb:.1f} MB",
        mb(row.memory_mb),
        ms(row.mean),
        ms(row.median),
        ms(row.p99),
        ms(row.maximum),
        f"{row.refresh_seconds:.1f} s",
        f"{row.seconds:.1f} s",
        str(row.misfits),
        yes(row.agrees),
        percent(row.accuracy),
        consolidated,
        percent(row.lda),
        row.chosen,
    )


def goals(rows: Sequence[ManyClassesRow]) -> list[Goal]:
    """Return the goal of the largest set."""
    row = rows[0]
    measured = f"{row.misfits} listed, audit {'agrees' if row.agrees else 'does NOT agree'}"
    return [Goal("many", f"{row.classes} classes: all fitted or listed", measured, row.agrees)]
