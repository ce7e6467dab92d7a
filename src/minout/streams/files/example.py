"""What a reader gives: an example at a time, and where it stood."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

from minout._typing import Floats
from minout.errors import InvalidInputError, MissingDataError

Label = int | str


class Example(NamedTuple):
    """Is one example of a file: row float64 (d,), and its label and id if the file has them.

    `number` is its line in a text file, else its place in the file, both counted from 1; `where`
    says so in words.
    """

    row: Floats
    label: Label | None
    id: str | None
    number: int
    where: str


class BadRowError(InvalidInputError):
    """Says where in which file something is wrong; what came before it has been given out.

    `following` is the number to go on from, or None if nothing can be read after this.
    """

    def __init__(self, source: str, where: str, what: str, following: int | None) -> None:
        super().__init__(f"{source}, {where}: {what}")
        self.following = following


@dataclass(frozen=True)
class Reader:
    """Gives the examples of one file, once, in its order, and reads no further than asked.

    `columns` names the features, or is None where the file has no names. `label` and `id` name the
    columns that these come from, if there are such; `unused` names all others. `image_shape` is
    that of the images, if it is known that the rows are images. `share` says how much of the file
    has been read, 0 to 1, if that can be known.
    """

    source: str
    rows: Iterator[Example]
    close: Callable[[], None]
    share: Callable[[], float | None]
    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    unused: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None

    def __iter__(self) -> Iterator[Example]:
        # What holds a reader may let go of this without closing `rows`.
        try:
            for example in self.rows:  # noqa: UP028
                yield example
        except OSError as error:
            raise MissingDataError(
                f"{self.source} could not be read on: {error.strerror or error}."
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
