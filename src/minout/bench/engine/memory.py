"""Peak memory of the whole stream, in a process that has nothing else to keep."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from minout._typing import Ints
from minout.bench.engine.fresh import in_fresh_process, peak_mb, resident_mb
from minout.bench.engine.material import Material, in_label_order
from minout.bench.engine.table import Claim, Table
from minout.bench.engine.taught import new_learner
from minout.bench.engine.tell import Tell, is_time

TIMES, MORE = 1.3, 400.0
"""At most so many times the stored rows, and so many MB more."""


class Memory(NamedTuple):
    """Is what the process had at each moment, in MB; None where the system does not tell.

    `before` is the interpreter with its libraries, `peak` the most until the last example was
    taught, `peak_consolidated` the most until consolidate() was done.
    """

    examples: int
    rows_mb: float
    bound_mb: float
    before_mb: float | None
    peak_mb: float | None
    after_mb: float | None
    peak_consolidated_mb: float | None
    seconds: float


def measure(material: Material, tell: Tell) -> list[Memory]:
    """Writes the features to a file, from which a fresh process reads one row at a time."""
    material.warm_up(tell)  # the fresh process loads what is compiled; compiling takes memory
    featured = material.featured(material.settings.features, tell)
    order = in_label_order(featured.labels)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        with file.open("wb") as out:
            for place in order.tolist():
                out.write(featured.rows[place].tobytes())
        width = featured.rows.shape[1]
        return [in_fresh_process(_taught, file, width, featured.labels[order], tell=tell)]


def _taught(file: Path, width: int, labels: Ints, tell: Tell) -> Memory:
    learner = new_learner()
    before = resident_mb()
    start = time.perf_counter()
    # Read, not mapped: the pages of a mapped file would count as this process's memory.
    row = np.empty(width, dtype=np.float32)
    with file.open("rb") as rows:
        for done, y in enumerate(labels.tolist(), 1):
            rows.readinto(row.data)
            learner.teach(row, y)
            if is_time(done, len(labels)):
                tell("memory", done, len(labels))
    seconds = time.perf_counter() - start
    peak, after = peak_mb(), resident_mb()
    tell("consolidating", 0, 1)
    learner.consolidate()
    rows_mb = len(labels) * width * 4 / 1e6
    bound = TIMES * rows_mb + MORE
    return Memory(len(labels), rows_mb, bound, before, peak, after, peak_mb(), seconds)


def tables(rows: Sequence[Memory]) -> list[Table]:
    """Writes each moment beside the bound."""
    row = rows[0]
    lines = [
        ("stored rows", f"{row.rows_mb:.0f} MB"),
        ("before the first example", _mb(row.before_mb)),
        ("peak of the stream", _mb(row.peak_mb)),
        ("after the stream", _mb(row.after_mb)),
        ("peak with consolidate()", _mb(row.peak_consolidated_mb)),
        ("bound: 1.3 × rows + 400 MB", f"{row.bound_mb:.0f} MB"),
    ]
    note = (
        f"Resident memory of a fresh process that reads {row.examples:,} rows from a file one by "
        f"one, in label order ({row.seconds:.0f} s); interpreter and libraries are counted."
    )
    return [Table("10. Memory", ("", ""), lines, note)]


def claims(rows: Sequence[Memory]) -> list[Claim]:
    """Says what the issue asks of memory, of the stream and with consolidate()."""
    row = rows[0]
    asked = f"at most {row.bound_mb:.0f} MB"
    peaks = {"": row.peak_mb, ", consolidate() too": row.peak_consolidated_mb}
    return [
        Claim(10, asked + when, _mb(peak), peak is not None and peak <= row.bound_mb)
        for when, peak in peaks.items()
    ]


def _mb(megabytes: float | None) -> str:
    return "–" if megabytes is None else f"{megabytes:.0f} MB"
