"""Read ids, and labels for them, from a file that a user named."""

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from minout._typing import Id
from minout.cli.file_notes import LabelConverter, find_id
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.streams.files import BadRowError, Label, is_utf8, join_names
from minout.streams.files.csv_text import DELIMITERS
from minout.streams.files.opening import open_text

SUFFIXES = (".csv", ".tsv")
"""Files with these names have a header; others have one id per line."""


class Line(NamedTuple):
    """The values of some columns in one line of a file."""

    number: int
    values: list[str]


def read_fixes(learner: Learner, file: Path) -> dict[Id, Label]:
    """Return the label of each id in a CSV with the columns `id` and `label`; others are ignored.

    Ids must be stored, each once.
    """
    labels, found = LabelConverter(learner), {}
    for line, (text, label) in _lines(file, ("id", "label")):
        example_id = _stored(learner, file, line, text)
        if example_id in found:
            raise _error(file, line, f"column 'id': {text!r} is in an earlier line, too.")
        found[example_id] = labels.convert(label)
    return found


def read_ids(learner: Learner, file: Path) -> list[Id]:
    """Return the stored ids in a file: the column `id` of a CSV, or one per line of a text file."""
    found = {}
    for line, (text,) in _lines(file, ("id",)):
        found[_stored(learner, file, line, text)] = line
    return list(found)


def _stored(learner: Learner, file: Path, line: int, text: str) -> Id:
    example_id = find_id(learner, text)
    if example_id is None:
        raise _error(file, line, f"column 'id': there is no example {text!r} in this model.")
    return example_id


def _error(file: Path, line: int, what: str) -> BadRowError:
    return BadRowError(str(file), f"line {line}", what, None)


def _lines(file: Path, names: tuple[str, ...]) -> Iterator[Line]:
    with open_text(file, str(file)) as opened:
        first = opened.readline()
        lines = chain([first], opened)
        rows: Iterator[Line]
        if len(names) == 1 and file.suffix.lower() not in SUFFIXES:
            rows = (Line(number, [text]) for number, text in enumerate(lines, 1) if text.strip())
        else:
            rows = _columns(file, csv.reader(lines, delimiter=_delimiter(first)), names)
        for number, texts in rows:
            values = [text.strip() for text in texts]
            for name, value in zip(names, values, strict=True):
                if not value:
                    raise _error(file, number, f"column {name!r} is empty.")
                if not is_utf8(value):
                    raise _error(file, number, f"column {name!r} is not UTF-8.")
            yield Line(number, values)


def _delimiter(first: str) -> str:
    return next((each for each in DELIMITERS if each in first), ",")


def _columns(file: Path, rows: Any, names: tuple[str, ...]) -> Iterator[Line]:
    try:
        header = [name.strip() for name in next(rows, [])]
        for name in names:
            if header.count(name) != 1:
                raise InvalidInputError(
                    f"{file} needs one column {name!r}; its columns are: {join_names(header)}."
                )
        places = [header.index(name) for name in names]
        for fields in rows:
            if (len(fields) == 1 and not fields[0].strip()) or not fields:
                continue
            if len(fields) != len(header):
                raise _error(
                    file,
                    rows.line_num,
                    f"there are {len(fields)} fields, but the header has {len(header)}.",
                )
            yield Line(rows.line_num, [fields[place] for place in places])
    except csv.Error as error:
        raise _error(file, rows.line_num, f"{error}.") from None
