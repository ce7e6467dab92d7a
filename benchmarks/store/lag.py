"""A live stream: how long after a row is taught a reader that reloads has it."""

import tempfile
import time
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.engine.window import classes_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, ms
from minout.learner import Learner

POLL = 0.01
PATIENCE = 60.0
"""The reader waits so many seconds for the last rows."""
MOST = 1.0
PERIOD = 10_000
"""So many different rows are repeated, with new ids."""


class LagRow(NamedTuple):
    """A stream of `rate` rows a second: seconds until a reader has a row, and of one reload."""

    seconds: float
    rate: float
    rows: int
    seen: int
    median: float
    most_of_99: float
    reload_seconds: float


def measure(seconds: float, rate: float, seed: int, progress: Progress) -> list[LagRow]:
    """Teach at a constant rate in one process, and reload in another."""
    progress("lag", 0, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        stream = classes_of("separable", 50, seed)
        with Learner.open(folder) as learner:
            for row, label in zip(stream.rows, stream.labels.tolist(), strict=True):
                learner.teach(row, label, id=time.monotonic_ns())
        context, count = get_context("spawn"), int(seconds * rate)
        is_ready = context.Event()
        with context.Pool(2, _wait_for, (is_ready,)) as pool:
            writing = pool.apply_async(_write, (folder, count, rate, seed))
            reading = pool.apply_async(_read, (folder, count, seconds))
            writing.get()
            lags, reload_seconds = reading.get()
    middle, high = np.percentile(lags, [50, 99]).tolist()
    return [LagRow(seconds, rate, count, len(lags), middle, high, reload_seconds)]


_events: list[Event] = []


def _wait_for(is_ready: Event) -> None:
    _events[:] = [is_ready]


def _write(folder: Path, count: int, rate: float, seed: int) -> None:
    # The id of a row is the time at which it was taught, on a clock that all processes share.
    stream = classes_of("separable", PERIOD, seed)
    with Learner.open(folder) as learner:
        _events[0].wait()
        began = time.monotonic()
        for n in range(count):
            time.sleep(max(began + n / rate - time.monotonic(), 0.0))
            row = stream.rows[n % PERIOD]
            learner.teach(row, int(stream.labels[n % PERIOD]), id=time.monotonic_ns())


def _read(folder: Path, count: int, seconds: float) -> tuple[list[float], float]:
    # Return the lag of each row that arrived, and the mean time of a reload with something new.
    reader, lags, spent, reloads = Learner.open(folder, read_only=True), [], 0.0, 0
    known, until = len(reader), time.monotonic() + seconds + PATIENCE
    _events[0].set()
    while len(lags) < count and time.monotonic() < until:
        before = time.monotonic()
        if reader.reload():
            now = time.monotonic()
            spent, reloads = spent + now - before, reloads + 1
            ids = reader.ids
            lags += [now - int(each) / 1e9 for each in ids[known:]]
            known = len(ids)
        else:
            time.sleep(POLL)
    return lags, spent / max(reloads, 1)


def tables(rows: Sequence[LagRow]) -> list[Table]:
    """Return the lag of a reader."""
    head = ("rows a second", "seconds", "rows", "seen", "median, ms", "99 %, ms", "reload, ms")
    lines = [
        (
            f"{row.rate:,.0f}",
            f"{row.seconds:,.0f}",
            f"{row.rows:,}",
            f"{row.seen:,}",
            ms(row.median),
            ms(row.most_of_99),
            ms(row.reload_seconds),
        )
        for row in rows
    ]
    note = "The reader asks every 10 ms; a group commit comes half a second after the first change."
    return [Table("From teaching a row until a reader has it", head, lines, note)]


def goals(rows: Sequence[LagRow]) -> list[Goal]:
    """Return the goal of this part: 99 % of rows arrive within a second."""
    return [
        Goal("lag", f"99 % within {MOST:.0f} s", f"{row.most_of_99:.2f} s", row.most_of_99 <= MOST)
        for row in rows
    ]
