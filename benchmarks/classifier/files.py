"""From a CSV file to a model: how many rows per second."""

import csv
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Array, Ints, gaussian_table
from benchmarks.inside import misfits
from benchmarks.learners import new_learner
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table
from minout.streams.files import read

COLUMNS = (20, 200)
CLASSES = 10


class CsvRow(NamedTuple):
    """How fast rows go from a CSV file into a model.

    `read_per_second` is for reading alone, `learned_per_second` for reading and teaching one by
    one. Consolidating and saving at the end come on top.
    """

    columns: int
    rows: int
    megabytes: float
    read_per_second: float
    learned_per_second: float
    consolidate_seconds: float
    save_seconds: float
    misfits: int


def measure(rows: int, progress: Progress) -> list[CsvRow]:
    """Measure tables with several numbers of columns."""
    found = []
    for done, columns in enumerate(COLUMNS):
        progress(f"CSV of {columns} columns", done, len(COLUMNS))
        found.append(csv_speed(columns, rows))
    return found


def csv_speed(
    columns: int,
    rows: int = 20_000,
    *,
    distance: float = 8.0,
    rng: np.random.Generator | None = None,
) -> CsvRow:
    """Write ten Gaussian classes in label order as CSV, read the file, and teach it.

    Two class means are `distance` standard deviations apart on average. The closer they are, the
    more often separators move, and the longer teaching takes.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    X, y = gaussian_table(columns, rows, classes=CLASSES, distance=distance, rng=rng)
    _load_kernels(X, y)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        _write_csv(file, X, y)
        learner = new_learner(dtype="float64")
        reading = seconds_of(_for_each, file, lambda *_: None)
        learning = seconds_of(_for_each, file, learner.teach)
        consolidating = seconds_of(learner.consolidate)
        saving = seconds_of(learner.save, Path(folder) / "model.minout")
        return CsvRow(
            columns,
            rows,
            file.stat().st_size / 1e6,
            rows / reading,
            rows / learning,
            consolidating,
            saving,
            len(misfits(learner)),
        )


def tables(rows: Sequence[CsvRow]) -> list[Table]:
    """Return a line for each number of columns."""
    lines = [
        (
            f"{row.rows:,} × {row.columns}",
            f"{row.megabytes:.0f} MB",
            f"{row.read_per_second:,.0f}",
            f"{row.learned_per_second:,.0f}",
            f"{row.consolidate_seconds:.1f} s",
            f"{row.save_seconds:.1f} s",
            str(row.misfits),
        )
        for row in rows
    ]
    head = (
        "rows × columns",
        "file",
        "read per second",
        "read and learned per second",
        "consolidate",
        "save",
        "misfits",
    )
    note = "Ten Gaussian classes, label order, columns in units from 0.001 to 1,000."
    return [Table("From a CSV to a model", head, lines, note)]


def goals(_: Sequence[CsvRow]) -> list[Goal]:
    """Return no goals: no bound was set for these numbers."""
    return []


def _load_kernels(X: Array, y: Ints) -> None:
    # Compiling, or loading compiled kernels from the cache, is not timed.
    learner = new_learner(dtype="float64")
    for place in np.linspace(0, len(X) - 1, 100).astype(int):
        learner.teach(X[place], str(y[place]))
    learner.consolidate()


def _write_csv(file: Path, X: Array, y: Ints) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow([*(f"column {place}" for place in range(X.shape[1])), "kind"])
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            writer.writerow([*(f"{value:.6g}" for value in row), f"kind {label}"])


def _for_each(file: Path, use: Callable[[Any, str], object]) -> None:
    with read(file, label="kind") as reader:
        for example in reader:
            use(example.row, str(example.label))
