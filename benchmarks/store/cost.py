"""What a folder costs: the same rows taught in RAM and to a folder, taking turns."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.data import Array, Ints
from benchmarks.engine.window import classes_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, ms
from minout import streams
from minout.features import Identity, Scattering
from minout.learner import Learner

BLOCK = 20
"""So many rows are taught to one learner, then to the other."""
MOST = 1.2


class CostRow(NamedTuple):
    """The mean seconds of one `teach`, wall and CPU of its thread, in RAM and in a folder."""

    data: str
    durability: str
    rows: int
    columns: int
    ram_seconds: float
    seconds: float
    ram_cpu_seconds: float
    cpu_seconds: float

    @property
    def ratio(self) -> float:
        """The wall time in the folder, divided by that in RAM."""
        return self.seconds / self.ram_seconds


def scattering(data: str | None, count: int, seed: int) -> tuple[Array, Ints]:
    """Return scattering features of images in a random order, and labels."""
    images = streams.load(data)
    picked = np.random.default_rng(seed).permutation(len(images.labels))[:count]
    features = Scattering(image_shape=images.image_shape)
    return features.transform(images.rows[picked]), images.labels[picked]


def measure(
    data: str | None, images: int, rows: int, example_rows: int, seed: int, progress: Progress
) -> list[CostRow]:
    """Teach images and a table with group commits, and fewer of each with single commits."""
    found = []
    for name, (X, y) in {
        "images": scattering(data, images, seed),
        "table": classes_of("separable", rows, seed)[:2],
    }.items():
        for durability, count in (("batch", len(X)), ("example", min(example_rows, len(X)))):
            what = f"{name}, {durability}"
            times = _teach(X[:count], y[:count], durability, what, progress)
            found.append(CostRow(name, durability, count, X.shape[1], *times))
    return found


def _teach(
    X: Array, y: Ints, durability: str, what: str, progress: Progress
) -> tuple[float, float, float, float]:
    features = Identity(X.dtype.name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        with Learner.open(folder, durability=durability, features=features) as stored:  # type: ignore[arg-type]
            learners = Learner(features=features), stored
            wall, cpu = np.zeros(2), np.zeros(2)
            for start in range(0, len(X), BLOCK):
                block = slice(start, start + BLOCK)
                for n, learner in enumerate(learners):
                    spent = _seconds(learner, X[block], y[block])
                    wall[n] += spent[0]
                    cpu[n] += spent[1]
                progress(what, min(start + BLOCK, len(X)), len(X))
            wall[1] += _wall(stored.flush)
    return *(wall / len(X)).tolist(), *(cpu / len(X)).tolist()


def _seconds(learner: Learner, X: Array, y: Ints) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.thread_time()
    for row, label in zip(X, y.tolist(), strict=True):
        learner.teach(row, label)
    return time.perf_counter() - wall, time.thread_time() - cpu


def _wall(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def tables(rows: Sequence[CostRow]) -> list[Table]:
    """Return the cost of one example by data and durability."""
    head = ("data", "durability", "rows", "columns", "RAM, ms", "folder, ms", "ratio", "CPU ratio")
    lines = [
        (
            row.data,
            row.durability,
            f"{row.rows:,}",
            f"{row.columns:,}",
            ms(row.ram_seconds),
            ms(row.seconds),
            f"{row.ratio:.2f}",
            f"{row.cpu_seconds / row.ram_cpu_seconds:.2f}",
        )
        for row in rows
    ]
    note = 'With "example", each call waits for the disk; that is most of its cost.'
    return [Table("One example in RAM and in a folder", head, lines, note)]


def goals(rows: Sequence[CostRow]) -> list[Goal]:
    """Return the goal of this part: a group commit costs little."""
    return [
        Goal("cost", f"{row.data}: at most {MOST} times RAM", f"{row.ratio:.2f}", row.ratio <= MOST)
        for row in rows
        if row.durability == "batch"
    ]
