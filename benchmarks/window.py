"""A window (`keep`): what forgetting the oldest row costs, and whether memory stays level."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import Array, Ints, blobs
from benchmarks.measuring import Options, Table, alone, bytes_of, memory_mb, ms, track
from minout import Learner

SPREADS = {"separable": 25.0, "overlapping": 2.7}
"""Mean length of the centres of ten classes in 20 columns; a class has deviation 1."""
BLOCK = 20
"""So many rows are taught to one learner, then to the other, so that other load slows both."""


def run(options: Options) -> Iterator[Table]:
    """Yield the cost of a row with and without a window, then a long stream with one."""
    sizes = ((30, 20),) if options.small else ((1_000, 1_000), (10_000, 5_000), (60_000, 5_000))
    rows = [
        _cost_line(data, stored, more, options.seed) for data in SPREADS for stored, more in sizes
    ]
    yield Table(
        "One row more, all kept or the newest ones",
        (
            *("classes", "stored", "ms per row, all kept", "newest kept", "ratio"),
            *("misfits, all kept", "newest kept"),
        ),
        rows,
        "Ten classes in 20 columns, random order; `regions=1, expand=None`. Both are taught the "
        "same rows in turns.",
    )
    yield Table(
        "A long stream with a window",
        ("classes", "kept", "taught", "memory of the process", "saved model", "ms per row"),
        alone(_long_lines, options),
    )


def _draw(data: str, count: int, seed: int) -> tuple[Array, Ints]:
    return blobs(10, 20, SPREADS[data], count, np.random.default_rng(seed))


def _new(keep: int | str) -> Learner:
    return Learner(regions=1, expand=None, keep=keep)


def _cost_line(data: str, stored: int, more: int, seed: int) -> tuple[str, ...]:
    X, y = _draw(data, stored + more, seed)
    _teach(_new(20), X[:40], y[:40], "")  # loads modules
    learners, seconds = (_new("all"), _new(stored)), [0.0, 0.0]
    for learner in learners:
        _teach(learner, X[:stored], y[:stored], f"{data}, {stored:,} stored")
    for start in track(range(stored, stored + more, BLOCK), f"{data}, {stored:,} stored, in turns"):
        part = slice(start, start + BLOCK)
        for n in (0, 1) if start // BLOCK % 2 else (1, 0):
            seconds[n] += _teach(learners[n], X[part], y[part], "")
    return (
        data,
        f"{stored:,}",
        *(ms(each / more) for each in seconds),
        f"{seconds[1] / seconds[0]:.1f}",
        *(f"{len(each.misfits):,}" for each in learners),
    )


def _teach(learner: Learner, X: Array, y: Ints, what: str) -> float:
    labels, start = y.tolist(), time.perf_counter()
    for i in track(range(len(labels)), what) if what else range(len(labels)):
        learner.teach(X[i], labels[i])
    return time.perf_counter() - start


def _long_lines(options: Options) -> list[tuple[str, ...]]:
    keep, count = (15, 90) if options.small else (1_000, 100_000)
    found = []
    for data in SPREADS:
        X, y = _draw(data, count, options.seed)
        learner, done = _new(keep), 0
        for end in (2 * keep, count // 2, count):
            seconds = _teach(learner, X[done:end], y[done:end], f"{data}, to row {end:,}")
            size, taught = _saved_bytes(learner), end - done
            cells = f"{memory_mb():.0f} MB", f"{size / 1e6:.2f} MB", ms(seconds / taught)
            found.append((data, f"{keep:,}", f"{end:,}", *cells))
            done = end
    return found


def _saved_bytes(learner: Learner) -> int:
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "model")
        return bytes_of(Path(folder))
