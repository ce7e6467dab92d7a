"""What a codec is: a fixed function from rows of numbers to a few bytes, and one back."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError

Bytes = NDArray[np.uint8]

LARGEST = 1e100
"""The largest absolute value of a number in a decoded row."""


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


class Codes:
    """Codes in place of rows: every method of a learner that takes rows takes them, too.

    A learner with a codec uses decode(encode(row)) for a row, and decode(code) for a code. So the
    code of a stored example, from `Learner.code`, is used exactly as it is stored. The decoded row
    is not, if the codec gives it another code, as an autoencoder does.

    Parameters
    ----------
    codes : array-like of uint8, shape (bytes,) or (n, bytes)
        One code, where a method takes one row, or several.
    """

    def __init__(self, codes: Any) -> None:
        array = np.array(codes)
        if array.dtype != np.uint8 or array.ndim not in (1, 2):
            raise InvalidInputError(
                "Codes are an array of uint8, shape (bytes,) or (rows, bytes), not an array of "
                f"{array.dtype} with shape {array.shape}."
            )
        self._codes: Bytes = array

    def __len__(self) -> int:
        return len(self._codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._codes, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Codes({self._codes!r})"


def check_width(own: int, width: int) -> None:
    """Raise InvalidInputError if a codec for one width is used for rows of another."""
    if own != width:
        raise InvalidInputError(f"The codec is for rows of {own} numbers, but got {width}.")
