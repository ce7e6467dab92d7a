"""What is printed: tables of words, and what was asked for beside what was measured."""

from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """Is a title, a head, lines of as many cells, and what the reader must know about them."""

    title: str
    head: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    note: str = ""


class Claim(NamedTuple):
    """Sets a number that was asked for beside the one that was measured."""

    number: int
    asked: str
    measured: str
    holds: bool


def of_claims(claims: Sequence[Claim]) -> Table:
    """Makes one table of what was asked for."""
    lines = [
        (str(each.number), each.asked, each.measured, "yes" if each.holds else "NO")
        for each in claims
    ]
    return Table("Asked for and measured", ("number", "asked", "measured", "holds"), lines)


def markdown(table: Table) -> str:
    """Writes a table in plain characters, its columns aligned.

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


def fitting(table: Table, width: int) -> Table:
    """Turns a table that is wider than so many characters on its side, if that is narrower."""
    first, *others = zip(table.head, *table.lines, strict=True)
    turned = table._replace(head=first, lines=others)
    wide, narrow = (sum(_widths(each)) + 3 * len(each.head) for each in (table, turned))
    return turned if wide > width and narrow < wide else table


def _widths(table: Table) -> list[int]:
    return [max(map(len, cells)) for cells in zip(table.head, *table.lines, strict=True)]


def percent(share: float, digits: int = 2) -> str:
    """Writes a share as per cent."""
    return f"{100 * share:.{digits}f} %"


def ms(seconds: float) -> str:
    """Writes seconds as milliseconds."""
    return f"{1e3 * seconds:.3g}" if seconds < 0.1 else f"{1e3 * seconds:,.0f}"


def mean_and_spread(values: Sequence[float], unit: str = "", digits: int = 2) -> str:
    """Writes the mean and, of several values, their standard deviation.

    >>> mean_and_spread([1.0, 2.0], " %", 1)
    '1.5 ± 0.7 %'
    """
    mean = sum(values) / len(values)
    if len(values) == 1:
        return f"{mean:.{digits}f}{unit}"
    deviation = (sum((each - mean) ** 2 for each in values) / (len(values) - 1)) ** 0.5
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}{unit}"
