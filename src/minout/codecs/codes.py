"""Codes in place of rows, for methods that take rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.codecs.codec import Bytes
from minout.errors import InvalidInputError


class Codes:
    """Codes that stand for rows: every method of a learner that takes rows takes them, too.

    A learner with a codec reads a row as decode(encode(row)), and codes as decode(code). Codes of
    stored examples, from `Learner.code`, are so read exactly as they are stored. With a codec
    that gives a decoded row another code (an autoencoder), the decoded row is read differently.

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
