"""Read JSON lines: an object per line, in a file or on standard input."""

import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files.columns import (
    ColumnRoles,
    ReadOptions,
    assign_roles,
    join_names,
    lengths_of_lists,
    row_kind,
)
from minout.streams.files.encoding import not_utf8
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.flattening import Record, flattened
from minout.streams.files.opening import Opened, open_bytes, wrap_bytes
from minout.streams.files.values import check_text, describe_fault, is_utf8, parse_id, parse_label

NUMBERS = frozenset({int, float})
STANDARD_INPUT = "standard input"


def open_standard_input(options: ReadOptions) -> Reader:
    """Read standard input line by line; for a new model the first object sets the columns."""
    if sys.stdin is None:
        raise MissingDataError("Standard input is closed; pass a file, or pipe JSON lines in.")
    lines = wrap_bytes(sys.stdin.buffer, STANDARD_INPUT, options.encoding)
    return replace(_reader(lines, STANDARD_INPUT, options), is_live=True)


def open_json_lines(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read the first object, which sets the columns; the others are read lazily."""
    file = open_bytes(path, source, options.encoding)
    try:
        return _reader(file, source, options)
    except BaseException:
        file.close()
        raise


def open_json(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read an array of objects, all at once; or JSON lines in a file that is named .json."""
    with open_bytes(path, source, options.encoding) as file:
        content = b"".join(file)
    if not content.lstrip().startswith(b"["):
        return open_json_lines(path, source, options)
    try:
        objects = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{source} is not JSON ({error}); write an array of objects, or an object per line."
        ) from None
    lines = io.BytesIO(b"".join(json.dumps(each).encode() + b"\n" for each in objects))
    return _reader(Opened(lines, lambda: None), source, replace(options, unit="object"))


def _reader(lines: Opened[bytes], source: str, options: ReadOptions) -> Reader:
    objects = _objects(lines, source, options)
    first = _first(objects, source, options)
    if first is None:
        if options.from_line > 1:
            return Reader(
                source,
                iter(()),
                lines.close,
                lines.fraction_read,
                options.columns,
                options.label,
                options.id,
            )
        raise InvalidInputError(_nothing_read(source, options))
    found = _roles(first, source, options)
    examples = _examples(chain([first], objects), source, options, found)
    label = None if found.label is None else options.label
    id = None if found.id is None else options.id
    return Reader(
        source,
        examples,
        lines.close,
        lines.fraction_read,
        found.names,
        label,
        id,
        found.unused,
        kind=found.kind,
    )


def _roles(first: tuple[int, Record], source: str, options: ReadOptions) -> ColumnRoles:
    number, values = first
    try:
        names = list(flattened(values, options.not_features))
    except InvalidInputError as error:
        where = f"{options.unit} {number}"
        raise BadRowError(source, where, str(error), number + 1) from None
    if options.rows == "records":
        options = replace(options, columns=None)  # an object need not have all columns
    return assign_roles(source, names, options)


def _first(
    objects: Iterator[tuple[int, Record]], source: str, options: ReadOptions
) -> tuple[int, Record] | None:
    """Return the first object; if bad lines are skipped, the first that has a model's columns."""
    if options.columns is None or options.on_bad_line is None:
        return next(objects, None)
    label, id = (0 if name in options.required else None for name in (options.label, options.id))
    roles = ColumnRoles(options.columns, (), label, id, (), row_kind(options, len(options.columns)))
    lengths = lengths_of_lists(roles.names)
    for number, values in objects:
        if _example(number, values, source, options, roles, lengths) is not None:
            return number, values
    return None


def _nothing_read(source: str, options: ReadOptions) -> str:
    if options.on_bad_line is None:
        return f"{source} is empty; it needs a JSON object per line."
    return (
        f"{source} is empty, or none of its lines can be read; it must be JSON lines, an object "
        "per line. Pass other files by their name."
    )


