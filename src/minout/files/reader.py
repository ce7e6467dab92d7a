"""What reading a file gives: batches of rows, each with its line in the file."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from difflib import get_close_matches
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np

from minout._typing import Label
from minout.errors import InvalidInputError, MinoutError, some
from minout.files.values import flattened, parse_id, parse_label

FIRST = 10_000
"""The most rows of the first batch of a file, from which a new model infers kinds of columns."""
MOST = 1_024
"""The most rows of the other batches."""
Record = dict[str, Any]


class BadRowError(InvalidInputError):
    """A row that cannot be read or used: where it is ("line 7"), what to do, and its text."""

    def __init__(self, source: str, where: str, what: str, row: Any = "") -> None:
        super().__init__(f"{source}, {where}: {what}")
        self.where, self.what = where, what
        self.text = str(row).strip().encode("utf-8", "replace").decode()


class Row(NamedTuple):
    """One row of a file: a record or an array, and the number of its line."""

    values: Any
    line: int
    label: Any = None
    id: Any = None


class Content(NamedTuple):
    """What the reader of a kind of file returns; a bad row is an error among the rows."""

    rows: Iterator[Row | BadRowError]
    unit: str
    """What `Row.line` counts: "line", "object", "row" or "image"."""
    columns: list[str] | None = None
    """The names of the header; without them, the first record has them."""
    image_shape: tuple[int, ...] | None = None
    total: int | None = None
    """The number of rows; that of lines is not known."""
    file: Any = None
    """What is closed at the end; `Lines` also know how far they have been read."""
    note: str = ""
    """A sentence for the user; "" if there is none."""


class Batch(NamedTuple):
    """Records without label and id, or an array; `error` follows these rows and ends the file."""

    X: Any
    labels: list[Label | None]
    ids: list[str | None]
    lines: list[int]
    error: MinoutError | None = None

    def at(self, rows: range | list[int]) -> "Batch":
        """Return the batch of the rows with these numbers, without the error."""
        return Batch(
            self.X[rows] if isinstance(self.X, np.ndarray) else [self.X[n] for n in rows],
            [self.labels[n] for n in rows],
            [self.ids[n] for n in rows],
            [self.lines[n] for n in rows],
        )


class Reader(AbstractContextManager["Reader"]):
    """The batches of one file, read lazily and only once; a context manager that closes it.

    `columns` include label and id; None if the file has no names. `is_live` is standard input: a
    bad row ends a batch, so that it is skipped after the rows before it were used; with
    `is_first_whole` it does not end the first batch. `note` is a sentence for the user, or "".
    """

    is_first_whole = False

    def __init__(
        self,
        source: str,
        content: Content,
        *,
        label: str | None,
        id: str | None,
        skip: Callable[[BadRowError], None] | None,
        is_live: bool = False,
    ) -> None:
        self.source, self._content, self.is_live = source, content, is_live
        self.unit, self.image_shape, self.note = content.unit, content.image_shape, content.note
        self._label, self._id, self._skip, self._read = label, id, skip, 0
        self._lengths: dict[str, int] = {}
        self._rows, self.columns = content.rows, content.columns
        if self.columns is None and not is_live:  # the first object of a stream may be a bad one
            first = next(self._rows, None)
            self._rows = chain([] if first is None else [first], self._rows)
            self.columns = _columns_of(first)

    @property
    def fraction_read(self) -> float | None:
        """The fraction of the file that has been read; None if that is not known."""
        total, file = self._content.total, self._content.file
        fraction: float | None = file.fraction_read() if total is None else self._read / total
        return fraction

    def close(self) -> None:
        """Close the file."""
        if self._content.file is not None:
            self._content.file.close()

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def bad_row(self, line: int, what: str, row: Any = "") -> BadRowError:
        """Return the error for a row; a record is shown as JSON."""
        row = json.dumps(row, default=str) if isinstance(row, dict) else row
        return BadRowError(self.source, f"{self.unit} {line}", what, row)

    def require(self, column: str) -> None:
        """Raise an InvalidInputError if the file has no such column."""
        if self.columns is None or column in self.columns:
            return
        near = get_close_matches(column, self.columns, n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidInputError(
            f"{self.source} has no column {column!r}{meant}; its columns are: {some(self.columns)}."
        )

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches; one of standard input is what has arrived."""
        found: list[Row] = []
        most = FIRST
        try:
            for item in self._rows:
                self._read += 1
                row = item if isinstance(item, BadRowError) else self._with_roles(item)
                if not isinstance(row, BadRowError):
                    found.append(row)
                elif self._skip is None:
                    raise row
                else:
                    if found and self.is_live and not (self.is_first_whole and most == FIRST):
                        yield _batch(found)
                        found, most = [], MOST
                    self._skip(row)
                is_last = self.is_live and not self._content.file.has_arrived
                if found and (len(found) >= most or is_last):
                    yield _batch(found)
                    found, most = [], MOST
        except MinoutError as error:
            if not found:
                raise
            yield _batch(found, error)
            return
        if found:
            yield _batch(found)
        elif not self._read and not self.is_live:
            raise InvalidInputError(f"{self.source} has no rows.")

    def _with_roles(self, row: Row) -> Row | BadRowError:
        """Flatten a record, take its label and id out, and check their types."""
        values, label, id = row.values, row.label, row.id
        try:
            if isinstance(values, dict):
                values = values.copy()
                label, id = values.pop(self._label, None), values.pop(self._id, None)
                values = cast(dict[str | None, Any], flattened(values, self._lengths))
                label, id = values.pop(self._label, label), values.pop(self._id, id)
            return Row(values, row.line, parse_label(label), parse_id(id))
        except InvalidInputError as error:
            return self.bad_row(row.line, str(error), row.values)


def _columns_of(first: Row | BadRowError | None) -> list[str] | None:
    if not isinstance(first, Row) or not isinstance(first.values, dict):
        return None
    try:
        return list(flattened(first.values, {}))
    except InvalidInputError:
        return None  # it is reported when its turn comes


def _batch(rows: list[Row], error: MinoutError | None = None) -> Batch:
    values, lines, labels, ids = map(list, zip(*rows, strict=True))
    X = values if isinstance(values[0], dict) else np.stack(values)
    return Batch(X, labels, ids, lines, error)
