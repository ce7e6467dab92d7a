"""What a codec is, a codec that the user wrote, and codes in place of rows."""

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats
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

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has."""

    @property
    def fingerprint(self) -> str:
        """A name for the codec; another one if it would encode or decode differently."""

    def encode(self, rows: Any) -> Any:
        """Return the codes (n, bytes_per_row), uint8, of rows (n, width)."""

    def decode(self, codes: Any) -> Any:
        """Return finite rows (n, width) of codes (n, bytes_per_row)."""


class Codes:
    """Codes in place of rows: every method of a learner that takes rows takes them, too.

    A learner with a codec uses decode(encode(row)) for a row, and decode(code) for a code. So the
    code of a stored example, from `Learner.code`, is used exactly as it is stored. The decoded row
    is not, if the codec gives it another code, as an autoencoder does.

    Parameters
    ----------
    codes : array-like of uint8, shape (bytes,) or (n, bytes)
        One code, or several where a method takes several rows.
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


def check_width(own: int, width: int) -> None:
    """Raise InvalidInputError if a codec for one width is used for rows of another."""
    if own != width:
        raise InvalidInputError(f"The codec is for rows of {own} numbers, but got {width}.")


class OwnCodec:
    """A user's codec, called with one row and one BLAS thread: so a row is always rounded alike."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.width, self.bytes_per_row = _size(codec, "width"), _size(codec, "bytes_per_row")
        self.fingerprint = codec.fingerprint
        if not isinstance(self.fingerprint, str) or not self.fingerprint:
            raise InvalidInputError("The fingerprint of a codec is a string that is not empty.")

    def for_width(self, width: int) -> Self:
        """Return the codec; its rows must have this width."""
        check_width(self.width, width)
        return self

    def encode(self, rows: Any) -> Bytes:
        """Return the codes of finite rows."""
        X: Floats = np.asarray(rows, dtype=np.float64)
        out = np.empty((len(X), self.bytes_per_row), dtype=np.uint8)
        with kernels.one_blas_thread():
            for i in range(len(X)):
                code = np.asarray(self.codec.encode(X[i : i + 1].copy()))
                _require(code.dtype == np.uint8, "encode", code, "uint8", self.bytes_per_row)
                out[i] = code[0]
        return out

    def decode(self, codes: Bytes, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        out: Floats = np.empty((len(codes), self.width), dtype=dtype)
        largest = 1e15 if out.dtype == np.float32 else LARGEST
        with kernels.one_blas_thread():
            for i in range(len(codes)):
                row = np.asarray(self.codec.decode(codes[i : i + 1].copy()))
                _require(row.dtype.kind == "f", "decode", row, "float32 or float64", self.width)
                if not (np.abs(row) <= largest).all():
                    raise InvalidInputError(
                        "The codec's `decode` returned a number that is not finite or beyond "
                        f"{largest:g}."
                    )
                out[i] = row[0]
        return out


def _size(codec: Codec, name: str) -> int:
    size = getattr(codec, name)
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InvalidInputError(f"The codec's `{name}` is {size!r}; it is a whole number from 1.")
    return int(size)


def _require(is_right: bool, name: str, returned: NDArray[Any], wanted: str, size: int) -> None:
    if not is_right or returned.shape != (1, size):
        raise InvalidInputError(
            f"The codec's `{name}` returned an array of {returned.dtype} with shape "
            f"{returned.shape} for one row; make it return {wanted}, shape (1, {size})."
        )
