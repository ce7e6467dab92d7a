"""The protocols of codecs: fixed functions from rows of numbers to a few bytes, and back."""

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats

Bytes = NDArray[np.uint8]


@runtime_checkable
class Codec(Protocol):
    """A fixed function from rows to codes, and another one back: what a codec of your own needs.

    Both are fixed before the first example. The code of a row must be the same each time, and so
    must be the row of a code, to the last bit. minout calls a codec of yours with one row at a
    time, with BLAS limited to one thread, perhaps from several threads at once.
    """

    @property
    def width(self) -> int | None:
        """The numbers in a row."""
        ...

    @property
    def bytes_per_row(self) -> int:
        """The bytes of a code."""
        ...

    @property
    def fingerprint(self) -> str:
        """A name that changes whenever codes or rows would."""
        ...

    def encode(self, rows: Any) -> Any:
        """Return the codes (n, bytes_per_row), uint8, of rows (n, width)."""
        ...

    def decode(self, codes: Any) -> Any:
        """Return finite rows (n, width) of codes (n, bytes_per_row)."""
        ...


class ExactCodec(Protocol):
    """A codec whose codes and rows do not depend on the other rows of a call.

    `width` is None if it takes rows of any width; `for_width` then returns one for rows of a width.
    """

    @property
    def width(self) -> int | None:
        """The numbers in a row; None for any."""
        ...

    @property
    def bytes_per_row(self) -> int:
        """The bytes of a code; 0 without a width."""
        ...

    @property
    def fingerprint(self) -> str:
        """The name, version and a hash of all settings that affect codes and rows."""
        ...

    def for_width(self, width: int) -> Self:
        """Return the codec for rows of a width; raise InvalidInputError if it has another."""
        ...

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes (n, bytes_per_row) of rows (n, width)."""
        ...

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return new rows (n, width) of codes, in a dtype."""
        ...
