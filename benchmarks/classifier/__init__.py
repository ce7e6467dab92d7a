"""Benchmark of the scikit-learn estimator: `python -m benchmarks classifier`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.classifier import costs, datasets, files
from benchmarks.data import SETS
from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts

__all__ = ["PARTS", "TESTING", "Settings", "run"]


@dataclass(frozen=True)
class Settings:
    """Sizes of the parts.

    Parameters
    ----------
    sets, seeds : tuple
        The data sets of `tables`, and the seeds of their splits.
    calls : int
        Calls that are timed in `overhead`.
    imports : int
        Processes in which `start` times an import.
    csv_rows : int
        Rows of the CSV files in `files`.
    """

    sets: tuple[str, ...] = tuple(SETS)
    seeds: tuple[int, ...] = (0, 1, 2)
    calls: int = 2_000
    imports: int = 9
    csv_rows: int = 20_000


TESTING = Settings(sets=("iris", "one column"), seeds=(0,), calls=20, imports=1, csv_rows=60)


def _measure_overhead(settings: Settings, progress: Progress) -> list[costs.OverheadRow]:
    return costs.measure_overhead(settings.calls, progress)


def _measure_start(settings: Settings, progress: Progress) -> list[costs.StartRow]:
    return costs.measure_start(settings.imports, progress)


def _measure_files(settings: Settings, progress: Progress) -> list[files.CsvRow]:
    return files.measure(settings.csv_rows, progress)


def _measure_tables(settings: Settings, progress: Progress) -> list[datasets.DatasetRow]:
    return datasets.measure(settings.sets, settings.seeds, progress)


PARTS = (
    Part("overhead", _measure_overhead, costs.overhead_tables, costs.overhead_goals),
    Part("start", _measure_start, costs.start_tables, costs.start_goals),
    Part("files", _measure_files, files.tables, files.goals),
    Part("tables", _measure_tables, datasets.tables, datasets.goals),
)


def run(
    parts: Sequence[Part], settings: Settings | None = None, progress: Progress = no_progress
) -> Iterator[Measured]:
    """Run parts one after the other and yield each when it is done."""
    settings = Settings() if settings is None else settings
    return run_parts("classifier", parts, settings, asdict(settings), progress)
