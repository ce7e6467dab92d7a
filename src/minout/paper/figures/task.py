"""What every figure's folder holds: tasks to run, rows to draw, claims to judge.

A figure is a folder of two files or more. `run.py` holds two settings, PAPER and TESTING, which is
cheap; `plan(settings, seeds)`, which lists independent tasks; and `perform(task, source)`, which
turns one into a row. `figure.py` has `draw(rows)`, a matplotlib figure, and `claims(rows)`: the
paper's words beside what was measured.
"""

from pathlib import Path
from typing import Any, NamedTuple


class Task(NamedTuple):
    """One independent run: settings, seed and variant of the comparison."""

    settings: Any
    seed: int
    variant: str = ""


class Claim(NamedTuple):
    """What the paper says beside what was measured; `holds` is None if neither yes nor no."""

    paper: str
    measured: str
    holds: bool | None


Source = Path | str | None
