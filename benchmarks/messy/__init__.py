"""Benchmark of tables as they are: `python -m benchmarks tables`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.messy import compare, mixed_csv
from benchmarks.messy.data import TABLES
from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts

__all__ = ["PARTS", "TESTING", "Settings", "run"]


@dataclass(frozen=True)
class Settings:
    """Sizes.

    Parameters
    ----------
    tables : tuple of str
        The tables of `messy`.
    seeds : tuple of int
        The seeds of `messy`: each makes cells missing and splits the rows. `csv` uses the first.
    rows : int
        Rows of the table that `messy` makes, to learn from and to test on together.
    csv_rows : int
        Rows of the file in `csv`.
    csv_kinds : {"mixed", "numbers"}
        Its columns: of all kinds, or numbers only, none missing.
    """

    tables: tuple[str, ...] = tuple(TABLES)
    seeds: tuple[int, ...] = (0, 1, 2)
    rows: int = 4_000
    csv_rows: int = 100_000
    csv_kinds: mixed_csv.Kinds = "mixed"


TESTING = Settings(tables=("breast cancer",), seeds=(0,), rows=200, csv_rows=120, csv_kinds="mixed")


def _measure_messy(settings: Settings, progress: Progress) -> list[compare.MessyRow]:
    return compare.measure(settings.tables, settings.seeds, settings.rows, progress)


def _measure_csv(settings: Settings, progress: Progress) -> list[mixed_csv.MixedCsvRow]:
    return mixed_csv.measure(settings.csv_rows, settings.csv_kinds, settings.seeds[0], progress)


PARTS = (
    Part("messy", _measure_messy, compare.tables, compare.goals),
    Part("csv", _measure_csv, mixed_csv.tables, mixed_csv.goals),
)


def run(
    parts: Sequence[Part], settings: Settings | None = None, progress: Progress = no_progress
) -> Iterator[Measured]:
    """Run parts one after the other and yield each when it is done."""
    settings = Settings() if settings is None else settings
    return run_parts("tables", parts, settings, asdict(settings), progress)
