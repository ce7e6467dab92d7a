"""What a reader yields: batches of rows, each with its line in the file."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from minout._typing import Label
from minout.errors import InvalidInputError, MinoutError
from minout.files.values import join_names, parse_id, parse_label

FIRST = 10_000
"""The most rows of the first batch of a file, from which a new model infers kinds of columns."""
MOST = 1_024
"""The most rows of the other batches."""
Record = dict[str, Any]


class BadRowError(InvalidInputError):
    """A row that cannot be read or used.

    Attributes
    ----------
    source, where : str
        The name of the file, and the place in it, such as "line 7".
    what : str
        What is wrong, and what to do.
    text : str
        The row as text; empty if it is not known.
    """

    def __init__(self, source: str, where: str, what: str, text: str = "") -> None:
        super().__init__(f"{source}, {where}: {what}")
        self.source, self.where, self.what, self.text = source, where, what, text


class Row(NamedTuple):
    """One row of a file: a record or an array, and the number of its line."""

    values: Any
    line: int
    label: Any = None
    id: Any = None


class Batch(NamedTuple):
    """Some rows of a file, in its order.

    Attributes
    ----------
    X : list of dict, or ndarray of shape (n, d)
        Records of a table without label and id, or rows of numbers.
    labels : list
        The label of each row; None where a row has none.
    ids : list of str or None
        The id of each row; None where a row has none.
    lines : list of int
        The line of each row in the file; of other files, the number of the row or image.
    error : MinoutError or None
        What follows these rows and ends the file, if it cannot be read to its end.
    """

    X: Any
    labels: list[Label | None]
    ids: list[str | None]
    lines: list[int]
    error: MinoutError | None = None

    def part(self, start: int, stop: int) -> "Batch":
        """Return the batch of some of the rows."""
        some = slice(start, stop)
        return Batch(self.X[some], self.labels[some], self.ids[some], self.lines[some])

    def at(self, rows: list[int]) -> "Batch":
        """Return the batch of the rows with these numbers."""
        return Batch(
            self.X[rows] if isinstance(self.X, np.ndarray) else [self.X[row] for row in rows],
            [self.labels[row] for row in rows],
            [self.ids[row] for row in rows],
            [self.lines[row] for row in rows],
            self.error,
        )


class Options(NamedTuple):
    """The columns of label and id, and what is done with bad rows; `read` describes them."""

    label: str | None = None
    id: str | None = None
    skip: Callable[[BadRowError], None] | None = None


class Reader(ABC):
    """The batches of one file, read lazily and only once; a context manager that closes it.

    Attributes
    ----------
    source : str
        The name of the file, for messages.
    columns : list of str or None
        The columns of the header or of the first row, label and id included; None if the file has
        no names.
    unit : str
        What `Batch.lines` counts: "line", "object", "row" or "image".
    image_shape : tuple of int or None
        The shape of the images, if the rows are known to be images.
    is_live : bool
        Whether the rows come from standard input, so that the next one may take long to come.
    """

    unit: ClassVar[str] = "line"
    is_live = False
    image_shape: tuple[int, ...] | None = None
    columns: list[str] | None = None

    def __init__(self, source: str, options: Options) -> None:
        self.source, self._options = source, options

    @abstractmethod
    def rows(self) -> Iterator[Row | BadRowError]:
        """Yield each row, or what is wrong with it; raise an error that ends the file."""

    @property
    def fraction_read(self) -> float | None:
        """The fraction of the file that has been read; None if that is not known."""
        return None

    def has_arrived(self) -> bool:
        """Return whether the next row can be read without waiting for it."""
        return True

    def close(self) -> None:  # noqa: B027, not every reader keeps a file open
        """Close the file."""

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def bad_row(self, line: int, what: str, row: Any = "") -> BadRowError:
        """Return the error for a row."""
        shown = str(row).strip().encode("utf-8", "replace").decode()
        return BadRowError(self.source, f"{self.unit} {line}", what, shown)

    def require(self, column: str) -> None:
        """Raise an InvalidInputError if the file has no such column."""
        if self.columns is None or column in self.columns:
            return
        near = get_close_matches(column, self.columns, n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidInputError(
            f"{self.source} has no column {column!r}{meant}; its columns are: "
            f"{join_names(self.columns)}."
        )

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches; one of standard input is what has arrived."""
        found: list[Row] = []
        most = FIRST
        try:
            for item in self.rows():
                row = item if isinstance(item, BadRowError) else self._with_roles(item)
                if not isinstance(row, BadRowError):
                    found.append(row)
                elif self._options.skip is None:
                    raise row
                else:
                    self._options.skip(row)
                if found and (len(found) >= most or not self.has_arrived()):
                    yield _batch(found)
                    found, most = [], MOST
        except MinoutError as error:
            if not found:
                raise
            yield _batch(found, error)
            return
        if found:
            yield _batch(found)

    def _with_roles(self, row: Row) -> Row | BadRowError:
        """Take label and id out of a record, and check their types."""
        values, label, id = row.values, row.label, row.id
        if isinstance(values, dict):
            label = values.pop(self._options.label, None)
            id = values.pop(self._options.id, None)
        try:
            return Row(values, row.line, parse_label(label), parse_id(id))
        except InvalidInputError as error:
            return self.bad_row(row.line, str(error), values)


def _batch(rows: list[Row], error: MinoutError | None = None) -> Batch:
    values, lines, labels, ids = map(list, zip(*rows, strict=True))
    X = values if isinstance(values[0], dict) else np.stack(values)
    return Batch(X, labels, ids, lines, error)


def with_first(
    rows: Iterator[Row | BadRowError],
) -> tuple[list[str] | None, Iterator[Row | BadRowError]]:
    """Return the columns of the first row, if it can be read, and all rows."""
    first = next(rows, None)
    names = list(first.values) if isinstance(first, Row) else None
    return names, chain([] if first is None else [first], rows)
