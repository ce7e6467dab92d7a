"""Streams that change: accuracy before teaching, with and without a window; alarms."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Array, Ints, Rng, label_order
from benchmarks.measuring import Options, Table, ms, percent, track
from benchmarks.rivals import adaptive_models
from minout import DriftMonitor, Learner

KEEP = 1_000


class Watched(NamedTuple):
    """What was right before it was taught (n,), ms per row, and the rows after which came alarms.

    `alarms` is None for models without a monitor.
    """

    right: Array
    milliseconds: str
    alarms: list[int] | None


def run(options: Options) -> Iterator[Table]:
    """Yield the changing streams, then false alarms on streams that do not change."""
    count, streams, still = (40, 3, 20) if options.small else (20_000, 100, 4_000)
    rows = []
    for name, draw in CHANGING.items():
        X, y = draw(count, np.random.default_rng(options.seed))
        for model, watched in _watched(X, y, name):
            rows.append((name, model, *_cells(watched)))
    yield Table(
        f"Streams of {count:,} rows that change",
        ("stream", "model", "accuracy", "last quarter", "ms per row", "alarms after row"),
        rows,
        "Each row is predicted, then taught; a new label counts as wrong. Default settings; the "
        "size of the window was fixed beforehand. Alarms are those of `DriftMonitor`.",
    )
    yield _false_alarms(streams, still, options.seed)


def _watched(X: Array, y: Ints, name: str) -> Iterator[tuple[str, Watched]]:
    yield "minout, all kept", _watch_ours(X, y, f"{name}, all kept")
    yield f"minout, newest {KEEP:,} kept", _watch_ours(X, y, f"{name}, window", keep=KEEP)
    for model_name, (model, inputs) in adaptive_models(X, y).items():
        yield model_name, _watch(model, inputs, y, f"{name}, {model_name}")


def _watch_ours(X: Array, y: Ints, what: str, **settings: Any) -> Watched:
    learner, monitor = Learner(**settings), DriftMonitor()
    right, alarms, start = np.zeros(len(y), dtype=bool), [], time.perf_counter()
    for i, label in track(enumerate(y.tolist()), what, total=len(y)):
        was_right = learner.teach(X[i], label).was_right
        right[i] = was_right is True
        if monitor.update(label, was_right) is not None:
            alarms.append(i + 1)
    return Watched(right, ms((time.perf_counter() - start) / len(y)), alarms)


def _watch(model: Any, inputs: list[Any], y: Ints, what: str) -> Watched:
    right, start = np.zeros(len(y), dtype=bool), time.perf_counter()
    for i, label in track(enumerate(y.tolist()), what, total=len(y)):
        right[i] = model.predict_one(inputs[i]) == label
        model.learn_one(inputs[i], label)
    return Watched(right, ms((time.perf_counter() - start) / len(y)), None)


def _cells(watched: Watched) -> tuple[str, ...]:
    right, alarms = watched.right, watched.alarms
    said = "–" if alarms is None else ", ".join(f"{each:,}" for each in alarms) or "none"
    shares = percent(right.mean()), percent(right[3 * len(right) // 4 :].mean())
    return *shares, watched.milliseconds, said


def _false_alarms(streams: int, count: int, seed: int) -> Table:
    found: dict[str, list[Watched]] = {kind: [] for kind in STILL}
    for n in range(streams):
        kind = STILL[n % len(STILL)]
        X, y = draw_still(kind, count, np.random.default_rng([seed, n]))
        found[kind].append(_watch_ours(X, y, f"stream {n + 1} of {streams} that do not change"))
    rows = []
    for kind, some in found.items():
        shares = [each.right.mean() for each in some]
        alarmed = sum(bool(each.alarms) for each in some)
        between = f"{percent(min(shares), 0)} to {percent(max(shares), 0)}"
        rows.append((kind, str(len(some)), between, str(alarmed)))
    head = ("classes", "streams", "accuracy before teaching", "streams with an alarm")
    return Table(f"False alarms on streams of {count:,} rows that do not change", head, rows)


def _flipped(count: int, rng: Rng) -> tuple[Array, Ints]:
    means, number = 2 * rng.normal(size=(4, 8)), rng.integers(4, size=count)
    later = np.arange(count) >= count // 2
    return means[number] + rng.normal(size=(count, 8)), (number + later) % 4


def _rotating(count: int, rng: Rng) -> tuple[Array, Ints]:
    number = rng.integers(4, size=count)
    angle = 2 * np.pi * (number / 4 + np.arange(count) / count)
    X = rng.normal(size=(count, 8))
    X[:, :2] += 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return X, number


def _new_classes(count: int, rng: Rng) -> tuple[Array, Ints]:
    means = 1.5 * rng.normal(size=(20, 16))
    number = rng.integers(1 + 20 * np.arange(count) // count)
    return means[number] + rng.normal(size=(count, 16)), number


CHANGING = {
    "labels swapped half-way": _flipped,
    "four classes go round a circle": _rotating,
    "a new class after each twentieth": _new_classes,
}
STILL = ("easy", "overlapping", "label order")


def draw_still(kind: str, count: int, rng: Rng) -> tuple[Array, Ints]:
    """Draw 2 to 10 Gaussian classes in 2 to 8 columns, of different frequency, that stay."""
    classes, columns = int(rng.choice([2, 3, 5, 10])), int(rng.choice([2, 4, 8]))
    is_easy = kind == "easy" or (kind == "label order" and rng.random() < 0.5)
    means = rng.choice([2.0, 4.0] if is_easy else [0.5, 1.0]) * rng.normal(size=(classes, columns))
    y = rng.choice(classes, size=count, p=rng.dirichlet(np.full(classes, 5.0)))
    y = y[label_order(y)] if kind == "label order" else y
    return means[y] + rng.normal(size=(count, columns)), y
