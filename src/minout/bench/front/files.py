"""From a CSV file to a model: how many rows per second."""

import csv
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.bench.engine.table import Claim, Table
from minout.bench.engine.tell import Tell
from minout.learner import Learner
from minout.streams.files import read

COLUMNS = (20, 200)
CLASSES = 10


class CsvSpeed(NamedTuple):
    """Is how fast rows go from a CSV file into a model.

    `read_per_second` is for reading alone, `learned_per_second` for reading and teaching one by
    one. The seconds of consolidating and of saving at the end come on top.
    """

    columns: int
    rows: int
    megabytes: float
    read_per_second: float
    learned_per_second: float
    consolidate_seconds: float
    save_seconds: float
    exceptions: int


def measure(rows: int, tell: Tell) -> list[CsvSpeed]:
    """Measures tables of a few widths."""
    found = []
    for done, columns in enumerate(COLUMNS):
        tell(f"CSV of {columns} columns", done, len(COLUMNS))
        found.append(csv_speed(columns, rows))
    return found


def csv_speed(
    columns: int, rows: int = 20_000, *, apart: float = 8.0, rng: np.random.Generator | None = None
) -> CsvSpeed:
    """Writes a table of ten Gaussian classes in label order as CSV, reads it, and teaches it.

    Two of their means are `apart` standard deviations apart, on average. The closer they are, the
    more often separators move, and the longer teaching takes.
    """
    X, y = _made(columns, rows, apart, rng or np.random.default_rng(0))
    _warm_up(X, y)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        _write(file, X, y)
        learner = Learner()
        reading = _seconds(lambda: _each(file, lambda *_: None))
        learning = _seconds(lambda: _each(file, learner.teach))
        consolidating = _seconds(learner.consolidate)
        saving = _seconds(lambda: learner.save(Path(folder) / "model.minout"))
        return CsvSpeed(
            columns,
            rows,
            file.stat().st_size / 1e6,
            rows / reading,
            rows / learning,
            consolidating,
            saving,
            len(learner.exceptions),
        )


def tables(rows: Sequence[CsvSpeed]) -> list[Table]:
    """Writes a line for each width."""
    lines = [
        (
            f"{row.rows:,} × {row.columns}",
            f"{row.megabytes:.0f} MB",
            f"{row.read_per_second:,.0f}",
            f"{row.learned_per_second:,.0f}",
            f"{row.consolidate_seconds:.1f} s",
            f"{row.save_seconds:.1f} s",
            str(row.exceptions),
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
        "exceptions",
    )
    note = "Ten Gaussian classes, label order, columns in units from 0.001 to 1,000."
    return [Table("From a CSV to a model", head, lines, note)]


def claims(_: Sequence[CsvSpeed]) -> list[Claim]:
    """Makes none: the numbers were asked for, no bound was set."""
    return []


def _made(columns: int, rows: int, apart: float, rng: np.random.Generator) -> tuple[Floats, Ints]:
    labels = np.sort(rng.integers(0, CLASSES, rows))
    means = rng.normal(size=(CLASSES, columns)) * apart / np.sqrt(2.0 * columns)
    scales = 10.0 ** rng.uniform(-3.0, 3.0, columns)
    return (means[labels] + rng.normal(size=(rows, columns))) * scales, labels


def _warm_up(X: Floats, y: Ints) -> None:
    # What is compiled or read from the cache on first use is not timed.
    learner = Learner()
    for place in np.linspace(0, len(X) - 1, 100).astype(int):
        learner.teach(X[place], str(y[place]))
    learner.consolidate()


def _write(file: Path, X: Floats, y: Ints) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow([*(f"column {place}" for place in range(X.shape[1])), "kind"])
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            writer.writerow([*(f"{value:.6g}" for value in row), f"kind {label}"])


def _each(file: Path, use: Callable[[Floats, str], object]) -> None:
    with read(file, label="kind") as reader:
        for example in reader:
            use(example.row, str(example.label))


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
