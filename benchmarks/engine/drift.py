"""Streams that change: accuracy before teaching, with and without a window; alarms."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.changing import CHANGING, STATIONARY, Stream, stationary
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import Pins, new_learner
from benchmarks.parts import Progress, no_progress, worth_showing
from benchmarks.rivals import Online, online_models
from benchmarks.tables import Goal, Table, ms, percent
from minout import DriftMonitor

MOST_ALARMS = 0.02
FLIPPED = next(iter(CHANGING))


class DriftRow(NamedTuple):
    """One model on one stream: every row is predicted, then taught.

    `accuracy` is of all rows (a new label counts as wrong), `last` of the last quarter; `alarms`
    are the rows after which the drift monitor reported a fall, for our learner only.
    """

    seed: int
    stream: str
    model: str
    rows: int
    accuracy: float
    last: float
    seconds: float
    alarms: tuple[int, ...] | None


class AlarmRow(NamedTuple):
    """A stream that does not change: after which rows a fall was reported, wrongly."""

    seed: int
    kind: str
    rows: int
    share: float
    alarms: tuple[int, ...]


def measure(inputs: Inputs, progress: Progress) -> list[DriftRow | AlarmRow]:
    """Run every model on every changing stream, and ours on streams that do not change."""
    settings = inputs.settings
    inputs.compile(progress)
    rows: list[DriftRow | AlarmRow] = []
    for name, make in CHANGING.items():
        stream = make(settings.drift_rows, np.random.default_rng(settings.seed))
        tuning = make(settings.drift_tuning, np.random.default_rng(settings.seed + 1))
        for keep in ("all", settings.drift_keep):
            what = f"ours, {'all kept' if keep == 'all' else f'newest {keep:,} kept'}"
            right, seconds, alarms = run_ours(stream, Pins(keep=keep), progress, f"{name}: {what}")
            rows.append(_row(settings.seed, name, what, right, seconds, alarms))
        for model in online_models(np.unique(stream.labels)):
            best = max(model.variants, key=lambda each: run_online(each, tuning)[0].mean())
            right, seconds = run_online(best, stream, progress, f"{name}: {model.name}")
            what = f"{model.name} ({best.settings})"
            rows.append(_row(settings.seed, name, what, right, seconds, None))
    for seed in range(settings.drift_streams):
        progress("streams that do not change", seed, settings.drift_streams)
        kind = STATIONARY[seed % len(STATIONARY)]
        stream = stationary(kind, settings.drift_stationary, np.random.default_rng(seed))
        right, _, alarms = run_ours(stream, Pins())
        rows.append(AlarmRow(seed, kind, len(right), float(right.mean()), alarms))
    return rows


def run_ours(
    stream: Stream, pins: Pins, progress: Progress = no_progress, what: str = ""
) -> tuple[np.ndarray, float, tuple[int, ...]]:
    """Teach a stream; return what was right before (n,), seconds, and the rows with an alarm."""
    learner, monitor = new_learner(pins, dtype="float64"), DriftMonitor()
    right, alarms = np.zeros(len(stream.labels), dtype=bool), []
    start = time.perf_counter()
    for i, (x, y) in enumerate(zip(stream.rows, stream.labels.tolist(), strict=True)):
        was_right = learner.teach(x, y).was_right
        right[i] = was_right is True
        if monitor.update(y, was_right) is not None:
            alarms.append(i + 1)
        if worth_showing(i + 1, len(right)):
            progress(what, i + 1, len(right))
    return right, time.perf_counter() - start, tuple(alarms)


def run_online(
    variant: Online, stream: Stream, progress: Progress = no_progress, what: str = ""
) -> tuple[np.ndarray, float]:
    """Predict and teach a stream with another model; return what was right (n,), and seconds."""
    model, right = variant.make(), np.zeros(len(stream.labels), dtype=bool)
    rows = model.inputs(stream.rows)
    start = time.perf_counter()
    for i, (x, y) in enumerate(zip(rows, stream.labels.tolist(), strict=True)):
        right[i] = model.predict(x) == y
        model.learn(x, y)
        if worth_showing(i + 1, len(right)):
            progress(what, i + 1, len(right))
    return right, time.perf_counter() - start


def _row(
    seed: int,
    stream: str,
    model: str,
    right: np.ndarray,
    seconds: float,
    alarms: tuple[int, ...] | None,
) -> DriftRow:
    last = right[3 * len(right) // 4 :]
    return DriftRow(
        seed, stream, model, len(right), float(right.mean()), float(last.mean()), seconds, alarms
    )


def tables(rows: Sequence[DriftRow | AlarmRow]) -> list[Table]:
    """Return a table of the changing streams and one of false alarms."""
    models = [row for row in rows if isinstance(row, DriftRow)]
    note = (
        "Every row is predicted, then taught; a new label counts as wrong. The size of the window "
        "was fixed beforehand. The other models' settings, in brackets, are the best on a shorter "
        "draw of the same stream with another seed. After a row with an alarm the drift monitor "
        "reported a fall."
    )
    if not any("ARF" in row.model for row in models):
        note += (
            " River's models are missing because river is not installed: "
            "pip install 'minout[benchmarks]'."
        )
    head = ("stream", "model", "accuracy", "last quarter", "ms per row", "alarms after row")
    lines = [
        (
            row.stream,
            row.model,
            percent(row.accuracy),
            percent(row.last),
            ms(row.seconds / row.rows),
            "–" if row.alarms is None else _numbers(row.alarms),
        )
        for row in models
    ]
    return [Table("19a. Streams that change", head, lines, note), _alarm_table(rows)]


def _alarm_table(rows: Sequence[DriftRow | AlarmRow]) -> Table:
    found = _by_kind(rows)
    lines = [
        (
            kind,
            str(len(some)),
            f"{some[0].rows:,}",
            f"{percent(min(row.share for row in some), 0)} to "
            f"{percent(max(row.share for row in some), 0)}",
            str(sum(bool(row.alarms) for row in some)),
        )
        for kind, some in found.items()
    ]
    head = ("classes", "streams", "rows", "accuracy before teaching", "streams with an alarm")
    return Table("19b. False alarms on streams that do not change", head, lines)


def _by_kind(rows: Sequence[DriftRow | AlarmRow]) -> dict[str, list[AlarmRow]]:
    found: dict[str, list[AlarmRow]] = {}
    for row in rows:
        if isinstance(row, AlarmRow):
            found.setdefault(row.kind, []).append(row)
    return found


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(f"{each:,}" for each in values) or "none"


def goals(rows: Sequence[DriftRow | AlarmRow]) -> list[Goal]:
    """Return the goals: few false alarms, and one soon after labels are swapped."""
    still = [row for row in rows if isinstance(row, AlarmRow)]
    false = sum(bool(row.alarms) for row in still)
    ours = [row for row in rows if isinstance(row, DriftRow) and row.alarms is not None]
    swapped = next(row for row in ours if row.stream == FLIPPED)
    half = swapped.rows // 2
    delay = next((each - half for each in swapped.alarms or () if each > half), None)
    return [
        Goal(
            "drift",
            f"false alarms on at most {percent(MOST_ALARMS, 0)} of streams",
            f"{false} of {len(still)}",
            false <= MOST_ALARMS * len(still),
        ),
        Goal(
            "drift",
            "an alarm within 1,000 rows after labels are swapped",
            "none" if delay is None else f"after {delay:,} rows",
            delay is not None and delay <= 1_000,
        ),
    ]
