"""Opening a model: its time beside that of reading the file once, and the size of the file."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.engine.window import classes_of
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress, worth_showing
from benchmarks.tables import Goal, Table, ms
from minout.learner import Learner

REPEATS = 5
MOST = 2.0


class OpenRow(NamedTuple):
    """A model of `rows` examples: seconds to open it and to read its file, and bytes."""

    rows: int
    columns: int
    seconds: float
    read_seconds: float
    file_bytes: int
    row_bytes: int


def measure(rows: int, seed: int, progress: Progress) -> list[OpenRow]:
    """Teach rows, and open the folder again and again."""
    stream = classes_of("separable", rows, seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        with Learner.open(folder) as learner:
            for n, (row, label) in enumerate(zip(stream.rows, stream.labels, strict=True), 1):
                learner.teach(row, int(label))
                if worth_showing(n, rows):
                    progress("teaching", n, rows)
        file = folder / "model.sqlite"
        times = [
            (seconds_of(_open, folder), seconds_of(file.read_bytes)) for _ in range(REPEATS + 1)
        ][1:]
        opened, read = (median(each) for each in zip(*times, strict=True))
        size = sum(each.stat().st_size for each in folder.iterdir())
    return [OpenRow(rows, stream.rows.shape[1], opened, read, size, stream.rows.nbytes)]


def _open(folder: Path) -> None:
    Learner.open(folder, read_only=True).close()


def tables(rows: Sequence[OpenRow]) -> list[Table]:
    """Return the times and sizes."""
    head = ("examples", "columns", "open, ms", "read, ms", "ratio", "file, MB", "rows, MB", "ratio")
    lines = [
        (
            f"{row.rows:,}",
            f"{row.columns:,}",
            ms(row.seconds),
            ms(row.read_seconds),
            f"{row.seconds / row.read_seconds:.1f}",
            f"{row.file_bytes / 1e6:.1f}",
            f"{row.row_bytes / 1e6:.1f}",
            f"{row.file_bytes / row.row_bytes:.2f}",
        )
        for row in rows
    ]
    return [Table("Opening a model", head, lines, "The file is in the cache of the system.")]


def goals(rows: Sequence[OpenRow]) -> list[Goal]:
    """Return the goal of this part: to open costs little more than to read."""
    ratios = [row.seconds / row.read_seconds for row in rows]
    return [
        Goal("open", f"at most {MOST:.0f} times reading", f"{each:.1f}", each <= MOST)
        for each in ratios
    ]
