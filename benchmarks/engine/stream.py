"""All examples as one stream: full audits, accuracy, wall time, and the cost of one example."""

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import in_label_order
from benchmarks.engine.inputs import FeatureSet, Inputs
from benchmarks.inside import Id, chosen, misfits
from benchmarks.learners import WHITENED, Steps, concatenate_steps, new_learner, teach
from benchmarks.measuring import Floor, measure_floor, seconds_of
from benchmarks.parts import Progress
from benchmarks.rivals import streaming_lda
from minout.learner import Learner
from minout.metrics import accuracy


class AuditRow(NamedTuple):
    """One full audit between two examples of the stream.

    `agrees`: the audit has no difference. `listed`: its misfits are those that the learner lists,
    and those that the certificates of all steps so far add up to. `unsure` counts margins so close
    to 0 that rounding decides their side.
    """

    stored: int
    agrees: bool
    listed: bool
    difference: str
    misfits: int
    margins: int
    least_margin: float | None
    rounding_error: float
    unsure: int
    seconds: float


class AccuracyRow(NamedTuple):
    """The model after the stream and after `consolidate()`; LDA has the same features."""

    examples: int
    features: str
    misfits: int
    accuracy: float
    accuracy_consolidated: float
    misfits_consolidated: int
    lda: float
    chosen: str
    features_seconds: float
    consolidate_seconds: float


class SpeedRow(NamedTuple):
    """The wall time of the stream by kind of step, and the floor of `separators` × `dimensions`.

    A fast step moves no separator.
    """

    examples: int
    separators: int
    dimensions: int
    seconds: float
    floor_single: float
    floor_double: float
    fast: int
    fast_seconds: float
    moved: int
    moved_seconds: float
    refreshes: int
    refresh_seconds: float

    @property
    def ratio(self) -> float:
        """The wall time over the floor in single precision."""
        return self.seconds / self.floor_single


class GrowthRow(NamedTuple):
    """The cost in seconds of the last `window` examples before `stored` were stored.

    `mean` includes the refreshes in the window, `mean_between` excludes them. They come each time
    the number of examples has doubled, so `refreshes_spread` divides the time of all refreshes so
    far by all examples so far.
    """

    order: str
    stored: int
    window: int
    mean: float
    mean_between: float
    refreshes_spread: float
    median: float
    p99: float
    maximum: float
    moved: int
    refreshes: int

    @property
    def long_run(self) -> float:
        """The mean with refreshes spread over all examples."""
        return self.mean_between + self.refreshes_spread


Row = AuditRow | AccuracyRow | SpeedRow | GrowthRow


def measure(inputs: Inputs, progress: Progress) -> list[Row]:
    """Teach everything in label order; audits and the floor are measured between examples."""
    settings = inputs.settings
    data = inputs.features(settings.features, progress)
    inputs.compile(progress)
    learner = new_learner(WHITENED)
    steps, floors, audits = _teach_and_audit(
        learner, data, settings.audits, settings.seed, progress
    )
    before = accuracy(learner.predict(data.test_rows), data.test_labels)
    misfits_before = len(misfits(learner))
    progress("consolidating", 0, 1)
    seconds = seconds_of(learner.consolidate)
    audits.append(_audit(learner, misfits(learner)))
    progress("LDA", 0, 1)
    lda = streaming_lda(data.rows, data.labels, data.test_rows)
    result = AccuracyRow(
        len(learner),
        settings.features,
        misfits_before,
        before,
        accuracy(learner.predict(data.test_rows), data.test_labels),
        len(misfits(learner)),
        accuracy(lda, data.test_labels),
        chosen(learner),
        data.seconds,
        seconds,
    )
    speed = _speed(steps, floors, len(np.unique(data.labels)), data.rows.shape[1])
    return [*audits, result, speed, *growth_rows("label order", steps, settings.growth_at)]


