"""Scalar quantisation: every number of a row becomes a whole number of 8, 4 or 2 bits."""

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from minout import kernels
from minout._typing import Floats
from minout.codecs.codec import LARGEST, Bytes, check_width
from minout.errors import InvalidInputError

FINEST = 2.0**-21
"""The least step, as a share of the larger bound: levels must be different in float32."""
SMALLEST = 2.0**-120
"""The least step in absolute terms, for the same reason."""
_ROWS = "rows of numbers, shape (rows, features)"


@dataclass(frozen=True, eq=False)
class ScalarCodec:
    """Equally spaced levels between two bounds of each column.

    The bounds are fixed before the first example: see `fit`. Numbers beyond a bound are clipped to
    it.

    Parameters
    ----------
    bits : {8, 4, 2}
        The size of a number: 256, 16 or 4 levels.
    low, high : array-like of shape (d,)
        The least and the largest number of each column. A column whose bounds are equal is
        constant.

    Examples
    --------
    >>> codec = ScalarCodec(4, low=[0.0, 0.0, 0.0], high=[15.0, 15.0, 15.0])
    >>> codes = codec.encode([[1.2, 3.0, 99.0]])
    >>> codes.tolist(), codec.decode(codes).tolist()
    ([[49, 15]], [[1.0, 3.0, 15.0]])
    """

    bits: int
    low: Any
    high: Any

    def __post_init__(self) -> None:
        if self.bits not in (8, 4, 2):
            raise InvalidInputError(f"bits is {self.bits!r}; pass 8, 4 or 2.")
        expected = "one number for each column"
        low, high = (_numbers(getattr(self, name), 1, name, expected) for name in ("low", "high"))
        if not len(low) == len(high) > 0:
            raise InvalidInputError(
                f"low has {len(low)} numbers, but high has {len(high)}; pass {expected}."
            )
        for name, value in (("bits", int(self.bits)), ("low", low.copy()), ("high", high.copy())):
            object.__setattr__(self, name, value)
        if not (self._step >= 0.0).all():
            raise InvalidInputError("low is above high; pass the lower bound as low.")
        finest = np.maximum(FINEST * np.maximum(np.abs(low), np.abs(high)), SMALLEST)
        if ((self._step > 0.0) & (self._step < finest)).any():
            raise InvalidInputError(
                "low and high are too close for their size: single precision does not tell the "
                "levels between them apart. Subtract a constant from the column first."
            )

    @classmethod
    def fit(cls, sample: ArrayLike, bits: int = 8) -> Self:
        """Return a codec whose bounds are the least and the largest number of each column.

        Parameters
        ----------
        sample : array-like of shape (n, d)
            Rows like those that will be stored, of all labels.
        bits : {8, 4, 2}, default=8

        Returns
        -------
        ScalarCodec
        """
        rows = _numbers(sample, 2, "The sample", _ROWS)
        if not rows.size:
            raise InvalidInputError("The sample is empty; pass rows like those to be stored.")
        return cls(bits, rows.min(axis=0), rows.max(axis=0))

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return len(self.low)

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has."""
        return -(-self.width * self.bits // 8)

    @property
    def fingerprint(self) -> str:
        """The bits, and a hash of the bounds."""
        bounds = hashlib.sha256(self.low.tobytes() + self.high.tobytes())
        return f"scalar-{self.bits}-{bounds.hexdigest()[:16]}"

    def for_width(self, width: int) -> Self:
        """Return the codec; its rows must have this width."""
        check_width(self.width, width)
        return self

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes of rows: the nearest levels, the first in the lowest bits of a byte."""
        X, last = _numbers(rows, 2, "X", _ROWS), 2**self.bits - 1
        check_width(self.width, X.shape[1])
        numbers, step = np.zeros((len(X), self.bytes_per_row * 8 // self.bits)), self._step
        with np.errstate(over="ignore"):
            np.divide(X - self.low, step, out=numbers[:, : self.width], where=step > 0.0)
        levels = np.clip(np.rint(numbers), 0, last).astype(np.uint8)
        codes = np.zeros((len(X), self.bytes_per_row), dtype=np.uint8)
        for first, shift in enumerate(range(0, 8, self.bits)):
            codes |= levels[:, first :: 8 // self.bits] << shift
        return codes

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        found: Bytes = np.ascontiguousarray(codes)
        if found.dtype != np.uint8 or found.ndim != 2 or found.shape[1] != self.bytes_per_row:
            raise InvalidInputError(
                f"Codes are an array of uint8, shape (rows, {self.bytes_per_row}), not an array of "
                f"{found.dtype} with shape {found.shape}."
            )
        out: Floats = np.empty((len(found), self.width), dtype=dtype)
        last = 2**self.bits - 1
        levels = np.stack([found >> shift & last for shift in range(0, 8, self.bits)], axis=2)
        levels = levels.reshape(len(found), self.bytes_per_row * 8 // self.bits)
        kernels.decode_columns(levels, last, self.low, self._step, self.high, out)
        return out

    @property
    def _step(self) -> Floats:
        step: Floats = (self.high - self.low) / (2**self.bits - 1)
        return step


def _numbers(values: Any, axes: int, name: str, expected: str) -> Floats:
    """Return finite numbers as float64; without a copy, if they are."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.ndim != axes:
        raise InvalidInputError(
            f"{name} must be {expected}, not an array of {array.dtype} with shape {array.shape}."
        )
    found: Floats = array.astype(np.float64, copy=False)
    if not (np.abs(found) <= LARGEST).all():
        raise InvalidInputError(
            f"{name} holds NaN, infinity or a number beyond {LARGEST:g}; fill or drop it first."
        )
    return found
