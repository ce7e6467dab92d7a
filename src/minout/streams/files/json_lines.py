"""JSON lines: an object per line, in a file or on standard input."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError, MissingDataError
from minout.streams.files.columns import Asked, Roles, roles
from minout.streams.files.example import BadRowError, Example, Reader
from minout.streams.files.lists import (
    columns_of_list,
    lengths_of_lists,
    refuse_other_length,
)
from minout.streams.files.opened import share_of, unreadable
from minout.streams.files.values import fault_of, id_of, label_of

Object = dict[str, Any]
NUMBERS = frozenset({int, float, bool})


def open_standard_input(asked: Asked) -> Reader:
    """Reads standard input as it comes; the first object names the columns."""
    if sys.stdin is None:
        raise MissingDataError("Standard input is closed; pass a file, or pipe JSON lines in.")
    return _reader(sys.stdin.buffer, "standard input", asked, lambda: None, lambda: None)


def open_json_lines(path: Path, source: str, asked: Asked) -> Reader:
    """Reads the first object, which names the columns; the others when they are asked for."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise unreadable(source, error) from None
    try:
        return _reader(file, source, asked, file.close, share_of(path, file.tell))
    except BaseException:
        file.close()
        raise


def _reader(
    lines: BinaryIO,
    source: str,
    asked: Asked,
    close: Callable[[], None],
    share: Callable[[], float | None],
) -> Reader:
    objects = _objects(lines, source, asked)
    first = next(objects, None)
    if first is None:
        if asked.from_line > 1:
            return Reader(source, iter(()), close, share, asked.columns, asked.label, asked.id)
        raise InvalidInputError(f"{source} is empty; it needs a JSON object per line.")
    found = roles(source, list(_flat(first[1], asked)), asked)
    examples = _examples(chain([first], objects), source, asked, found)
    label = None if found.label is None else asked.label
    id = None if found.id is None else asked.id
    return Reader(source, examples, close, share, found.names, label, id, found.unused)


def _objects(lines: BinaryIO, source: str, asked: Asked) -> Iterator[tuple[int, Object]]:
    for number, line in enumerate(lines, start=1):
        if number < asked.from_line or not line.strip():
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"this is not JSON ({error}); write one object per line."
            raise BadRowError(source, f"line {number}", what, number + 1) from None
        if not isinstance(said, dict):
            what = 'this is not an object; write {"column": number, …}, one per line.'
            raise BadRowError(source, f"line {number}", what, number + 1)
        yield number, said


def _flat(said: Object, asked: Asked, lengths: Mapping[str, int] = MappingProxyType({})) -> Object:
    """Lets a list stand for as many columns: {"x": [1, 2]} is {"x[0]": 1, "x[1]": 2}."""
    if list not in map(type, said.values()):
        return said
    flat: Object = {}
    for name, value in said.items():
        if isinstance(value, list) and name not in asked.apart:
            refuse_other_length(name, len(value), lengths)
            flat.update(zip(columns_of_list(name, len(value)), value, strict=True))
        else:
            flat[name] = value
    return flat


def _examples(
    objects: Iterator[tuple[int, Object]], source: str, asked: Asked, found: Roles
) -> Iterator[Example]:
    lengths = lengths_of_lists(found.names)
    for number, said in objects:
        where = f"line {number}"
        try:
            row = _numbers(_flat(said, asked, lengths), found.names)
            label = None if found.label is None else label_of(said.get(str(asked.label)))
            id = None if found.id is None else id_of(said.get(str(asked.id)))
        except InvalidInputError as error:
            raise BadRowError(source, where, str(error), number + 1) from None
        yield Example(row, label, id, number, where)


def _numbers(said: Object, names: Sequence[str]) -> Floats:
    try:
        values = [said[name] for name in names]
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
    raise InvalidInputError(next(filter(None, map(fault_of, values, names))))
