"""Classes that overlap: the cost of one example, its growth, and what waiting costs in accuracy."""

import time
from collections.abc import Iterator, Sequence
from math import log
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from benchmarks.data import Ints, in_label_order
from benchmarks.engine.inputs import FeatureSet, Inputs, draw_per_class
from benchmarks.engine.wrong_labels import replace_labels
from benchmarks.inside import chosen, settling_at_once
from benchmarks.learners import new_learner, teach
from benchmarks.parts import Progress, worth_showing
from benchmarks.tables import Goal, Table, ms, percent, yes
from minout.metrics import accuracy

BAYES_ERROR = 0.1
COLUMNS = 20
REFERENCE = "scattering"
GAUSSIANS = "two Gaussians"


class OverlapRow(NamedTuple):
    """A stream in label order, beside a tenth of it.

    `seconds` is the mean time of one `teach`, refreshes included; `seconds_tenth` that of a stream
    of a tenth of the examples. `longest` is the longest call. `audits_agree`: all full audits
    during the stream agree with what is listed. `sgd_seconds` is one `SGDClassifier.partial_fit`
    of one row. Accuracies are of test rows.
    """

    name: str
    examples: int
    seconds: float
    seconds_tenth: float
    longest: float
    moved: int
    pending: int
    misfits: int
    audits: int
    audits_agree: bool
    accuracy: float
    sgd_seconds: float | None
    chosen: str

    @property
    def exponent(self) -> float:
        """The growth of the mean cost: 0 if it is level, 1 if it is proportional."""
        return log(self.seconds / self.seconds_tenth) / log(10.0)


class WaitingRow(NamedTuple):
    """The same stream, taught as by default and with every low margin settled at once."""

    name: str
    examples: int
    seconds: float
    seconds_at_once: float
    accuracy: float
    accuracy_at_once: float


Row = OverlapRow | WaitingRow


def measure(inputs: Inputs, progress: Progress) -> list[Row]:
    """Teach each data set in label order: all of it, a tenth, and a part with and without waits."""
    inputs.compile(progress)
    rows: list[Row] = []
    for name, data in _data_sets(inputs, progress):
        rows += [_measure_stream(name, data, inputs, progress)]
        if name != REFERENCE:
            rows += [_measure_waiting(name, data, inputs, progress)]
    return rows


def _data_sets(inputs: Inputs, progress: Progress) -> Iterator[tuple[str, FeatureSet]]:
    settings = inputs.settings
    features = inputs.features(settings.features, progress)
    yield REFERENCE, features
    rng = np.random.default_rng(settings.seed)
    wrong = replace_labels(features.labels, round(settings.wrong * len(features.labels)), rng)
    yield f"{percent(settings.wrong, 0)} wrong labels", features._replace(labels=wrong)
    yield "raw pixels", inputs.features("raw", progress)
    yield GAUSSIANS, _gaussians(settings.gaussians, rng)


