"""Benchmark of tables as they are: `python -m benchmarks tables`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.messy import compare
from benchmarks.messy.data import TABLES
from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts

__all__ = ["PARTS", "TESTING", "Settings", "run"]


@dataclass(frozen=True)
class Settings:
    """Sizes.

    Parameters
    ----------
    tables : tuple of str
        The tables.
    seeds : tuple of int
        The seeds: each makes cells missing and splits the rows.
    rows : int
        Rows of the table that is made, to learn from and to test on together.
    """

    tables: tuple[str, ...] = tuple(TABLES)
    seeds: tuple[int, ...] = (0, 1, 2)
    rows: int = 4_000


TESTING = Settings(tables=("breast cancer",), seeds=(0,), rows=200)


def _measure(settings: Settings, progress: Progress) -> list[compare.MessyRow]:
    return compare.measure(settings.tables, settings.seeds, settings.rows, progress)


PARTS = (Part("messy", _measure, compare.tables, compare.goals),)


def run(
    parts: Sequence[Part], settings: Settings | None = None, progress: Progress = no_progress
) -> Iterator[Measured]:
    """Run parts one after the other and yield each when it is done."""
    settings = Settings() if settings is None else settings
    return run_parts("tables", parts, settings, asdict(settings), progress)
