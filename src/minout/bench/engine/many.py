"""Many classes: what 150 of them cost, and where the square of their number ends it."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout.bench.engine.fresh import in_fresh_process, resident_mb
from minout.bench.engine.inside import chosen, weight_bytes
from minout.bench.engine.lda import lda_predictions
from minout.bench.engine.made import Made, encoded
from minout.bench.engine.material import Material
from minout.bench.engine.settings import Settings
from minout.bench.engine.table import Claim, Table, ms, percent
from minout.bench.engine.taught import new_learner, teach
from minout.bench.engine.tell import Tell
from minout.learner import Learner
from minout.metrics import accuracy


class Many(NamedTuple):
    """Is one set of made vectors, taught in label order in a process of its own.

    `memory_mb` is by how much the process grew while it was taught, the stored rows included; it
    is read before the audit. `accuracy_consolidated` is measured for the set that was asked for.
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
    exceptions: int
    agrees: bool
    accuracy: float
    accuracy_consolidated: float | None
    consolidate_seconds: float | None
    lda: float
    chosen: str


def measure(material: Material, tell: Tell) -> list[Many]:
    """Measures the set that was asked for, then growing numbers of classes with few examples."""
    settings = material.settings
    material.warm_up(tell)  # compiled here, the fresh processes only load
    shapes = [(settings.classes, settings.examples, True)]
    shapes += [(classes, settings.examples_each, False) for classes in settings.class_counts]
    return [in_fresh_process(_one, settings, *shape, tell=tell) for shape in shapes]


def _one(settings: Settings, classes: int, examples: int, consolidate: bool, tell: Tell) -> Many:
    made = encoded(
        classes,
        examples,
        settings.held_out,
        settings.dimensions,
        settings.spread,
        np.random.default_rng(settings.seed),
    )
    _load_kernels(made)
    learner = new_learner()
    before = resident_mb()
    taught = teach(learner, made.rows, made.labels, tell, what=f"{classes} classes × {examples}")
    after = resident_mb()
    tell("audit", 0, 1)
    audit = learner.audit()
    exceptions = learner.exceptions
    seconds = taught.seconds
    share = accuracy(learner.predict(made.test_rows), made.test_labels)
    tight, tight_seconds = _consolidated(learner, made, tell) if consolidate else (None, None)
    return Many(
        classes,
        len(seconds),
        settings.dimensions,
        classes * (classes - 1) // 2,
        weight_bytes(learner) / 1e6,
        made.rows.nbytes / 1e6,
        None if before is None or after is None else after - before,
        float(seconds.mean()),
        float(np.median(seconds)),
        float(np.percentile(seconds, 99)),
        float(seconds.max()),
        float(seconds[taught.refreshed].sum()),
        float(seconds.sum()),
        len(exceptions),
        audit.ok and set(audit.exceptions) == set(exceptions),
        share,
        tight,
        tight_seconds,
        accuracy(lda_predictions(made.rows, made.labels, made.test_rows), made.test_labels),
        chosen(learner),
    )


def _load_kernels(made: Made) -> None:
    few = np.flatnonzero(made.labels < 4)
    teach(new_learner(), made.rows[few], made.labels[few])


def _consolidated(learner: Learner, made: Made, tell: Tell) -> tuple[float, float]:
    tell("consolidating", 0, 1)
    start = time.perf_counter()
    learner.consolidate()
    seconds = time.perf_counter() - start
    return accuracy(learner.predict(made.test_rows), made.test_labels), seconds


def tables(rows: Sequence[Many]) -> list[Table]:
    """Writes the set that was asked for first, then the growing numbers of classes."""
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
        "exceptions",
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


def _line(row: Many) -> tuple[str, ...]:
    tight = "–"
    if row.accuracy_consolidated is not None:
        tight = f"{percent(row.accuracy_consolidated)} ({row.consolidate_seconds:.0f} s)"
    return (
        f"{row.classes} × {row.examples // row.classes}",
        f"{row.separators:,}",
        f"{row.weights_mb:.1f} MB",
        "–" if row.memory_mb is None else f"{row.memory_mb:.0f} MB",
        ms(row.mean),
        ms(row.median),
        ms(row.p99),
        ms(row.maximum),
        f"{row.refresh_seconds:.1f} s",
        f"{row.seconds:.1f} s",
        str(row.exceptions),
        "yes" if row.agrees else "NO",
        percent(row.accuracy),
        tight,
        percent(row.lda),
        row.chosen,
    )


def claims(rows: Sequence[Many]) -> list[Claim]:
    """Says what the issue asks of many classes."""
    row = rows[0]
    measured = f"{row.exceptions} listed, audit {'agrees' if row.agrees else 'does NOT agree'}"
    return [Claim(9, f"{row.classes} classes: all fitted or listed", measured, row.agrees)]
