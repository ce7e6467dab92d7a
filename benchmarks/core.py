"""What one call costs: a row in RAM and in a file, opening, reloading, windows, many classes."""

import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.data import Array, Ints, blobs, images, scattering
from benchmarks.measuring import Options, Table, timed, track
from minout import Identity, Learner, MinoutClassifier

SECONDS = 5.0
"""How long a reader and a writer run, alone and beside each other."""
RELOADS = 1_000
"""A reader takes over what was written once in so many predictions."""


def run(options: Options) -> Iterator[Table]:
    """Yield the cost of single calls, of streams, and of a reader beside a writer."""
    rng = np.random.default_rng(options.seed)
    stored, calls = (200, 40) if options.small else (60_000, 1_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.minout"
        yield Table("Single calls", ("call", "median"), _calls(path, stored, calls, rng))
        seconds = 0.2 if options.small else SECONDS
        yield Table(
            "A reader process and a writer process on one file",
            ("", "alone, per second", "beside the other", "ratio"),
            _beside(str(path), seconds),
            "By the median call. The reader predicts one row, and reloads once in 1,000 times; the "
            "writer teaches one row per call.",
        )
    yield Table(
        "Streams, default settings",
        ("rows", "order", "ms a row", "of CPU time", "ms of the longest call"),
        [_stream_line(*each) for each in _streams(options)],
    )


def _calls(path: Path, stored: int, calls: int, rng: Any) -> list[tuple[str, str]]:
    # Three classes far apart, 20 columns: nothing moves.
    X, y = blobs(3, 20, 30.0, stored + calls + 300, rng)
    labels = y.tolist()
    ram, model = Learner(), MinoutClassifier()
    for start in track(range(0, stored, 500), "rows"):
        ram.teach_many(X[start : start + 500], labels[start : start + 500])
    ram.save(path)
    model.fit(X[:1_000], labels[:1_000])
    new = range(stored, stored + calls)
    found = [("`teach`, in RAM", _median(lambda i: ram.teach(X[i], labels[i]), new))]
    one = _median(lambda i: model.partial_fit(X[i : i + 1], y[i : i + 1]), new)
    found.append(("`partial_fit` of one row, in RAM", one))
    with Learner.open(path) as disk, Learner.open(path, read_only=True) as reader:
        found.append(
            ("`teach`, in a file", _median(lambda i: disk.teach(X[i], labels[i], id=i), new))
        )
        for name, learner in (("in RAM", ram), ("in a file", disk)):
            batches = range(5)

            def teach(n: int, learner: Learner = learner) -> Any:
                rows = slice(stored + n, stored + n + 256)
                ids = [f"{n}-{i}" for i in range(len(labels[rows]))]
                return learner.teach_many(X[rows], labels[rows], ids=ids)

            found.append((f"`teach_many` of 256 rows, {name}", _median(teach, batches)))

        def reload(n: int) -> Any:
            rows = range(stored, stored + 100)
            ids = [f"r{n}-{i}" for i in rows]
            disk.teach_many(X[stored : stored + 100], [labels[i] for i in rows], ids=ids)
            return timed(reader.reload)[0]

        reader.reload()
        found.append(("`reload` of 100 new rows", _text(median(map(reload, range(5))))))
    opened = [timed(lambda: Learner.open(path, read_only=True))[0] for _ in range(5)]
    found.append((f"`open`, {stored:,} × 20", _text(median(opened))))
    return found


def _median(call: Callable[[int], Any], numbers: range) -> str:
    return _text(median(timed(lambda i=i: call(i))[0] for i in numbers))


def _text(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms"


def _beside(path: str, seconds: float) -> list[tuple[str, ...]]:
    jobs = {"reader": _read, "writer": _write}
    with get_context("spawn").Pool(2) as pool:
        alone = {name: pool.apply(job, (path, seconds)) for name, job in jobs.items()}
        started = {name: pool.apply_async(job, (path, seconds)) for name, job in jobs.items()}
        both = {name: each.get() for name, each in started.items()}
    return [
        (name, f"{alone[name]:,.0f}", f"{both[name]:,.0f}", f"{both[name] / alone[name]:.2f}")
        for name in jobs
    ]


def _read(path: str, seconds: float) -> float:
    with Learner.open(path, read_only=True) as learner:
        x, reads = learner.example(learner.ids[0])[0][None], iter(range(10**9))

        def read() -> None:
            if next(reads) % RELOADS == 0:
                learner.reload()
            learner.predict(x)

        return _rate(read, seconds)


def _write(path: str, seconds: float) -> float:
    with Learner.open(path) as learner:
        x, label = learner.example(learner.ids[0])
        return _rate(lambda: learner.teach(x, label), seconds)


def _rate(call: Callable[[], Any], seconds: float) -> float:
    # Calls per second, by the median call: a refresh is not one of a few.
    start, times = time.perf_counter(), list[float]()
    while time.perf_counter() - start < seconds:
        times.append(timed(call)[0])
    return 1.0 / median(times)


def _streams(options: Options) -> Iterator[tuple[str, str, Array, Ints, Any]]:
    rng = np.random.default_rng(options.seed)
    each, sizes = (2, ((5, 4),)) if options.small else (40, ((150, 384), (300, 64)))
    if not options.small:
        pictures = scattering(images(options, 400))
        order = np.argsort(pictures.labels, kind="stable")
        yield "images, scattering", "by label", pictures.rows[order], pictures.labels[order], "all"
    for classes, width in sizes:
        X, y = blobs(classes, width, 8.0, classes * each, rng)
        order = np.argsort(y, kind="stable")
        yield f"{classes} classes", "by label", X[order], y[order], "all"
    for keep in (10,) if options.small else (1_000, 10_000, 60_000):
        X, y = blobs(3, 20, 4.0, 2 * keep, rng)
        yield f"newest {keep:,} of", "random", X, y, keep
    if not options.small:
        X, y = blobs(1_000, 64, 8.0, 100_000, rng)
        order = np.argsort(y, kind="stable")
        yield "1,000 classes", "by label", X[order], y[order], "all"


def _stream_line(name: str, order: str, X: Array, y: Ints, keep: Any) -> tuple[str, ...]:
    learner, times = Learner(features=Identity(X.dtype.name), keep=keep), []
    start = time.process_time()
    for x, label in track([*zip(X, y.tolist(), strict=True)], name):
        times.append(timed(lambda x=x, label=label: learner.teach(x, label))[0])
    cpu = time.process_time() - start
    sizes = f"{name}, {len(X):,} × {X.shape[1]:,}"
    means = (f"{each / len(times) * 1e3:.3f}" for each in (sum(times), cpu))
    return sizes, order, *means, f"{max(times) * 1e3:,.0f}"
