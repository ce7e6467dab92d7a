"""Opening a model: its time beside that of reading the file once, and the size of the file."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.data import Array, Ints
from benchmarks.engine.window import classes_of
from benchmarks.measuring import seconds_of
from benchmarks.parts import Progress
from benchmarks.store.cost import scattering
from benchmarks.tables import Goal, Table, ms
from minout.features import Identity
from minout.learner import Learner

REPEATS = 5
BLOCK = 500
"""So many rows are taught in one call."""
MOST = 2.0


class OpenRow(NamedTuple):
    """A model of `rows` examples: seconds to open it and to read its file, and bytes."""

    rows: int
    columns: int
    seconds: float
    read_seconds: float
    file_bytes: int
    row_bytes: int


def measure(
    data: str | None, rows: int, images: int, seed: int, progress: Progress
) -> list[OpenRow]:
    """Teach a table and images, and open each folder again and again."""
    found = []
    for X, y in (classes_of("separable", rows, seed)[:2], scattering(data, images, seed)):
        found.append(_measure(X, y, progress))
    return found


def _measure(X: Array, y: Ints, progress: Progress) -> OpenRow:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        with Learner.open(folder, features=Identity(X.dtype.name)) as learner:
            for start in range(0, len(X), BLOCK):
                block = slice(start, start + BLOCK)
                learner.teach_many(X[block], y[block].tolist())
                progress("teaching", min(start + BLOCK, len(X)), len(X))
        file = folder / "model.sqlite"
        times = [
            (seconds_of(_open, folder), seconds_of(file.read_bytes)) for _ in range(REPEATS + 1)
        ][1:]
        opened, read = (median(each) for each in zip(*times, strict=True))
        size = sum(each.stat().st_size for each in folder.iterdir())
    return OpenRow(len(X), X.shape[1], opened, read, size, X.nbytes)


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
