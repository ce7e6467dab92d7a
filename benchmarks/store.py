"""A model on disk: what a row costs there, beside RAM; opening it; its size."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.data import Array, Ints, blobs, images, scattering
from benchmarks.measuring import Options, Table, bytes_of, ms, timed, track
from minout import Identity, Learner

DURABILITIES = ("normal", "full")
BLOCK = 20
"""So many rows are taught to one learner, then to the other, so that other load slows both."""
REPEATS = 5
Drawn = dict[str, tuple[Array, Ints]]


def run(options: Options) -> Iterator[Table]:
    """Yield the cost of a row, then that of opening a model."""
    data = _draw(options)
    most = 40 if options.small else 2_000
    yield Table(
        "One `teach`, in RAM and on disk",
        ("rows", "durability", "ms in RAM", "ms on disk", "ratio"),
        [
            _cost_line(name, X[:most], y, durability)
            for name, (X, y) in data.items()
            for durability in DURABILITIES
        ],
        "The same rows, 20 to one and then 20 to the other, default settings. "
        'Each call commits; "full" also waits until the disk has it.',
    )
    yield Table(
        "Opening a model to read it",
        ("rows", "ms to open", "ms to read its bytes", "ratio", "MB on disk", "MB of rows"),
        [_open_line(name, X, y) for name, (X, y) in data.items()],
        "The files are in the cache of the system.",
    )


def _draw(options: Options) -> Drawn:
    rng = np.random.default_rng(options.seed)
    count = 60 if options.small else 60_000
    found = {f"{count:,} of a table × 20": blobs(10, 20, 25.0, count, rng)}
    if not options.small:
        pictures = scattering(images(options, 1_000 if options.data else 400))
        order = rng.permutation(len(pictures.labels))
        name = f"{len(order):,} images × {pictures.rows.shape[1]:,}"
        found[name] = pictures.rows[order], pictures.labels[order]
    return found


def _cost_line(name: str, X: Array, y: Ints, durability: Any) -> tuple[str, ...]:
    features = Identity(X.dtype.name)
    with tempfile.TemporaryDirectory() as folder:
        stored = Learner.open(
            Path(folder) / "model.minout", durability=durability, features=features
        )
        learners, seconds = (Learner(features=features), stored), [0.0, 0.0]
        for start in track(range(0, len(X), BLOCK), f"{name}, {durability}"):
            part = slice(start, start + BLOCK)
            for n in (0, 1) if start // BLOCK % 2 else (1, 0):
                seconds[n] += _teach(learners[n], X[part], y[part])
        seconds[1] += timed(stored.close)[0]
    times = [each / len(X) for each in seconds]
    return f"{name}: {len(X):,}", durability, *map(ms, times), f"{times[1] / times[0]:.2f}"


def _teach(learner: Learner, X: Array, y: Ints) -> float:
    start = time.perf_counter()
    for x, label in zip(X, y.tolist(), strict=True):
        learner.teach(x, label)
    return time.perf_counter() - start


def _open_line(name: str, X: Array, y: Ints) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.minout"
        with Learner.open(path, features=Identity(X.dtype.name)) as learner:
            for start in track(range(0, len(X), 500), f"{name}, to open"):
                learner.teach_many(X[start : start + 500], y[start : start + 500].tolist())
        times = []
        for _ in range(REPEATS):
            opened, model = timed(lambda: Learner.open(path, read_only=True))
            read, _ = timed(path.read_bytes)
            times.append((opened, read))
            model.close()
        opened, read = (median(each) for each in zip(*times, strict=True))
        size = bytes_of(path)
    megabytes = f"{size / 1e6:,.1f}", f"{X.nbytes / 1e6:,.1f}"
    return name, ms(opened), ms(read), f"{opened / read:.1f}", *megabytes
