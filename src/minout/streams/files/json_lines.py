"""Read JSON lines: an object per line, in a file or on standard input."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files.columns import (
    ColumnRoles,
    ReadOptions,
    assign_roles,
    check_length,
    columns_of_list,
    lengths_of_lists,
)
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.opening import fraction_of, unreadable
from minout.streams.files.values import check_text, describe_fault, parse_id, parse_label

Object = dict[str, Any]
NUMBERS = frozenset({int, float})


def open_standard_input(options: ReadOptions) -> Reader:
    """Read standard input line by line; the first object names the columns."""
    if sys.stdin is None:
        raise MissingDataError("Standard input is closed; pass a file, or pipe JSON lines in.")
    reader = _reader(sys.stdin.buffer, "standard input", options, lambda: None, lambda: None)
    return replace(reader, is_live=True)


def open_json_lines(path: Path, source: str, options: ReadOptions) -> Reader:
    """Read the first object, which names the columns; the others are read lazily."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise unreadable(source, error) from None
    try:
        return _reader(file, source, options, file.close, fraction_of(path, file.tell))
    except BaseException:
        file.close()
        raise


def _reader(
    lines: BinaryIO,
    source: str,
    options: ReadOptions,
    close: Callable[[], None],
    fraction_read: Callable[[], float | None],
) -> Reader:
    objects = _objects(lines, source, options)
    first = next(objects, None)
    if first is None:
        if options.from_line > 1:
            return Reader(
                source, iter(()), close, fraction_read, options.columns, options.label, options.id
            )
        raise InvalidInputError(f"{source} is empty; it needs a JSON object per line.")
    found = assign_roles(source, list(_flat(first[1], options)), options)
    examples = _examples(chain([first], objects), source, options, found)
    label = None if found.label is None else options.label
    id = None if found.id is None else options.id
    return Reader(
        source,
        examples,
        close,
        fraction_read,
        found.names,
        label,
        id,
        found.unused,
        is_text=found.is_text,
    )


def _objects(lines: BinaryIO, source: str, options: ReadOptions) -> Iterator[tuple[int, Object]]:
    for number, line in enumerate(lines, start=1):
        if number < options.from_line or not line.strip():
            continue
        try:
            values = _object(line)
        except InvalidInputError as error:
            options.refuse(BadRowError(source, f"line {number}", str(error), number + 1))
            continue
        yield number, values


def _object(line: bytes) -> Object:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"this is not JSON ({error}); write one object per line.") from None
    if not isinstance(values, dict):
        raise InvalidInputError('this is not an object; write {"column": number, …}, one per line.')
    return values


def _flat(
    values: Object, options: ReadOptions, lengths: Mapping[str, int] = MappingProxyType({})
) -> Object:
    """Replace a list by as many columns: {"x": [1, 2]} becomes {"x[0]": 1, "x[1]": 2}."""
    if list not in map(type, values.values()):
        return values
    flat: Object = {}
    for name, value in values.items():
        if isinstance(value, list) and name not in options.not_features:
            check_length(name, len(value), lengths)
            flat.update(zip(columns_of_list(name, len(value)), value, strict=True))
        else:
            flat[name] = value
    return flat


def _examples(
    objects: Iterator[tuple[int, Object]], source: str, options: ReadOptions, found: ColumnRoles
) -> Iterator[Example]:
    lengths = lengths_of_lists(found.names)
    for number, values in objects:
        where = f"line {number}"
        try:
            row: Any
            if found.is_text:
                row = check_text(values.get(found.names[0]), found.names[0])
            else:
                row = _numbers(_flat(values, options, lengths), found.names)
            label = None if found.label is None else parse_label(values.get(str(options.label)))
            id = None if found.id is None else parse_id(values.get(str(options.id)))
        except InvalidInputError as error:
            options.refuse(BadRowError(source, where, str(error), number + 1))
            continue
        yield Example(row, label, id, number, where)


def _numbers(fields: Object, names: Sequence[str]) -> Floats:
    try:
        values = [fields[name] for name in names]
    except KeyError as error:
        raise InvalidInputError(
            f"there is no {error.args[0]!r}; every object needs the same columns."
        ) from None
    if NUMBERS.issuperset(map(type, values)):
        try:
            row = np.array(values, dtype=np.float64)
        except OverflowError:
            row = np.array([np.inf])
        if np.isfinite(row).all():
            return row
    raise InvalidInputError(next(filter(None, map(describe_fault, values, names))))
