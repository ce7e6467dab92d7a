"""The parts of a benchmark: choosing them, running them, and reporting progress."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.tables import Goal, Table
from minout import results
from minout.errors import InvalidInputError

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and the total."""


def no_progress(what: str, done: int, total: int) -> None:
    """Show nothing."""


def worth_showing(done: int, total: int) -> bool:
    """Return True about a hundred times while `done` counts up to `total`, and at the end."""
    return done == total or done % max(total // 100, 1) == 0


class Part(NamedTuple):
    """One part of a benchmark: measure rows, then make tables and goals from the rows alone.

    A part is chosen by its name or by one of its numbers, if it has any.
    """

    name: str
    measure: Callable[[Any, Progress], Sequence[Any]]
    tables: Callable[[Any], list[Table]]
    goals: Callable[[Any], list[Goal]]
    numbers: tuple[int, ...] = ()


class Measured(NamedTuple):
    """The result of one part: rows to be written, tables and goals to be printed."""

    name: str
    rows: list[results.Row]
    tables: list[Table]
    goals: list[Goal]


def choose_parts(parts: Sequence[Part], wanted: Sequence[str]) -> list[Part]:
    """Return the parts that are wanted, in their own order; all of them if none is named.

    Parameters
    ----------
    parts : sequence of Part
        The parts of one benchmark.
    wanted : sequence of str
        Names or numbers; one string may hold several, separated by commas.

    Raises
    ------
    InvalidInputError
        If there is no part of that name or number.

    Examples
    --------
    >>> from benchmarks.engine import PARTS
    >>> [part.name for part in choose_parts(PARTS, ["10,small", "1"])]
    ['stream', 'small', 'memory']
    """
    words = [word.strip() for each in wanted for word in each.split(",") if word.strip()]
    keys = {part.name: {part.name, *map(str, part.numbers)} for part in parts}
    for word in words:
        if not any(word in each for each in keys.values()):
            names = ", ".join(_described(part) for part in parts)
            raise InvalidInputError(f"There is no part {word!r}; the parts are {names}.")
    return [part for part in parts if not words or not keys[part.name].isdisjoint(words)]


def run_parts(
    group: str,
    parts: Sequence[Part],
    inputs: Any,
    settings: Mapping[str, Any],
    progress: Progress = no_progress,
) -> Iterator[Measured]:
    """Run parts one after the other and yield each when it is done.

    Parameters
    ----------
    group : str
        The name of the benchmark; rows carry it with the name of their part.
    parts : sequence of Part
        What to run.
    inputs : object
        Passed to every part; its type is that of the benchmark.
    settings : mapping
        Written into every row. Its "seed", or 0, is the seed of rows without their own.
    progress : callable
        Called while a part runs.

    Yields
    ------
    Measured
        The rows, tables and goals of one part.
    """
    for part in parts:
        rows = part.measure(inputs, progress)
        stamped = []
        for row in rows:
            values = {"row": type(row).__name__, **row._asdict()}
            seed = values.pop("seed", settings.get("seed", 0))
            stamped.append(results.row(f"{group} {part.name}", settings, seed, values))
        yield Measured(part.name, stamped, part.tables(rows), part.goals(rows))


def _described(part: Part) -> str:
    numbers = f" ({', '.join(map(str, part.numbers))})" if part.numbers else ""
    return f"{part.name}{numbers}"
