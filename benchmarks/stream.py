"""Images in label order, one pass, scattering: accuracy, time and memory beside other models."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import rivals
from benchmarks.data import images, scattering
from benchmarks.measuring import (
    Options,
    Table,
    accuracy,
    alone,
    memory_mb,
    percent,
    teach,
    timed,
    track,
    yes,
)
from minout import MinoutClassifier

RIVALS = {
    "SGDClassifier": ("one pass, label order", rivals.Sgd),
    "streaming LDA": ("one pass, any order", rivals.StreamingLda),
    "5 nearest neighbours": ("stores every row", rivals.nearest),
    "logistic regression": ("all rows at once", rivals.logistic),
}
SMALL_EACH = 4


class Ours(NamedTuple):
    """What one pass of minout gave; `longest` is the longest call with 100 rows.

    `memory` is what the process grew by; `peaks` its most after the pass and after all, without the
    images given.
    """

    streamed: float
    consolidated: float
    seconds: float
    longest: float
    consolidate_seconds: float
    predict_seconds: float
    memory: float
    peaks: tuple[float, float]
    misfits: int
    audited: bool
    choice: str


def run(options: Options) -> Iterator[Table]:
    """Yield accuracies, then what the pass of minout cost."""
    ours = alone(teach_ours, options)
    data = images(options, SMALL_EACH if options.small else None)
    seconds, features = timed(scattering, data)
    total = ours.seconds + ours.consolidate_seconds
    rows = [
        _line("**minout**, after the stream", "one pass, label order", ours.streamed, ours.seconds),
        _line("**minout**, consolidated", "the same", ours.consolidated, total),
    ]
    for name, (sees, fit) in track(RIVALS.items(), "other models"):
        learning, model = timed(fit, features.rows, features.labels)
        right = accuracy(model, features.test_rows, features.test_labels)
        rows.append(_line(name, sees, right, learning + seconds))
    count, width = features.rows.shape
    yield Table(
        f"{count:,} images in label order, scattering features ({width:,} numbers)",
        ("model", "sees", "test accuracy", "seconds"),
        rows,
        f"{len(data.test_labels):,} images to test on. Default settings. Seconds to learn include "
        "the features; SGD and logistic regression get standardised columns.",
    )
    yield _cost(ours, count, width, seconds * count / (count + len(data.test_labels)))


def teach_ours(options: Options) -> Ours:
    """Teach images in label order and consolidate, in this process, whose memory is measured."""
    data = images(options, SMALL_EACH if options.small else None)
    if not options.small:
        few = data.reordered(slice(None, None, len(data.labels) // 40))
        _new().fit(few.rows, few.labels).predict(few.rows)  # loads modules
    before, model = memory_mb(), _new()
    given = (data.rows.nbytes + data.test_rows.nbytes) / 1e6
    seconds = teach(model, data.rows, data.labels, "minout")
    peak = memory_mb("VmHWM") - given
    start = time.perf_counter()
    streamed = accuracy(model, data.test_rows, data.test_labels)
    predict_seconds = time.perf_counter() - start
    consolidate_seconds, _ = timed(model.consolidate)
    memory = memory_mb("VmHWM") - before
    return Ours(
        streamed,
        accuracy(model, data.test_rows, data.test_labels),
        sum(seconds),
        max(seconds),
        consolidate_seconds,
        predict_seconds / len(data.test_labels),
        memory,
        (peak, memory + before - given),
        len(model.misfits_),
        model.audit().ok,
        str(model.learner_.choice),
    )


def _new() -> MinoutClassifier:
    return MinoutClassifier(features="scattering")


def _line(name: str, sees: str, right: float, seconds: float) -> tuple[str, ...]:
    return name, sees, percent(right), f"{seconds:.1f}"


def _cost(ours: Ours, count: int, width: int, features: float) -> Table:
    return Table(
        "What the pass of minout cost",
        ("what", "measured"),
        [
            ("rows per second, features included", f"{count / ours.seconds:,.0f}"),
            ("seconds of features in it", f"{features:.1f}"),
            ("longest call with 100 rows", f"{ours.longest:.2f} s"),
            ("consolidate", f"{ours.consolidate_seconds:.1f} s"),
            ("one prediction in a batch", f"{1e3 * ours.predict_seconds:.2f} ms"),
            ("memory of the process grew by", f"{ours.memory:,.0f} MB"),
            ("its peak without the images, after the pass", f"{ours.peaks[0]:,.0f} MB"),
            ("consolidated and tested, too", f"{ours.peaks[1]:,.0f} MB"),
            ("the rows alone", f"{4 * count * width / 1e6:,.0f} MB"),
            ("misfits, consolidated", f"{ours.misfits:,}"),
            ("audit agrees", yes(ours.audited)),
            ("chosen settings", ours.choice),
        ],
    )