def measure_growth(inputs: Inputs, progress: Progress) -> list[GrowthRow]:
    """Teach everything in random order, so that every window has all classes."""
    settings = inputs.settings
    data = inputs.features(settings.features, progress)
    inputs.compile(progress)
    order = np.random.default_rng(settings.seed).permutation(len(data.labels))
    order = order[: max((stored for stored, _ in settings.growth_at), default=0)]
    rows, labels = data.rows[order], data.labels[order]
    steps = teach(new_learner(WHITENED), rows, labels, progress, what="shuffled stream")
    return growth_rows("shuffled", steps, settings.growth_at)


def growth_rows(order: str, steps: Steps, windows: Sequence[tuple[int, int]]) -> list[GrowthRow]:
    """Return the cost of one example at each (stored, window) that the stream reached."""
    n = len(steps.seconds)
    return [_growth_at(order, steps, stored, window) for stored, window in windows if stored <= n]


def _growth_at(order: str, steps: Steps, stored: int, window: int) -> GrowthRow:
    last = slice(max(stored - window, 0), stored)
    seconds, refreshed = steps.seconds[last], steps.refreshed[last]
    all_refreshes = steps.seconds[:stored][steps.refreshed[:stored]].sum()
    return GrowthRow(
        order,
        stored,
        len(seconds),
        float(seconds.mean()),
        float(seconds[~refreshed].sum() / max(np.count_nonzero(~refreshed), 1)),
        float(all_refreshes / stored),
        float(np.median(seconds)),
        float(np.percentile(seconds, 99)),
        float(seconds.max()),
        int(np.count_nonzero(steps.moved[last])),
        int(refreshed.sum()),
    )


def _teach_and_audit(
    learner: Learner, data: FeatureSet, audits: int, seed: int, progress: Progress
) -> tuple[Steps, list[Floor], list[AuditRow]]:
    order = in_label_order(data.labels)
    classes = len(np.unique(data.labels))
    shape = (max(classes * (classes - 1) // 2, 1), data.rows.shape[1])
    W = np.random.default_rng(seed).normal(size=shape)
    pieces, floors, audit_rows = [], [], []
    certified: set[Id] = set()
    done = 0
    for part in np.array_split(order, audits):
        rows = data.rows[part]
        offset = _with_offset(progress, done, len(order))
        piece = teach(learner, rows, data.labels[part], offset, what="stream")
        pieces.append(piece)
        floors.append(measure_floor(W, rows))  # at once, so that other load slows both
        _follow_certificates(certified, piece.changes)
        audit_rows.append(_audit(learner, certified))
        done += len(part)
    return concatenate_steps(pieces), floors, audit_rows


def _with_offset(progress: Progress, before: int, total: int) -> Progress:
    return lambda what, done, _: progress(what, before + done, total)


def _follow_certificates(certified: set[Id], changes: Iterable[tuple[Iterable[Id], ...]]) -> None:
    # The misfits as known to a reader of the certificates alone.
    for new, former in changes:
        certified.difference_update(former)
        certified.update(new)


def _audit(learner: Learner, certified: Iterable[Id]) -> AuditRow:
    start = time.perf_counter()
    audit = learner.audit()
    seconds = time.perf_counter() - start
    listed = misfits(learner)
    differing = len(listed ^ misfits(audit))
    return AuditRow(
        audit.examples,
        audit.ok,
        listed == set(certified) and differing <= audit.too_close,
        audit.differences[0] if audit.differences else "",
        len(listed),
        audit.margins,
        audit.least_margin if np.isfinite(audit.least_margin) else None,
        audit.rounding_error,
        audit.too_close,
        seconds,
    )


def _speed(steps: Steps, floors: Sequence[Floor], classes: int, dimensions: int) -> SpeedRow:
    moved = (steps.moved > 0) & ~steps.refreshed
    fast = ~moved & ~steps.refreshed
    counts_and_seconds: list[Any] = []
    for kind in (fast, moved, steps.refreshed):
        counts_and_seconds += [int(kind.sum()), float(steps.seconds[kind].sum())]
    return SpeedRow(
        len(steps.seconds),
        classes * (classes - 1) // 2,
        dimensions,
        float(steps.seconds.sum()),
        sum(each.float32 for each in floors),
        sum(each.float64 for each in floors),
        *counts_and_seconds,
    )
