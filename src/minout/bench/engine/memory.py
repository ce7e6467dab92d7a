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
from minout.bench.engine.taught import WITH_METRIC, new_learner
from minout.bench.engine.tell import Tell, is_time
from minout.rules import MarginRule

TIMES, MORE = 1.3, 400.0
"""At most so many times the stored rows, and so many MB more."""
RULES = {"automatic": MarginRule(), "metric and prior": WITH_METRIC}


class Memory(NamedTuple):
    """Is what the process had at each moment, in MB; None where the system does not tell.

    `choices` says whether metric and prior were chosen or pinned. `before` is the interpreter with
    its libraries, `peak` the most until the last example was taught,
    `peak_consolidated` the most until consolidate() was done.
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
        labels = featured.labels[order]
        return [in_fresh_process(_taught, name, file, width, labels, tell=tell) for name in RULES]


def _taught(choices: str, file: Path, width: int, labels: Ints, tell: Tell) -> Memory:
    learner = new_learner(RULES[choices])
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
    return Memory(choices, len(labels), rows_mb, bound, before, peak, after, peak_mb(), seconds)


def tables(rows: Sequence[Memory]) -> list[Table]:
    """Writes each moment beside the bound."""
    moments: dict[str, list[float | None]] = {
        "stored rows": [row.rows_mb for row in rows],
        "before the first example": [row.before_mb for row in rows],
        "peak of the stream": [row.peak_mb for row in rows],
        "after the stream": [row.after_mb for row in rows],
        "peak with consolidate()": [row.peak_consolidated_mb for row in rows],
        "bound: 1.3 × rows + 400 MB": [row.bound_mb for row in rows],
    }
    lines = [(moment, *(_mb(each) for each in values)) for moment, values in moments.items()]
    took = ", ".join(f"{row.seconds:.0f} s" for row in rows)
    note = (
        f"Resident memory of a fresh process that reads {rows[0].examples:,} rows from a file one "
        f"by one, in label order ({took}); interpreter and libraries are counted."
    )
    return [Table("10. Memory", ("choices", *(row.choices for row in rows)), lines, note)]


def claims(rows: Sequence[Memory]) -> list[Claim]:
    """Says what is asked of memory, of the stream and with consolidate()."""
    return [
        Claim(
            10, f"{row.choices}: at most {row.bound_mb:.0f} MB{when}", _mb(peak), _fits(row, peak)
        )
        for row in rows
        for when, peak in (("", row.peak_mb), (", consolidate() too", row.peak_consolidated_mb))
    ]


def _fits(row: Memory, peak: float | None) -> bool:
    return peak is not None and peak <= row.bound_mb


def _mb(megabytes: float | None) -> str:
    return "–" if megabytes is None else f"{megabytes:.0f} MB"
