"""The examples that a reader yields, and where in the file each one is."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from minout.errors import InvalidInputError, MinoutError, MissingDataError, system_reason

Label = int | str
RowKind = Literal["numbers", "text", "records"]


class Example(NamedTuple):
    """One example of a file: its row, and its label and id if there are any.

    The row is float64 (d,), a text, or a record: a dict from names of columns to values. `number`
    is its line in a text file, otherwise its position, counted from 1; `where` is the same
    as text.
    """

    row: Any
    label: Label | None
    id: str | None
    number: int
    where: str


class BadRowError(InvalidInputError):
    """A row that cannot be read; the rows before it have been yielded.

    `following` is the number to continue from, or None if nothing after it can be read. `row` is
    the row as it is in the file, as far as it is known.
    """

    def __init__(
        self, source: str, where: str, what: str, following: int | None, row: str = ""
    ) -> None:
        super().__init__(f"{source}, {where}: {what}")
        self.source, self.where, self.what = source, where, what
        self.following, self.row = following, row


@dataclass(frozen=True)
class Reader:
    """The examples of one file, in its order, read lazily; iterate only once.

    Attributes
    ----------
    source : str
        The name of the file, for messages.
    rows : iterator of Example
        The examples.
    close : callable
        Closes the file.
    fraction_read : callable
        Returns the fraction of the file that has been read, or None if that is not known.
    columns : tuple of str or None
        The names of the features; None if the file has no names.
    label, id : str or None
        The columns that label and id come from.
    unused : tuple of str
        The other columns.
    image_shape : tuple of int or None
        The shape of the images, if the rows are known to be images.
    is_live : bool
        Whether the rows come from standard input, perhaps one by one.
    kind : {"numbers", "text", "records"}
        What the rows are.
    has_decimal_comma : bool
        Whether numbers were found that are written with a comma, such as 3,5.
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
    has_decimal_comma: bool = False
    _ahead: deque[Example] = field(default_factory=deque)
    _error: list[MinoutError] = field(default_factory=list)

    def peek(self, most: int) -> list[Example]:
        """Return the first examples, up to `most`; iterating yields them, too.

        There are fewer if a row cannot be read; the error is raised when it is reached, and is
        `failure` until then.
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
        """The error behind the examples that `peek` returned; None if there is none so far."""
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
