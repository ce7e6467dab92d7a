"""Peak memory of the whole stream, in a process that has nothing else in memory."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import in_label_order
from benchmarks.engine.inputs import Inputs
from benchmarks.learners import AUTOMATIC, WHITENED
from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table, mb

TIMES, MORE, MORE_CONSOLIDATED = 1.3, 400.0, 600.0
"""The bounds: so many times the stored rows, and so many MB more."""
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
    bound_consolidated_mb: float
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
        rows, labels = Path(folder) / "rows", Path(folder) / "labels.npy"
        np.save(labels, data.labels[order])
        with rows.open("wb") as out:
            for place in order.tolist():
                out.write(data.rows[place].tobytes())
        return [_measure_one(name, rows, labels, len(order), progress) for name in CHOICES]


def _measure_one(
    choices: str, rows: Path, labels: Path, examples: int, progress: Progress
) -> MemoryRow:
    words = [rows, labels, json.dumps(CHOICES[choices]._asdict())]
    command = [sys.executable, "-m", "benchmarks.stream_memory", *map(str, words)]
    found: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            found = json.loads(line)
            if "done" in found:
                progress("memory", found["done"], examples)
    if child.returncode:
        raise ChildProcessError(f"The process ended with exit code {child.returncode}.")
    rows_mb = rows.stat().st_size / 1e6
    bounds = [TIMES * rows_mb + more for more in (MORE, MORE_CONSOLIDATED)]
    return MemoryRow(choices, examples, rows_mb, *bounds, **found)


def tables(rows: Sequence[MemoryRow]) -> list[Table]:
    """Return a line for each moment, and the bound."""
    moments: dict[str, list[float | None]] = {
        "stored rows": [row.rows_mb for row in rows],
        "before the first example": [row.before_mb for row in rows],
        "peak of the stream": [row.peak_mb for row in rows],
        "after the stream": [row.after_mb for row in rows],
        "peak with consolidate()": [row.peak_consolidated_mb for row in rows],
        "bound of the stream: 1.3 × rows + 400 MB": [row.bound_mb for row in rows],
        "bound with consolidate(): 1.3 × rows + 600 MB": [
            row.bound_consolidated_mb for row in rows
        ],
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
            f"{row.choices}: at most {bound:.0f} MB{when}",
            mb(peak),
            peak is not None and peak <= bound,
        )
        for row in rows
        for when, peak, bound in (
            ("", row.peak_mb, row.bound_mb),
            (" with consolidate()", row.peak_consolidated_mb, row.bound_consolidated_mb),
        )
    ]
