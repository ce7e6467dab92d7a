"""A codec that the user wrote: called row by row, and what it returns is checked."""

from typing import Any, Self

import numpy as np

from minout import kernels
from minout._typing import Floats
from minout.codecs.codec import LARGEST, Bytes, Codec, check_width
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

    def encode(self, rows: Any) -> Bytes:
        """Return the codes of finite rows."""
        X: Floats = np.asarray(rows, dtype=np.float64)
        out = np.empty((len(X), self.bytes_per_row), dtype=np.uint8)
        with kernels.one_blas_thread():
            for i in range(len(X)):
                code = np.asarray(self.codec.encode(X[i : i + 1].copy()))
                if code.dtype != np.uint8 or code.shape != (1, self.bytes_per_row):
                    raise _refusal("encode", code, "uint8", self.bytes_per_row)
                out[i] = code[0]
        return out

    def decode(self, codes: Bytes, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        out: Floats = np.empty((len(codes), self.width), dtype=dtype)
        largest = 1e15 if out.dtype == np.float32 else LARGEST
        with kernels.one_blas_thread():
            for i in range(len(codes)):
                row = np.asarray(self.codec.decode(codes[i : i + 1].copy()))
                if row.dtype.kind != "f" or row.shape != (1, self.width):
                    raise _refusal("decode", row, "float32 or float64", self.width)
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


def _refusal(name: str, returned: Any, wanted: str, size: int) -> InvalidInputError:
    return InvalidInputError(
        f"The codec's `{name}` returned an array of {returned.dtype} with shape {returned.shape} "
        f"for one row; make it return {wanted}, shape (1, {size})."
    )
