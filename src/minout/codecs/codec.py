"""The protocols of codecs: fixed functions from rows of numbers to a few bytes, and back."""

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats

Bytes = NDArray[np.uint8]


@runtime_checkable
class Codec(Protocol):
    """The protocol of a codec of your own: a function from rows to codes, and one back to rows.

    Both are fixed before the first example. The code of a row must be the same each time, and so
    must be the row of a code, to the last bit. minout calls your codec with one row at a time, with
    BLAS limited to one thread, perhaps from several threads at once.
    """

    @property
    def width(self) -> int | None:
        """How many numbers a row has."""
        ...

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has."""
        ...

    @property
    def fingerprint(self) -> str:
        """A name for the codec; another one if it would encode or decode differently."""
        ...

    def encode(self, rows: Any) -> Any:
        """Return the codes (n, bytes_per_row), uint8, of rows (n, width)."""
        ...

    def decode(self, codes: Any) -> Any:
        """Return finite rows (n, width) of codes (n, bytes_per_row)."""
        ...


class ExactCodec(Protocol):
    """A codec whose codes and rows do not depend on the other rows of a call.

    `width` is None if rows may have any width; `for_width` then returns a codec for one width.
    """

    @property
    def width(self) -> int | None:
        """How many numbers a row has; None for any."""
        ...

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has; 0 without a width."""
        ...

    @property
    def fingerprint(self) -> str:
        """The name, version and a hash of all settings that affect codes and rows."""
        ...

    def for_width(self, width: int) -> Self:
        """Return the codec for rows of a width; raise InvalidInputError if it is for another."""
        ...

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes (n, bytes_per_row) of rows (n, width)."""
        ...

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return new rows (n, width) of codes, in a dtype."""
        ...
