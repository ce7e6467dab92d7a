"""Codes in place of rows, for methods that take rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.codecs.codec import Bytes
from minout.errors import InvalidInputError


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
