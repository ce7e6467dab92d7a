"""Processes that are killed while they teach: does the folder hold what was acknowledged?"""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.parts import Progress
from benchmarks.tables import Goal, Table
from tests.faults.killing import kill
from tests.oracle.operations import KINDS, script

AT_A_TIME = 25
"""Kills between two reports."""


class KillsRow(NamedTuple):
    """Killed processes of one durability: what survived, and the most operations that were lost."""

    durability: str
    tried: int
    survived: int
    operations: int
    most_lost: int
    problems: tuple[str, ...]


def measure(count: int, operations: int, seed: int, progress: Progress) -> list[KillsRow]:
    """Kill half of the processes with each durability, over walks with all settings."""
    rows, done = [], 0
    for durability in ("example", "batch"):
        found = []
        for turn, share in enumerate(_shares(count // 2)):
            name = [*KINDS][turn % len(KINDS)]
            walk = script(seed + turn, operations, **KINDS[name])
            found.append(kill(walk, share, durability=durability, seed=seed + turn))
            done += share
            progress("kills", done, count)
        rows.append(
            KillsRow(
                durability,
                sum(each.tried for each in found),
                sum(each.survived for each in found),
                sum(each.operations for each in found),
                max(lost for each in found for lost in each.lost),
                tuple(problem for each in found for problem in each.problems),
            )
        )
    return rows


def _shares(count: int) -> list[int]:
    return [min(AT_A_TIME, count - start) for start in range(0, count, AT_A_TIME)]


def tables(rows: Sequence[KillsRow]) -> list[Table]:
    """Return how many survived, and what went wrong."""
    head = ("durability", "killed", "survived", "operations", "most lost")
    lines = [(row.durability, *(f"{each:,}" for each in row[1:5])) for row in rows]
    note = 'With "batch", what was acknowledged in the last second may be lost.'
    found = [Table("Killed processes", head, lines, note)]
    wrong = [(row.durability, each) for row in rows for each in row.problems]
    return found + ([Table("What went wrong", ("durability", "what"), wrong)] if wrong else [])


def goals(rows: Sequence[KillsRow]) -> list[Goal]:
    """Return the goal of this part: every model survives."""
    tried, survived = (sum(getattr(row, name) for row in rows) for name in ("tried", "survived"))
    return [Goal("kills", "all survive", f"{survived:,} of {tried:,}", survived == tried)]
