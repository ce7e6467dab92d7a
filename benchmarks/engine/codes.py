"""Coded memory: bytes, accuracy, guarantees and time with rows stored as codes."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from benchmarks.data import Array, Ints, Split, split_set
from benchmarks.engine.inputs import Inputs, draw_per_class
from benchmarks.learners import AUTOMATIC, new_learner, teach
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mean_and_error, ms, yes
from minout.codecs import ProductCodec, ScalarCodec
from minout.learner import Learner

FLOATS, UINT8 = "floats", "uint8"
PIXELS, SCATTERING = "pixels", "scattering"
SAMPLE = 1_000
"""Rows of all labels that codecs are fitted on, at most."""
MOST_PARTS = 64
MOST_BELOW = 0.01
Dtype = Literal["float32", "float64"]


class CodesRow(NamedTuple):
    """A stream in random order with rows stored in one way.

    `stored` is the bytes of a stored row, `file` those of the saved model by example. Accuracies
    are held out, after the stream and consolidated. `listed`: every row that was taught is
    predicted right or listed in `misfits`, at both moments. `seconds` is the mean of one `teach`.
    """

    seed: int
    data: str
    memory: str
    examples: int
    columns: int
    stored: int
    file: float
    accuracy: float
    consolidated: float
    misfits: int
    listed: bool
    seconds: float
    fit_seconds: float


def measure(inputs: Inputs, progress: Progress) -> list[CodesRow]:
    """Learn images and tables with every kind of memory."""
    settings = inputs.settings
    inputs.compile(progress)
    rows: list[CodesRow] = []
    for name in (PIXELS, SCATTERING):
        data = inputs.features("raw" if name == PIXELS else name, progress)
        rng = np.random.default_rng(settings.seed)
        few = rng.permutation(draw_per_class(data.labels, settings.medium, rng))
        split = Split(data.rows[few], data.labels[few], data.test_rows, data.test_labels)
        rows += _measure_all(name, split, settings.seed, "float32", progress)
    for name in settings.sets:
        for seed in settings.seeds:
            split = split_set(name, seed)
            order = np.random.default_rng(seed).permutation(len(split.labels))
            split = split._replace(rows=split.rows[order], labels=split.labels[order])
            rows += _measure_all(name, split, seed, "float64", progress)
    return rows


def memories(rows: Array) -> dict[str, tuple[Any, float]]:
    """Return the ways to store such rows, and the seconds that fitting a codec takes."""
    sample = rows[:SAMPLE]
    parts = min(MOST_PARTS, max(rows.shape[1] // 4, 1))
    found: dict[str, tuple[Any, float]] = {FLOATS: ("auto", 0.0)}
    found |= {name: (name, 0.0) for name in (UINT8, "uint4", "uint2")}
    for name, fit in (
        ("fitted, 4 bits", lambda: ScalarCodec.fit(sample, bits=4)),
        ("fitted, 2 bits", lambda: ScalarCodec.fit(sample, bits=2)),
        ("product", lambda: ProductCodec.fit(sample, bytes_per_row=parts)),
    ):
        start = time.perf_counter()
        codec = fit()
        found[name] = codec, time.perf_counter() - start
    return found


def _measure_all(
    data: str, split: Split, seed: int, dtype: Dtype, progress: Progress
) -> list[CodesRow]:
    ways = memories(split.rows)
    found = []
    for number, (name, (memory, seconds)) in enumerate(ways.items()):
        progress(f"codes of {data}", number, len(ways))
        found.append(_measured(name, memory, data, split, seed, dtype, seconds))
    return found


def _measured(
    name: str, memory: Any, data: str, split: Split, seed: int, dtype: Dtype, fit_seconds: float
) -> CodesRow:
    learner = new_learner(AUTOMATIC._replace(memory=memory), dtype=dtype)
    steps = teach(learner, split.rows, split.labels)
    accuracy = _accuracy(learner, split)
    listed = right_or_listed(learner, split.rows, split.labels)
    learner.consolidate()
    codec, columns = learner.memory, split.rows.shape[1]
    return CodesRow(
        seed,
        data,
        name,
        len(split.labels),
        columns,
        np.dtype(dtype).itemsize * columns if codec is None else codec.bytes_per_row,
        _file_bytes(learner) / len(split.labels),
        accuracy,
        _accuracy(learner, split),
        len(learner.misfits),
        listed and right_or_listed(learner, split.rows, split.labels),
        float(steps.seconds.mean()),
        fit_seconds,
    )


def right_or_listed(learner: Learner, rows: Array, labels: Ints) -> bool:
    """Return whether each row as it was taught is predicted right, or its example is listed."""
    wrong = np.flatnonzero(learner.predict(rows) != labels)
    return set(wrong.tolist()) <= set(learner.misfits)


def _accuracy(learner: Learner, split: Split) -> float:
    return float((learner.predict(split.test_rows) == split.test_labels).mean())


def _file_bytes(learner: Learner) -> int:
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "model")
        return (Path(folder) / "model").stat().st_size


def tables(rows: Sequence[CodesRow]) -> list[Table]:
    """Return one table: a line for each data set and each way to store its rows."""
    head = (
        *("data", "memory", "examples × columns", "bytes a row", "file a row", "held out"),
        *("consolidated", "originals right or listed", "ms an example"),
    )
    lines = [
        (
            data,
            memory,
            f"{some[0].examples:,} × {some[0].columns:,}",
            f"{some[0].stored:,}",
            f"{np.mean([row.file for row in some]):,.0f}",
            mean_and_error([100 * row.accuracy for row in some], " %"),
            mean_and_error([100 * row.consolidated for row in some], " %"),
            yes(all(row.listed for row in some)),
            ms(float(np.mean([row.seconds for row in some]))),
        )
        for (data, memory), some in _by_memory(rows).items()
    ]
    note = (
        "In random order, with default settings; tables are means over splits with their standard "
        f"errors. Codecs are fitted on the first {SAMPLE:,} rows to learn from, or fewer. The file "
        "also holds the model: metric, separators, and images of the candidate support vectors."
    )
    return [Table("22. Rows stored as codes", head, lines, note)]


def goals(rows: Sequence[CodesRow]) -> list[Goal]:
    """Return the goals: no original is lost, and 8 bits cost no accuracy."""
    lost = sum(not row.listed for row in rows)
    found, below = _by_memory(rows), []
    for data in dict.fromkeys(row.data for row in rows):
        with_floats, coded = (
            float(np.mean([row.consolidated for row in found[data, name]]))
            for name in (FLOATS, UINT8)
        )
        below.append(with_floats - coded)
    return [
        Goal("codes", "all originals are right or listed", f"{lost} runs where not", lost == 0),
        Goal(
            "codes",
            f"uint8 at most {100 * MOST_BELOW:.0f} point below floats",
            f"{100 * max(below):+.2f} points at most",
            max(below) <= MOST_BELOW,
        ),
    ]


def _by_memory(rows: Sequence[CodesRow]) -> dict[tuple[str, str], list[CodesRow]]:
    found: dict[tuple[str, str], list[CodesRow]] = {}
    for row in rows:
        found.setdefault((row.data, row.memory), []).append(row)
    return found
