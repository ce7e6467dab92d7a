"""Many classes: accuracy, milliseconds per row, memory, beside LDA and k-NN."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks import rivals
from benchmarks.data import embeddings
from benchmarks.measuring import (
    Options,
    Table,
    accuracy,
    alone,
    memory_mb,
    ms,
    percent,
    teach,
    timed,
    yes,
)
from minout import MinoutClassifier

HELD_OUT = 20


class Size(NamedTuple):
    """How many classes, rows of each to learn from, and columns."""

    classes: int
    each: int
    columns: int


FULL = (Size(25, 100, 384), Size(150, 100, 384), Size(1_000, 20, 384))
SMALL = (Size(12, 5, 16),)


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each number of classes, each in a process of its own."""
    sizes = SMALL if options.small else FULL
    yield Table(
        "Many classes, vectors like text embeddings, label order",
        (
            *("classes × rows", "ms per row", "longest call", "consolidate", "memory grew by"),
            *("rows alone", "ms to predict", "minout", "LDA", "5 neighbours", "misfits", "audit"),
        ),
        [alone(partial(_measure, size), options) for size in sizes],
        "Classes come in groups of ten similar ones, with covariances of their own "
        f"(benchmarks/data.py); {HELD_OUT} vectors of each to test on. Default settings, 100 rows "
        "a call, refreshes included in the mean; accuracies are consolidated. Above 200 classes "
        "minout keeps separators of near classes only.",
    )


def _measure(size: Size, options: Options) -> tuple[str, ...]:
    rng = np.random.default_rng(options.seed)
    X, y = embeddings(size.classes, size.each + HELD_OUT, size.columns, rng)
    learn = np.tile(np.arange(size.each + HELD_OUT) < size.each, size.classes)
    rows, labels, test, test_labels = X[learn], y[learn], X[~learn], y[~learn]
    few = labels < 10
    MinoutClassifier().fit(rows[few], labels[few]).predict(test[:5])  # loads modules
    before, model = memory_mb(), MinoutClassifier()
    seconds = teach(model, rows, labels, f"{size.classes:,} classes")
    consolidate_seconds, _ = timed(model.consolidate)
    grown = memory_mb("VmHWM") - before
    predict_seconds, share = timed(accuracy, model, test, test_labels)
    others = [fit(rows, labels) for fit in (rivals.StreamingLda, rivals.nearest)]
    return (
        f"{size.classes:,} × {size.each}",
        ms(sum(seconds) / len(labels)),
        f"{max(seconds):.1f} s",
        f"{consolidate_seconds:.1f} s",
        f"{grown:,.0f} MB",
        f"{rows.size * 8 / 1e6:,.0f} MB",
        ms(predict_seconds / len(test)),
        percent(share),
        *(percent(accuracy(other, test, test_labels)) for other in others),
        f"{len(model.misfits_):,}",
        yes(model.audit().ok),
    )
