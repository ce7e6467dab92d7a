"""The examples that a reader yields, and where in the file each one is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self

from minout.errors import InvalidInputError, MissingDataError, system_reason

Label = int | str


class Example(NamedTuple):
    """One example of a file: row float64 (d,) or a text, and its label and id if there are any.

    `number` is its line in a text file, otherwise its position, counted from 1; `where` is the same
    as text.
    """

    row: Any
    label: Label | None
    id: str | None
    number: int
    where: str


class BadRowError(InvalidInputError):
    """A row that cannot be read; the rows before it have been yielded.

    `following` is the number to continue from, or None if nothing after it can be read.
    """

    def __init__(self, source: str, where: str, what: str, following: int | None) -> None:
        super().__init__(f"{source}, {where}: {what}")
        self.following = following


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
    is_text : bool
        Whether the rows are the text of the one column.
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
    is_text: bool = False

    def __iter__(self) -> Iterator[Example]:
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
