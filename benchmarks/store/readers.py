"""A reader beside a writer: predictions per second, and the writer's rate, each also alone."""

import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

from benchmarks.engine.window import classes_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table
from minout.learner import Learner

STORED, BATCH = 2_000, 100
"""Examples in the model, which has a window; rows of one prediction."""
LEAST = 0.5


class ReadersRow(NamedTuple):
    """Rows per second that a reader predicts and a writer teaches, alone and side by side."""

    seconds: float
    alone_predicted: float
    beside_predicted: float
    reloads: int
    alone_taught: float
    beside_taught: float


def measure(seconds: float, seed: int, progress: Progress) -> list[ReadersRow]:
    """Read, write, and do both at the same time, in processes of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        stream = classes_of("separable", STORED, seed)
        with Learner.open(folder, keep=STORED) as learner:
            learner.teach_many(stream.rows, stream.labels.tolist())
        found = []
        for n, tasks in enumerate(((_read,), (_write,), (_read, _write))):
            progress("readers", n, 3)
            found.append(_side_by_side(tasks, folder, seconds, seed + 1 + n))
    (alone,), (written,), (read, beside) = found
    return [ReadersRow(seconds, alone[0], read[0], int(read[1]), written[0], beside[0])]


Task = Callable[[Path, float, int], tuple[float, float]]


def _side_by_side(
    tasks: Sequence[Task], folder: Path, seconds: float, seed: int
) -> list[tuple[float, float]]:
    context = get_context("spawn")
    barrier = context.Barrier(len(tasks))
    with context.Pool(len(tasks), _meet_at, (barrier,)) as pool:
        asked = [pool.apply_async(task, (folder, seconds, seed)) for task in tasks]
        return [each.get() for each in asked]


_barriers: list[Barrier] = []


def _meet_at(barrier: Barrier) -> None:
    _barriers[:] = [barrier]


def _read(folder: Path, seconds: float, seed: int) -> tuple[float, float]:
    # Return rows predicted per second, and how often there was something new.
    reader, done, reloads = Learner.open(folder, read_only=True), 0, 0
    rows = classes_of("separable", BATCH, seed).rows
    reader.predict(rows)
    _barriers[0].wait()
    began = time.perf_counter()
    while time.perf_counter() < began + seconds:
        reloads += reader.reload()
        reader.predict(rows)
        done += len(rows)
    return done / (time.perf_counter() - began), reloads


def _write(folder: Path, seconds: float, seed: int) -> tuple[float, float]:
    # Return rows taught per second.
    stream, done = classes_of("separable", 20_000, seed), 0
    with Learner.open(folder) as learner:
        learner.teach(stream.rows[-1], int(stream.labels[-1]))
        _barriers[0].wait()
        began = time.perf_counter()
        while time.perf_counter() < began + seconds:
            n = done % len(stream.labels)
            learner.teach(stream.rows[n], int(stream.labels[n]))
            done += 1
        return done / (time.perf_counter() - began), 0.0


def tables(rows: Sequence[ReadersRow]) -> list[Table]:
    """Return the rates."""
    head = ("rows per second", "alone", "side by side", "ratio")
    lines = [
        (what, f"{alone:,.0f}", f"{beside:,.0f}", f"{beside / alone:.2f}")
        for row in rows
        for what, alone, beside in (
            ("predicted by a reader", row.alone_predicted, row.beside_predicted),
            ("taught by a writer", row.alone_taught, row.beside_taught),
        )
    ]
    reloads = sum(row.reloads for row in rows)
    note = f"The reader reloads before every {BATCH} rows; {reloads:,} times there was more."
    return [Table("A reader beside a writer", head, lines, note)]


def goals(rows: Sequence[ReadersRow]) -> list[Goal]:
    """Return the goal of this part: a writer leaves a reader at least half of its speed."""
    ratios = [row.beside_predicted / row.alone_predicted for row in rows]
    return [
        Goal("readers", f"at least {LEAST} of alone", f"{each:.2f}", each >= LEAST)
        for each in ratios
    ]
