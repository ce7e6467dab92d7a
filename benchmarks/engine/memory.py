"""Peak memory of the whole stream, in a process that has nothing else in memory."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.data import Ints, in_label_order
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import AUTOMATIC, WHITENED, new_learner
from benchmarks.measuring import in_fresh_process, peak_mb, resident_mb
from benchmarks.parts import Progress, worth_showing
from benchmarks.tables import Goal, Table, mb

TIMES, MORE = 1.3, 400.0
"""The bound: so many times the stored rows, and so many MB more."""
CHOICES = {"automatic": AUTOMATIC, "whiten, lda_prior": WHITENED}


class MemoryRow(NamedTuple):
    """Memory of the process at several moments, in MB; None where the system does not report it.

    `choices` says whether settings were chosen or pinned. `before_mb` is the interpreter with its
    libraries, `peak_mb` the peak until the last example was taught, `peak_consolidated_mb` the
    peak until consolidate() was done.
    """

    choices: str
    examples: int
    rows_mb: float
    bound_mb: float
    before_mb: float | None
    peak_mb: float | None
    after_mb: float | None
    peak_consolidated_mb: float | None
    seconds: float


def measure(inputs: Inputs, progress: Progress) -> list[MemoryRow]:
    """Write the features to a file, from which a fresh process reads one row at a time."""
    inputs.compile(progress)  # the fresh process only loads, since compiling takes memory
    data = inputs.features(inputs.settings.features, progress)
    order = in_label_order(data.labels)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        with file.open("wb") as out:
            for place in order.tolist():
                out.write(data.rows[place].tobytes())
        columns = data.rows.shape[1]
        labels = data.labels[order]
        return [
            in_fresh_process(_measure_one, name, file, columns, labels, progress=progress)
            for name in CHOICES
        ]


def _measure_one(
    choices: str, file: Path, columns: int, labels: Ints, progress: Progress
) -> MemoryRow:
    learner = new_learner(CHOICES[choices])
    before = resident_mb()
    start = time.perf_counter()
    # Read, not mapped: the pages of a mapped file would count as this process's memory.
    row = np.empty(columns, dtype=np.float32)
    with file.open("rb") as rows:
        for done, y in enumerate(labels.tolist(), 1):
            rows.readinto(row.data)
            learner.teach(row, y)
            if worth_showing(done, len(labels)):
                progress("memory", done, len(labels))
    seconds = time.perf_counter() - start
    peak, after = peak_mb(), resident_mb()
    progress("consolidating", 0, 1)
    learner.consolidate()
    rows_mb = len(labels) * columns * 4 / 1e6
    bound = TIMES * rows_mb + MORE
    return MemoryRow(choices, len(labels), rows_mb, bound, before, peak, after, peak_mb(), seconds)


def tables(rows: Sequence[MemoryRow]) -> list[Table]:
    """Return a line for each moment, and the bound."""
    moments: dict[str, list[float | None]] = {
        "stored rows": [row.rows_mb for row in rows],
        "before the first example": [row.before_mb for row in rows],
        "peak of the stream": [row.peak_mb for row in rows],
        "after the stream": [row.after_mb for row in rows],
        "peak with consolidate()": [row.peak_consolidated_mb for row in rows],
        "bound: 1.3 × rows + 400 MB": [row.bound_mb for row in rows],
    }
    lines = [(moment, *(mb(each) for each in values)) for moment, values in moments.items()]
    took = ", ".join(f"{row.seconds:.0f} s" for row in rows)
    note = (
        f"Resident memory of a fresh process that reads {rows[0].examples:,} rows from a file one "
        f"by one, in label order ({took}); interpreter and libraries are counted."
    )
    return [Table("10. Memory", ("choices", *(row.choices for row in rows)), lines, note)]


def goals(rows: Sequence[MemoryRow]) -> list[Goal]:
    """Return the goals of the stream alone and with consolidate()."""
    return [
        Goal(
            "memory",
            f"{row.choices}: at most {row.bound_mb:.0f} MB{when}",
            mb(peak),
            peak is not None and peak <= row.bound_mb,
        )
        for row in rows
        for when, peak in (("", row.peak_mb), (", consolidate() too", row.peak_consolidated_mb))
    ]
