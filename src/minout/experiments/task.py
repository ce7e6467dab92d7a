"""What every figure's folder promises: tasks to run, rows to draw, claims to judge.

A figure is a folder of three files. `settings.py` holds a frozen dataclass `Settings` and two of
its values: PAPER, and TESTING, which is cheap. `run.py` has `plan(settings, seeds)`, which lists
independent tasks, and `perform(task, source)`, which turns one into a row. `figure.py` has
`draw(rows)`, a matplotlib figure, and `claims(rows)`: the paper's words beside what was measured.
"""

from pathlib import Path
from typing import Any, NamedTuple


class Task(NamedTuple):
    """Is one independent run: which settings, which seed, which variant of the comparison."""

    settings: Any
    seed: int
    variant: str = ""


class Claim(NamedTuple):
    """Sets what the paper says beside what was measured; `holds` is None if neither yes nor no."""

    paper: str
    measured: str
    holds: bool | None


Source = Path | str | None
