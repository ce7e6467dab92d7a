"""The examples that a reader yields, and the position of each in the file."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from minout.errors import InvalidInputError, MinoutError, MissingDataError, system_reason

Label = int | str
RowKind = Literal["numbers", "text", "records"]


class Example(NamedTuple):
    """One example of a file.

    Attributes
    ----------
    row : ndarray of shape (d,), str or dict
        Numbers in float64, a text, or a record: a dict of column names to values.
    label : int, str or None
        The label, if there is one.
    id : str or None
        The id, if there is one.
    number : int
        Its line in a text file, otherwise its position, counted from 1.
    where : str
        The same for messages, such as "line 7" or "row 7".
    """

    row: Any
    label: Label | None
    id: str | None
    number: int
    where: str


class BadRowError(InvalidInputError):
    """Raised for a row that cannot be read or used; the rows before it have been yielded.

    Attributes
    ----------
    source : str
        The name of the file.
    where : str
        The position in the file, such as "line 7".
    what : str
        What is wrong, and what to do.
    following : int or None
        The line, row or image to continue from; None if nothing after it can be read.
    row : str
        The row as text; empty if it is not known.
    """

    def __init__(
        self, source: str, where: str, what: str, following: int | None, row: str = ""
    ) -> None:
        super().__init__(f"{source}, {where}: {what}")
        self.source, self.where, self.what = source, where, what
        self.following, self.row = following, row


@dataclass(frozen=True)
class Reader:
    """The examples of one file, in its order, read lazily; they can be iterated over only once.

    Attributes
    ----------
    source : str
        The name of the file, for messages.
    rows : iterator of Example
        The examples.
    close : callable
        Called to close the file.
    fraction_read : callable
        Returns the fraction of the file that has been read, or None if that is not known.
    columns : tuple of str or None
        The names of the features; None if the file has no names.
    label, id : str or None
        The columns (in NPZ, the arrays) of labels and ids; None if there are none.
    unused : tuple of str
        The columns that are not used.
    image_shape : tuple of int or None
        The shape of the images, if the rows are known to be images.
    is_live : bool
        Whether the rows come from standard input: the next one may take long to come.
    kind : {"numbers", "text", "records"}
        What the rows are.
    comma_columns : tuple of str
        The columns of a CSV whose numbers have a decimal comma, such as 3,5.
    """

    source: str
    rows: Iterator[Example]
    close: Callable[[], None]
    fraction_read: Callable[[], float | None]
    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    unused: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None
    is_live: bool = False
    kind: RowKind = "numbers"
    comma_columns: tuple[str, ...] = ()
    _ahead: deque[Example] = field(default_factory=deque)
    _error: list[MinoutError] = field(default_factory=list)

    def peek(self, most: int) -> list[Example]:
        """Return the first examples, up to `most`; iterating still yields them.

        There are fewer if the file ends or a row cannot be read. The error is then in `failure`,
        and is raised when iteration reaches the row.

        Parameters
        ----------
        most : int
            How many examples to read ahead.

        Returns
        -------
        list of Example
            The first examples.
        """
        rows = self._unread()
        try:
            while len(self._ahead) < most and not self._error:
                self._ahead.append(next(rows))
        except StopIteration:
            pass
        except MinoutError as error:
            self._error.append(error)
        return list(self._ahead)

    @property
    def failure(self) -> MinoutError | None:
        """The error that follows the examples of `peek`; None if there is none so far."""
        return self._error[0] if self._error else None

    def __iter__(self) -> Iterator[Example]:
        while self._ahead:
            yield self._ahead.popleft()
        if self._error:
            raise self._error.pop()
        yield from self._unread()

    def _unread(self) -> Iterator[Example]:
        # A separate generator: closing it does not close `rows`.
        try:
            for example in self.rows:  # noqa: UP028
                yield example
        except OSError as error:
            raise MissingDataError(
                f"{self.source} could not be read further: {system_reason(error)}."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