def _gaussians(count: int, rng: np.random.Generator) -> FeatureSet:
    # Two unit Gaussians, so far apart that the best classifier is wrong on a tenth.
    apart = 2.0 * NormalDist().inv_cdf(1.0 - BAYES_ERROR)
    labels = rng.integers(0, 2, count + count // 4)
    rows = rng.standard_normal((len(labels), COLUMNS)).astype(np.float32)
    rows[:, 0] += apart * labels
    return FeatureSet(rows[:count], labels[:count], rows[count:], labels[count:], 0.0)


def _measure_stream(name: str, data: FeatureSet, inputs: Inputs, progress: Progress) -> OverlapRow:
    settings = inputs.settings
    order = in_label_order(data.labels)
    learner, seconds, moved, agree = new_learner(), np.empty(0), 0, True
    for part in np.array_split(order, settings.audits):
        steps = teach(learner, data.rows[part], data.labels[part], progress, what=name)
        seconds, moved = np.concatenate([seconds, steps.seconds]), moved + int(steps.moved.sum())
        audit = learner.audit()
        agree &= audit.ok and set(audit.misfits) == set(learner.misfits)
    tenth = order[::10]
    short = teach(
        new_learner(), data.rows[tenth], data.labels[tenth], progress, what=f"{name}, a tenth"
    )
    return OverlapRow(
        name,
        len(order),
        float(seconds.mean()),
        float(short.seconds.mean()),
        float(seconds.max()),
        moved,
        len(learner.pending),
        len(learner.misfits),
        settings.audits,
        agree,
        accuracy(learner.predict(data.test_rows), data.test_labels),
        _sgd_seconds(data, order, progress) if name == GAUSSIANS else None,
        chosen(learner),
    )


def _sgd_seconds(data: FeatureSet, order: Ints, progress: Progress) -> float:
    from sklearn.linear_model import SGDClassifier

    model, classes = SGDClassifier(random_state=0), np.unique(data.labels)
    start = time.perf_counter()
    for done, i in enumerate(order, 1):
        model.partial_fit(data.rows[i : i + 1], data.labels[i : i + 1], classes=classes)
        if worth_showing(done, len(order)):
            progress("SGD, row by row", done, len(order))
    return (time.perf_counter() - start) / len(order)


def _measure_waiting(name: str, data: FeatureSet, inputs: Inputs, progress: Progress) -> WaitingRow:
    settings = inputs.settings
    rarest = int(np.unique(data.labels, return_counts=True)[1].min())
    rng = np.random.default_rng(settings.seed)
    drawn = draw_per_class(data.labels, min(settings.medium, rarest), rng)

    def taught(what: str) -> tuple[float, float]:
        learner = new_learner()
        steps = teach(learner, data.rows[drawn], data.labels[drawn], progress, what=what)
        right = accuracy(learner.predict(data.test_rows), data.test_labels)
        return float(steps.seconds.mean()), right

    waiting = taught(f"{name}, waiting")
    with settling_at_once():
        at_once = taught(f"{name}, at once")
    return WaitingRow(name, len(drawn), waiting[0], at_once[0], waiting[1], at_once[1])


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return a table of the streams and one of waiting beside settling at once."""
    streams = [row for row in rows if isinstance(row, OverlapRow)]
    reference = streams[0].seconds
    lines = [
        (
            row.name,
            f"{row.examples:,}",
            ms(row.seconds),
            f"{row.seconds / (row.sgd_seconds or reference):.1f} × "
            + ("SGD" if row.sgd_seconds else REFERENCE),
            f"{row.exponent:.2f}",
            f"{row.longest:.1f} s",
            f"{row.moved:,}",
            f"{row.misfits:,}",
            f"{row.pending:,}",
            f"{row.audits}, " + ("all agree" if row.audits_agree else "NOT ALL AGREE"),
            percent(row.accuracy),
            row.chosen,
        )
        for row in streams
    ]
    head = (
        *("taught", "examples", "ms each", "beside", "exponent", "longest call"),
        *("moves", "misfits", "pending", "audits", "test", "chosen"),
    )
    note = (
        "Label order, refreshes included. Exponent: growth of the mean cost from a stream of a "
        "tenth of the examples to all of them. Beside: the stream of scattering features in the "
        "same run; for the Gaussians SGDClassifier.partial_fit, row by row."
    )
    waits = [row for row in rows if isinstance(row, WaitingRow)]
    compared = [
        (
            row.name,
            f"{row.examples:,}",
            ms(row.seconds),
            ms(row.seconds_at_once),
            percent(row.accuracy),
            percent(row.accuracy_at_once),
        )
        for row in waits
    ]
    columns = ("taught", "examples", "ms each", "at once", "test", "at once")
    return [
        Table("12. Overlapping classes", head, lines, note),
        Table("12. Waiting beside settling at once", columns, compared, "Before consolidate()."),
    ]


def goals(rows: Sequence[Row]) -> list[Goal]:
    """Return the goals: cost, growth, audits, and accuracy beside settling at once."""
    streams = [row for row in rows if isinstance(row, OverlapRow)]
    reference, found = streams[0].seconds, []
    for row in streams[1:]:
        ratio = row.seconds / (row.sgd_seconds or reference)
        beside = "SGD row by row" if row.sgd_seconds else "scattering"
        goal = f"{row.name}: at most 5 times {beside}"
        found += [Goal("overlap", goal, f"{ratio:.1f}", ratio <= 5.0)]
        goal = f"{row.name}: growth exponent below 0.3"
        found += [Goal("overlap", goal, f"{row.exponent:.2f}", row.exponent < 0.3)]
        goal = f"{row.name}: every misfit listed at {row.audits} audits"
        found += [Goal("overlap", goal, yes(row.audits_agree), row.audits_agree)]
    for wait in (row for row in rows if isinstance(row, WaitingRow)):
        lost = wait.accuracy_at_once - wait.accuracy
        goal = f"{wait.name}: within 0.3 points of settling at once"
        found += [Goal("overlap", goal, f"{100 * lost:+.2f} points lost", lost <= 0.003)]
    return found
