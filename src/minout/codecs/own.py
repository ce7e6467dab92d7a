"""A codec that the user wrote: called row by row, and what it returns is checked."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from minout import kernels
from minout._typing import Floats
from minout.codecs._checks import LARGEST, check_codes, check_rows, check_width
from minout.codecs.codec import Bytes, Codec
from minout.errors import InvalidInputError


class OwnCodec:
    """A user's codec, called with one row at a time and with BLAS limited to one thread.

    Matrix products round a row differently depending on the rest of the batch and on the number
    of threads. So the code of a row, and the row of a code, would not always be the same.
    """

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

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes of rows."""
        X = check_rows(rows, self.width)
        out = np.empty((len(X), self.bytes_per_row), dtype=np.uint8)
        with kernels.one_blas_thread():
            for i in range(len(X)):
                out[i] = self._checked(self.codec.encode(X[i : i + 1].copy()), "encode", out)
        return out

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        found = check_codes(codes, self.bytes_per_row)
        out: Floats = np.empty((len(found), self.width), dtype=dtype)
        largest = min(LARGEST, 1e15 if out.dtype == np.float32 else LARGEST)
        with kernels.one_blas_thread():
            for i in range(len(found)):
                row = self._checked(self.codec.decode(found[i : i + 1].copy()), "decode", out)
                if not (np.abs(row) <= largest).all():
                    raise InvalidInputError(
                        "The codec's `decode` returned a number that is not finite or beyond "
                        f"{largest:g}."
                    )
                out[i] = row
        return out

    def _checked(self, returned: Any, name: str, like: Any) -> Any:
        array = np.asarray(returned)
        kinds = "u" if name == "encode" else "f"
        wanted = "uint8" if name == "encode" else "float32 or float64"
        if (
            array.shape != (1, like.shape[1])
            or array.dtype.kind not in kinds
            or (name == "encode" and array.dtype != np.uint8)
        ):
            raise InvalidInputError(
                f"The codec's `{name}` returned an array of {array.dtype} with shape "
                f"{array.shape} for one row; make it return {wanted}, shape (1, {like.shape[1]})."
            )
        return array[0]


def _size(codec: Codec, name: str) -> int:
    size = getattr(codec, name)
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InvalidInputError(f"The codec's `{name}` is {size!r}; it is a whole number from 1.")
    return int(size)
