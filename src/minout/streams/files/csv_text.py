"""Read CSV: a header, then a row per line; fields may be quoted."""

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.streams.files.columns import ColumnRoles, ReadOptions, assign_roles
from minout.streams.files.encoding import not_utf8
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.opening import Opened, open_text
from minout.streams.files.values import check_text, describe_fault, is_utf8, parse_text

DELIMITERS = (",", ";", "\t")


def open_csv(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read the header; the rows are read lazily.

    The delimiter is a comma; if the header has none, a semicolon or a tab. Blank
    lines are skipped; spaces around names, labels and ids are stripped.
    """
    file = open_text(path, source, options.encoding)
    try:
        header, lines = _header(file, source, options.encoding)
        found = assign_roles(source, header, options)
    except BaseException:
        file.close()
        raise
    return Reader(
        source,
        _examples(lines, source, header, found, options.from_line),
        file.close,
        file.fraction_read,
        found.names,
        None if found.label is None else options.label,
        None if found.id is None else options.id,
        found.unused,
        is_text=found.is_text,
    )


class _Lines:
    """A CSV reader that knows the line numbers of each record."""

    def __init__(self, file: Opened[str], first: str, number: int) -> None:
        delimiter = next((each for each in DELIMITERS if each in first), ",")
        self._before = number - 1
        self._reader = csv.reader(chain([first], file), delimiter=delimiter, strict=True)

    @property
    def following(self) -> int:
        """The number of the next line."""
        return self._before + self._reader.line_num + 1

    def record(self) -> list[str] | None:
        """Return the next record, [] for a blank line, None at the end."""
        fields = next(self._reader, None)
        if fields is not None and len(fields) == 1 and not fields[0].strip():
            return []
        return fields


def _header(file: Opened[str], source: str, encoding: str | None) -> tuple[list[str], _Lines]:
    for number, first in enumerate(file, start=1):
        if "\0" in first or first.startswith(("\udcff\udcfe", "\udcfe\udcff")):
            raise InvalidInputError(not_utf8(f"{source}, line {number}: the text", first, encoding))
        if first.strip():
            lines = _Lines(file, first, number)
            try:
                names = [name.strip() for name in lines.record() or []]
            except csv.Error as error:
                raise BadRowError(
                    source, f"line {number}", _fault(error, lines.following - number), None
                ) from None
            if not all(is_utf8(name) for name in names):
                raise InvalidInputError(not_utf8(f"{source}, line {number}: the text", first))
            return names, lines
    raise InvalidInputError(f"{source} is empty; it needs a header line and rows.")


def _examples(
    lines: _Lines, source: str, header: Sequence[str], found: ColumnRoles, from_line: int
) -> Iterator[Example]:
    take = _taker(found.features)
    width, label, id = len(header), found.label, found.id
    nothing_yet = from_line <= 1
    while True:
        number = lines.following
        where = f"line {number}"
        try:
            fields = lines.record()
            if fields is None:
                break
            if not fields or number < from_line:
                continue
            if len(fields) != width:
                raise InvalidInputError(_ragged(len(fields), width))
            row: Any = (
                check_text(fields[found.features[0]], found.names[0])
                if found.is_text
                else _numbers(take(fields), found.names)
            )
            its_label = None if label is None else parse_text(fields[label], "label")
            its_id = None if id is None else parse_text(fields[id], "id")
        except csv.Error as error:
            count = lines.following - number
            following = None if _runs_on(error, count) else lines.following
            if number < from_line and following is not None:
                continue
            raise BadRowError(source, where, _fault(error, count), following) from None
        except InvalidInputError as error:
            raise BadRowError(source, where, str(error), lines.following) from None
        nothing_yet = False
        yield Example(row, its_label, its_id, number, where)
    if nothing_yet:
        raise InvalidInputError(f"{source} has a header, but no rows.")


def _taker(places: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    if list(places) == list(range(places[0], places[0] + len(places))):
        return itemgetter(slice(places[0], places[0] + len(places)))
    return itemgetter(*places)


def _numbers(texts: Sequence[str], names: Sequence[str]) -> Floats:
    try:
        row = np.array(list(map(float, texts)))
    except ValueError:
        row = None
    if row is None or not np.isfinite(row).all() or "_" in "".join(texts):
        fields = zip(texts, names, strict=True)
        faults = (describe_fault(text, name, as_text=True) for text, name in fields)
        raise InvalidInputError(next(filter(None, faults)))
    return row


def _ragged(fields: int, width: int) -> str:
    more = "put quotes around a field that holds the delimiter" if fields > width else "fill it up"
    there = "there is 1 field" if fields == 1 else f"there are {fields} fields"
    return f"{there}, but the header has {width}; {more}."


def _is_too_long(error: csv.Error) -> bool:
    return "field limit" in str(error)


def _runs_on(error: csv.Error, lines: int) -> bool:
    # A field that is too long and spans several lines lacks its closing quote.
    return "unexpected end" in str(error) or (_is_too_long(error) and lines > 1)


def _fault(error: csv.Error, lines: int) -> str:
    if _is_too_long(error) and lines <= 1:
        return f"a field has more than {csv.field_size_limit():,} characters; shorten it."
    if _runs_on(error, lines):
        return (
            "a quote is opened and never closed; close it, or double it if it is part of the text."
        )
    return f"the quotes are wrong ({error}); double a quote inside of a quoted field."
