"""Four readers beside a writer, for minutes: is every state that they see complete and right?

`tests/faults/reading.py` says what is checked in each state.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table
from tests.faults.reading import readers_and_writer

READERS, WINDOW = 4, 120


class TogetherRow(NamedTuple):
    """What the processes did: examples taught, states read and checked, and what was wrong."""

    seconds: float
    readers: int
    taught: int
    states: int
    problems: tuple[str, ...]


def measure(seconds: float, progress: Progress) -> list[TogetherRow]:
    """Read and write side by side, in processes of their own."""
    progress("together", 0, 1)
    with tempfile.TemporaryDirectory() as name:
        found, taught = readers_and_writer(
            Path(name) / "model", readers=READERS, seconds=seconds, window=WINDOW
        )
    problems = tuple(problem for each in found for problem in each.problems)
    states = sum(each.reloads for each in found)
    return [TogetherRow(seconds, READERS, taught, states, problems)]


def tables(rows: Sequence[TogetherRow]) -> list[Table]:
    """Return what was read and written, and what was wrong."""
    head = ("seconds", "readers", "examples taught", "states read", "wrong")
    lines = [
        (
            f"{row.seconds:,.0f}",
            f"{row.readers}",
            f"{row.taught:,}",
            f"{row.states:,}",
            f"{len(row.problems)}",
        )
        for row in rows
    ]
    note = f"The model keeps {WINDOW} examples; the writer commits every 50 at the latest."
    found = [Table("Readers beside a writer", head, lines, note)]
    wrong = [(each,) for row in rows for each in row.problems]
    return found + ([Table("What went wrong", ("what",), wrong)] if wrong else [])


def goals(rows: Sequence[TogetherRow]) -> list[Goal]:
    """Return the goal of this part: every state is complete and right."""
    wrong, states = sum(len(row.problems) for row in rows), sum(row.states for row in rows)
    return [Goal("together", "no wrong state", f"{wrong:,} of {states:,}", wrong == 0)]