def _objects(
    lines: Opened[bytes], source: str, options: ReadOptions
) -> Iterator[tuple[int, Record]]:
    is_start = source == STANDARD_INPUT
    for number, line in enumerate(lines, start=1):
        if number < options.from_line or not line.strip():
            continue
        try:
            values = _object(line)
        except InvalidInputError as error:
            if is_start and _is_csv(line, options.columns):
                raise InvalidInputError(
                    f"{source} looks like CSV, but must be JSON lines, an object per line; pass "
                    "the CSV file by its name, not -."
                ) from None
            where, shown = f"{options.unit} {number}", _shown(line)
            options.refuse(BadRowError(source, where, str(error), number + 1, shown))
            continue
        is_start = False
        yield number, values


def _is_csv(line: bytes, columns: Sequence[str] | None) -> bool:
    """Return whether a line that is not JSON is like the header of a CSV with these columns."""
    fields = re.split(r"[,;\t]", line.decode("utf-8-sig", errors="replace").strip())
    if columns is None:
        return len(fields) > 1 and not line.lstrip().startswith((b"{", b"["))
    return set(columns) <= {field.strip().strip('"') for field in fields}


def _object(line: bytes) -> Record:
    try:
        values = json.loads(line)
    except UnicodeDecodeError:
        raise InvalidInputError(not_utf8("this is not JSON: the text", line)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"this is not JSON ({error}); write one object per line.") from None
    if not isinstance(values, dict):
        raise InvalidInputError('this is not an object; write {"column": value, …}, one per line.')
    return values


def _examples(
    objects: Iterator[tuple[int, Record]], source: str, options: ReadOptions, found: ColumnRoles
) -> Iterator[Example]:
    lengths = lengths_of_lists(options.columns or found.names)
    for number, values in objects:
        example = _example(number, values, source, options, found, lengths)
        if example is not None:
            yield example


def _example(
    number: int,
    values: Record,
    source: str,
    options: ReadOptions,
    found: ColumnRoles,
    lengths: Mapping[str, int],
) -> Example | None:
    """Return the example of a line; None if it is bad and skipped."""
    where = f"{options.unit} {number}"
    try:
        row: Any
        flat = flattened(values, options.not_features, lengths)
        if found.kind == "text":
            row = check_text(flat.get(found.names[0]), found.names[0])
        elif found.kind == "numbers":
            row = _numbers(flat, found.names)
        else:
            row = {name: flat[name] for name in flat if name and name not in options.not_features}
            _require_utf8(row)
            _require_some(row, options.columns)
        label = None if found.label is None else parse_label(flat.get(str(options.label)))
        id = None if found.id is None else parse_id(flat.get(str(options.id)))
    except InvalidInputError as error:
        shown = json.dumps(values)
        options.refuse(BadRowError(source, where, str(error), number + 1, shown))
        return None
    return Example(row, label, id, number, where)


def _require_utf8(row: Record) -> None:
    if not (together := "".join(row)).isascii() and not is_utf8(together):
        name = next(name for name in row if not is_utf8(name))
        raise InvalidInputError(f"the name of the column {name!r} is not UTF-8; rename it.")


def _require_some(row: Record, columns: Sequence[str] | None) -> None:
    if not row:
        raise InvalidInputError("there is no column besides label and id; add some.")
    if columns and not any(name in row for name in columns):
        raise InvalidInputError(
            f"it has none of the columns that this model was taught with ({join_names(columns)}), "
            f"but {join_names(list(row)) or 'no column at all'}; rename its columns, or remove it."
        )


def _shown(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").strip()


def _numbers(fields: Record, names: Sequence[str]) -> Floats:
    try:
        values = [fields[name] for name in names]
    except KeyError as error:
        raise InvalidInputError(
            f"it has no column {error.args[0]!r}; every object needs the same columns."
        ) from None
    if NUMBERS.issuperset(map(type, values)):
        try:
            row = np.array(values, dtype=np.float64)
        except OverflowError:
            row = np.array([np.inf])
        if np.isfinite(row).all():
            return row
    raise InvalidInputError(next(filter(None, map(describe_fault, values, names))))
