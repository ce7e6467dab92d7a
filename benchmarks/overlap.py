"""Classes that overlap, label order: what one row costs, and how that grows."""

import time
from collections.abc import Iterator
from math import log

import numpy as np
from sklearn.linear_model import SGDClassifier

from benchmarks.data import (
    Array,
    Ints,
    Split,
    images,
    label_order,
    replace_labels,
    scattering,
    split_table,
)
from benchmarks.measuring import Options, Table, accuracy, ms, percent, track, yes
from minout import Identity, Learner

WRONG = 0.05
TENTH = 10


def run(options: Options) -> Iterator[Table]:
    """Yield a line for each stream."""
    rows = [_line(name, data) for name, data in _streams(options)]
    yield Table(
        "One row at a time, label order",
        (
            *("stream", "rows", "ms per row", "of a tenth of the rows", "growth exponent"),
            *("longest call", "SGDClassifier, ms", "misfits", "pending", "audit", "test accuracy"),
        ),
        rows,
        "`Learner().teach`, default settings, refreshes included. The exponent is p in a mean cost "
        "proportional to n^p: 0 if it is level. SGD is one `partial_fit` of one row.",
    )


def _streams(options: Options) -> Iterator[tuple[str, Split]]:
    pixels = images(options, 4 if options.small else None)
    features = pixels if options.small else scattering(pixels)
    yield "images, scattering", features
    given = replace_labels(features.labels, WRONG, np.random.default_rng(options.seed))
    wrong = features._replace(labels=given).reordered(label_order(given))
    yield f"scattering, {WRONG:.0%} wrong labels", wrong
    yield "images, pixels", pixels
    yield "two Gaussians", split_table("two Gaussians", options.seed, len(pixels.labels))


def _line(name: str, data: Split) -> tuple[str, ...]:
    _teach(data.rows[:: len(data.labels) // 40], data.labels[:: len(data.labels) // 40], name)
    _, tenth = _teach(data.rows[::TENTH], data.labels[::TENTH], f"{name}, a tenth")
    learner, seconds = _teach(data.rows, data.labels, name)
    mean, before = seconds.mean(), tenth.mean()
    return (
        name,
        f"{len(seconds):,}",
        ms(mean),
        ms(before),
        f"{log(mean / before) / log(TENTH):.2f}",
        f"{seconds.max():.2f} s",
        ms(_sgd_seconds(data.rows, data.labels)),
        f"{len(learner.misfits):,}",
        f"{len(learner.pending):,}",
        yes(learner.audit().ok),
        percent(accuracy(learner, data.test_rows, data.test_labels)),
    )


def _teach(rows: Array, labels: Ints, what: str) -> tuple[Learner, Array]:
    learner, seconds = Learner(features=Identity(rows.dtype.name)), np.empty(len(labels))
    for i, y in track(enumerate(labels.tolist()), what, total=len(labels)):
        start = time.perf_counter()
        learner.teach(rows[i], y)
        seconds[i] = time.perf_counter() - start
    return learner, seconds


def _sgd_seconds(rows: Array, labels: Ints) -> float:
    model, names = SGDClassifier(random_state=0), np.unique(labels)
    some = np.linspace(0, len(labels) - 1, min(len(labels), 500)).astype(int)
    start = time.perf_counter()
    for i in some:
        model.partial_fit(rows[i : i + 1], labels[i : i + 1], names)
    return (time.perf_counter() - start) / len(some)
