"""Benchmark of stored models: `python -m benchmarks store`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from benchmarks.parts import Measured, Part, Progress, no_progress, run_parts
from benchmarks.store import copies

__all__ = ["PARTS", "TESTING", "Settings", "run"]


@dataclass(frozen=True)
class Settings:
    """Sizes of the parts.

    Parameters
    ----------
    copies : int
        How many damaged and forged copies `copies` opens.
    seed : int
        The seed of the copies.
    check_bounds : bool
        Whether kernels are compiled anew with bounds checks, in a process and a cache of their
        own: an index beyond an array is then an error, not a wrong number or a crash.
    """

    copies: int = 5_000
    seed: int = 0
    check_bounds: bool = False


TESTING = Settings(copies=20)


def _measure_copies(settings: Settings, progress: Progress) -> list[copies.CopiesRow]:
    measure = copies.measure_with_bounds if settings.check_bounds else copies.measure
    return measure(settings.copies, settings.seed, progress)


PARTS = (Part("copies", _measure_copies, copies.tables, copies.goals),)


def run(
    parts: Sequence[Part], settings: Settings | None = None, progress: Progress = no_progress
) -> Iterator[Measured]:
    """Run parts one after the other and yield each when it is done."""
    settings = Settings() if settings is None else settings
    return run_parts("store", parts, settings, asdict(settings), progress)
