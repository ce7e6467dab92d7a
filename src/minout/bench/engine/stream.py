"""All examples in label order: nothing forgotten at any audit, and how fast beside the floor."""

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout.bench.engine.floor import Floor, floor
from minout.bench.engine.growth import Growth, grown
from minout.bench.engine.inside import chosen
from minout.bench.engine.lda import lda_predictions
from minout.bench.engine.material import Featured, Material, in_label_order
from minout.bench.engine.taught import WITH_METRIC, Ids, Taught, joined, new_learner, teach
from minout.bench.engine.tell import Tell
from minout.learner import Learner
from minout.metrics import accuracy


class Audited(NamedTuple):
    """Is one full audit while the stream paused.

    `agrees` says that it has no complaint. `listed` says that its exceptions are those that the
    learner lists, and those that the certificates of all steps so far add up to. `unsure` counts
    margins so near to 0 that rounding decides their side.
    """

    stored: int
    agrees: bool
    listed: bool
    complaint: str
    exceptions: int
    margins: int
    least_margin: float | None
    slack: float
    unsure: int
    seconds: float


class Learned(NamedTuple):
    """Is what the whole stream came to; times of features and `consolidate()` are apart."""

    examples: int
    features: str
    exceptions: int
    accuracy: float
    accuracy_consolidated: float
    exceptions_consolidated: int
    lda: float
    chosen: str
    features_seconds: float
    consolidate_seconds: float


class Speed(NamedTuple):
    """Is where the wall time of the stream went, and the floor of `separators` × `dimensions`."""

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
        """Is the wall time over the floor in single precision."""
        return self.seconds / self.floor_single


Row = Audited | Learned | Speed | Growth


def measure(material: Material, tell: Tell) -> list[Row]:
    """Teaches everything in label order, audits and measures the floor between the examples."""
    settings = material.settings
    featured = material.featured(settings.features, tell)
    material.warm_up(tell)
    learner = new_learner(WITH_METRIC)
    taught, floors, audits = _taught(learner, featured, settings.audits, settings.seed, tell)
    before = accuracy(learner.predict(featured.test_rows), featured.test_labels)
    exceptions = len(learner.exceptions)
    tell("consolidating", 0, 1)
    start = time.perf_counter()
    learner.consolidate()
    seconds = time.perf_counter() - start
    audits.append(_audited(learner, learner.exceptions))
    tell("LDA", 0, 1)
    named = lda_predictions(featured.rows, featured.labels, featured.test_rows)
    learned = Learned(
        len(learner),
        settings.features,
        exceptions,
        before,
        accuracy(learner.predict(featured.test_rows), featured.test_labels),
        len(learner.exceptions),
        accuracy(named, featured.test_labels),
        chosen(learner),
        featured.seconds,
        seconds,
    )
    speed = _speed(taught, floors, len(np.unique(featured.labels)), featured.rows.shape[1])
    return [*audits, learned, speed, *grown("label order", taught, settings.grown)]


def _taught(
    learner: Learner, featured: Featured, audits: int, seed: int, tell: Tell
) -> tuple[Taught, list[Floor], list[Audited]]:
    order = in_label_order(featured.labels)
    classes = len(np.unique(featured.labels))
    shape = (max(classes * (classes - 1) // 2, 1), featured.rows.shape[1])
    W = np.random.default_rng(seed).normal(size=shape)
    pieces, floors, found = [], [], []
    told: set[int | str] = set()
    done = 0
    for part in np.array_split(order, audits):
        rows = featured.rows[part]
        piece = teach(
            learner, rows, featured.labels[part], _from(tell, done, len(order)), what="stream"
        )
        pieces.append(piece)
        floors.append(floor(W, rows))  # the same rows, right away: noise hits both
        _follow(told, piece.changes)
        found.append(_audited(learner, told))
        done += len(part)
    return joined(pieces), floors, found


def _from(tell: Tell, before: int, total: int) -> Tell:
    return lambda what, done, _: tell(what, before + done, total)


def _follow(told: set[int | str], changes: Iterable[tuple[Ids, Ids]]) -> None:
    # What somebody who reads every certificate, and nothing else, takes the exceptions to be.
    for appeared, cleared in changes:
        told.difference_update(cleared)
        told.update(appeared)


def _audited(learner: Learner, told: Iterable[int | str]) -> Audited:
    start = time.perf_counter()
    audit = learner.audit()
    seconds = time.perf_counter() - start
    listed = set(learner.exceptions)
    apart = len(listed ^ set(audit.exceptions))
    return Audited(
        audit.examples,
        audit.ok,
        listed == set(told) and apart <= audit.too_close,
        audit.complaints[0] if audit.complaints else "",
        len(listed),
        audit.margins,
        audit.least_margin if np.isfinite(audit.least_margin) else None,
        audit.slack,
        audit.too_close,
        seconds,
    )


def _speed(taught: Taught, floors: Sequence[Floor], classes: int, dimensions: int) -> Speed:
    moved = (taught.moved > 0) & ~taught.refreshed
    fast = ~moved & ~taught.refreshed
    counts_and_seconds: list[Any] = []
    for steps in (fast, moved, taught.refreshed):
        counts_and_seconds += [int(steps.sum()), float(taught.seconds[steps].sum())]
    return Speed(
        len(taught.seconds),
        classes * (classes - 1) // 2,
        dimensions,
        float(taught.seconds.sum()),
        sum(each.single for each in floors),
        sum(each.double for each in floors),
        *counts_and_seconds,
    )
