"""Printed results: tables of text, and goals beside what was measured."""

from collections.abc import Sequence
from statistics import stdev
from typing import NamedTuple


class Table(NamedTuple):
    """A table of text: a title, a head, lines with as many cells, and a note for the reader."""

    title: str
    head: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    note: str = ""


class Goal(NamedTuple):
    """A goal of one part of a benchmark beside the measured value."""

    part: str
    goal: str
    measured: str
    met: bool


def goals_table(goals: Sequence[Goal]) -> Table:
    """Return all goals as one table."""
    lines = [(each.part, each.goal, each.measured, yes(each.met)) for each in goals]
    return Table("Goals and measured values", ("part", "goal", "measured", "met"), lines)


def markdown(table: Table) -> str:
    """Return a table as Markdown, its columns aligned.

    Examples
    --------
    >>> print(markdown(Table("Sizes", ("", "MB"), [("rows", "488")], "Peak.")))
    Sizes
    <BLANKLINE>
    |      | MB  |
    |------|-----|
    | rows | 488 |
    <BLANKLINE>
    Peak.
    """
    widths = _widths(table)
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
        for line in (table.head, *table.lines)
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([table.title, "", *lines, *(["", table.note] if table.note else [])])


def fit_width(table: Table, width: int) -> Table:
    """Return a table that is wider than `width` characters transposed, if that is narrower."""
    first, *others = zip(table.head, *table.lines, strict=True)
    transposed = table._replace(head=first, lines=others)
    before, after = (sum(_widths(each)) + 3 * len(each.head) for each in (table, transposed))
    return transposed if before > width and after < before else table


def yes(holds: bool) -> str:
    """Return "yes", or "NO" in capitals, which must not be overlooked."""
    return "yes" if holds else "NO"


def percent(share: float, digits: int = 2) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.{digits}f} %"


def ms(seconds: float) -> str:
    """Return seconds as milliseconds, without the unit."""
    return f"{1e3 * seconds:.3g}" if seconds < 0.1 else f"{1e3 * seconds:,.0f}"


def mb(megabytes: float | None) -> str:
    """Return megabytes, or a dash where the system does not report them."""
    return "–" if megabytes is None else f"{megabytes:.0f} MB"


def mean_and_deviation(values: Sequence[float], unit: str = "", digits: int = 2) -> str:
    """Return the mean and, of several values, their standard deviation.

    Examples
    --------
    >>> mean_and_deviation([1.0, 2.0], " %", 1)
    '1.5 ± 0.7 %'
    """
    mean = sum(values) / len(values)
    if len(values) == 1:
        return f"{mean:.{digits}f}{unit}"
    deviation = (sum((each - mean) ** 2 for each in values) / (len(values) - 1)) ** 0.5
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}{unit}"


def mean_and_error(values: Sequence[float], unit: str = "", digits: int = 2) -> str:
    """Return the mean and, of several values, its standard error.

    Examples
    --------
    >>> mean_and_error([1.0, 2.0, 1.0, 2.0], " %")
    '1.50 ± 0.29 %'
    """
    mean, error = sum(values) / len(values), standard_error(values)
    within = f" ± {error:.{digits}f}" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{within}{unit}"


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean; 0 for a single value."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def _widths(table: Table) -> list[int]:
    return [max(map(len, cells)) for cells in zip(table.head, *table.lines, strict=True)]
