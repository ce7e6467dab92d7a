"""Read CSV: a header, then a row per line; fields may be quoted."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.streams.files.columns import ColumnRoles, ReadOptions, assign_roles
from minout.streams.files.decimal_comma import comma_columns, has_points, with_point
from minout.streams.files.encoding import not_utf8
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.opening import Opened, open_text
from minout.streams.files.values import check_text, describe_fault, is_utf8, parse_text

DELIMITERS = (",", ";", "\t")
MOST_LINES = 20
"""A bad row of more lines is not skipped: a quote was probably never closed."""
SAMPLED, SAMPLED_SIZE = 1_000, 4_000_000
"""The number of lines, or of characters, in which decimal commas are looked for."""


def open_csv(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read the header; the rows are read lazily.

    The delimiter is a comma; if the header has none, a semicolon or a tab. Blank lines are skipped;
    spaces around names, labels and ids are stripped. Numbers may have a decimal comma: see
    `comma_columns`.
    """
    file = open_text(path, source, options.encoding)
    try:
        header, lines = _header(file, source, options.encoding)
        found = assign_roles(source, header, options)
    except BaseException:
        file.close()
        raise
    commas = _commas(lines, header, options) & set(found.features)
    return Reader(
        source,
        _examples(lines, source, header, found, options, commas),
        file.close,
        file.fraction_read,
        found.names,
        None if found.label is None else options.label,
        None if found.id is None else options.id,
        found.unused,
        kind=found.kind,
        comma_columns=tuple(header[place] for place in sorted(commas)),
    )


def _commas(lines: "_Lines", header: Sequence[str], options: ReadOptions) -> set[int]:
    # The columns that have a decimal comma in this file, or had one in an earlier file.
    found = comma_columns(lines.sample, lines.delimiter)
    earlier = {n for n, name in enumerate(header) if name in options.comma_columns}
    if lines.delimiter != ",":
        found |= {place for place in earlier if not has_points(lines.sample, place)}
    return found


class _Lines:
    """A CSV reader that knows the line numbers of each record.

    `sample` has the records of the first lines, without the header.
    """

    def __init__(self, file: Opened[str], first: str, number: int) -> None:
        self.delimiter = next((each for each in DELIMITERS if each in first), ",")
        self._before = number - 1
        some, rest = _look_ahead(file)
        self.sample = _records(some, self.delimiter)
        self._reader = csv.reader(chain([first], rest), delimiter=self.delimiter, strict=True)

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


def _look_ahead(file: Iterable[str]) -> tuple[list[str], Iterator[str]]:
    """Return the first lines, and all lines; an error is raised when its line is reached."""
    lines: list[str] = []
    rest, size, failure = iter(file), 0, None
    try:
        for line in islice(rest, SAMPLED):
            lines.append(line)
            size += len(line)
            if size > SAMPLED_SIZE:
                break
    except Exception as error:
        failure = error
    return lines, chain(lines, _remaining(rest, failure))


def _remaining(lines: Iterator[str], failure: Exception | None) -> Iterator[str]:
    if failure is not None:
        raise failure
    yield from lines


def _records(lines: list[str], delimiter: str) -> list[list[str]]:
    """Return the records of lines, up to the first that cannot be read."""
    records = []
    try:
        for record in csv.reader(lines, delimiter=delimiter, strict=True):
            records.append(record)
    except csv.Error:  # `_examples` names the line
        pass
    return records


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
    lines: _Lines,
    source: str,
    header: list[str],
    found: ColumnRoles,
    options: ReadOptions,
    commas: Set[int],
) -> Iterator[Example]:
    row_of = _row_maker(found, len(header), commas)
    label, id, from_line = found.label, found.id, options.from_line
    nothing_yet = from_line <= 1
    fields: list[str] | None = []
    while True:
        number = lines.following
        where = f"line {number}"
        try:
            fields = lines.record()
            if fields is None:
                break
            if not fields or number < from_line:
                continue
            nothing_yet = False
            if fields[0].strip() == header[0] and [each.strip() for each in fields] == header:
                raise InvalidInputError("this is the header again; take the line out.")
            row = row_of(fields)
            its_label = None if label is None else parse_text(fields[label], "label")
            its_id = None if id is None else parse_text(fields[id], "id")
            if lines.following - number > MOST_LINES and "\n" in f"{its_label}{its_id}":
                raise InvalidInputError("label and id have one line each.")
        except csv.Error as error:
            count = lines.following - number
            following = None if _runs_on(error, count) else lines.following
            if number < from_line and following is not None:
                continue
            refusal = BadRowError(source, where, _fault(error, count), following)
            if following is None or count > MOST_LINES:
                raise refusal from None  # to skip it would skip many rows
            options.refuse(refusal)
            continue
        except InvalidInputError as error:
            if isinstance(error, BadRowError):
                raise
            shown = _joined(fields or [], lines.delimiter)
            refusal = BadRowError(source, where, str(error), lines.following, shown)
            if lines.following - number > MOST_LINES:
                raise BadRowError(source, where, _runs_to(lines.following - 1), None) from None
            options.refuse(refusal)
            continue
        yield Example(row, its_label, its_id, number, where)
    if nothing_yet:
        raise InvalidInputError(f"{source} has a header, but no rows.")


def _runs_to(line: int) -> str:
    return f"a quote is opened here, and the row ends only in line {line}; close the quote."


def _joined(fields: list[str], delimiter: str) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="").writerow(fields)
    return line.getvalue()


def _row_maker(found: ColumnRoles, width: int, commas: Set[int]) -> Callable[[list[str]], Any]:
    """Return the function from the fields of a line to its row."""
    take, names = _taker(found.features), found.names

    def row_of(fields: list[str]) -> Any:
        if len(fields) != width:
            raise InvalidInputError(_ragged(len(fields), width))
        for place in commas:
            fields[place] = with_point(fields[place])
        if found.kind == "text":
            return check_text(fields[found.features[0]], names[0])
        texts = take(fields)
        if found.kind == "numbers":
            return _numbers(texts, names)
        record = dict(zip(names, texts, strict=True))
        _check_texts(record)
        return record

    return row_of


def _check_texts(record: dict[str, str]) -> None:
    together = "".join(record.values())
    if "\0" in together or not (together.isascii() or is_utf8(together)):
        for name, text in record.items():
            if "\0" in text:
                raise InvalidInputError(f"column {name!r} holds a NUL byte; take it out.")
            check_text(text, name)


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
    more = "add the missing ones"
    if fields > width:
        more = "put quotes around a field that contains the delimiter"
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
    return f"the quotes are wrong ({error}); write two quotes for one inside of a quoted field."
