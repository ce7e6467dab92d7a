"""The codec of `memory="uint8"`: floating-point numbers of 8 bits, with one exponent by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Floats
from minout.codecs.codec import Bytes, check_width

SMALLEST = -100
"""The least exponent of a row: float32 holds all numbers from there on."""
_POSITIVE = np.array(
    [k * 2.0**-17 for k in range(8)]
    + [(1.0 + k / 8.0) * 2.0 ** (e - 15) for e in range(1, 16) for k in range(8)]
)
"""The numbers from 0 to 1.875: 0 and 7 below 2⁻¹⁴, then 8 in each octave."""
_LEVELS = np.concatenate([_POSITIVE, -_POSITIVE])
_LEVELS[128] = 0.0  # not -0.0
_MIDDLES = (_POSITIVE[1:] + _POSITIVE[:-1]) / 2.0


@dataclass(frozen=True)
class Uint8Codec:
    """8-bit floating-point numbers (sign, 4 bits of exponent, 3 of mantissa) times 2ᵉ, e by row.

    The relative error is at most 1/16, for numbers down to 2⁻¹⁴ of the largest one in their row;
    smaller ones have the same absolute error as these. No number is too large, and nothing is
    fitted, whatever the units of the columns. The exponent of a row takes 2 bytes.

    Parameters
    ----------
    width : int, optional
        How many numbers a row has; by default that of the first row taught.

    Examples
    --------
    >>> codec = Uint8Codec(width=4)
    >>> codec.decode(codec.encode([[1000.0, -1.03, 0.3, 0.0]])).tolist()
    [[1024.0, -1.0, 0.3125, 0.0]]
    """

    width: int | None = None

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has; 0 without a width."""
        return 0 if self.width is None else 2 + self.width

    @property
    def fingerprint(self) -> str:
        """The name of this codec as a setting."""
        return "uint8"

    def for_width(self, width: int) -> "Uint8Codec":
        """Return the codec for rows of a width."""
        if self.width is not None:
            check_width(self.width, width)
        return Uint8Codec(width)

    def encode(self, rows: Any) -> Bytes:
        """Return the codes of finite rows: the nearest numbers."""
        X: Floats = np.asarray(rows, dtype=np.float64)
        sizes = np.abs(X)
        share, exponent = np.frexp(sizes.max(axis=1, initial=0.0))
        # A largest number that is rounded up to a power of two has its exponent from the start,
        # so that a decoded row has the same code.
        exponent = np.maximum(exponent - (share <= 31.0 / 32.0), SMALLEST)
        exponent[share == 0.0] = SMALLEST  # as in a row whose numbers are rounded to 0
        numbers = np.searchsorted(_MIDDLES, np.ldexp(sizes, -exponent[:, None]))
        numbers = np.where((X < 0.0) & (numbers > 0), numbers + 128, numbers)
        header = exponent.astype("<i2")[:, None].view(np.uint8)
        return np.hstack([header, numbers.astype(np.uint8)])

    def decode(self, codes: Bytes, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        exponent = codes[:, :2].copy().view("<i2")[:, 0]
        with np.errstate(over="ignore"):  # the exponent of a damaged code may be anything
            scale = np.ldexp(np.ones(len(codes)), exponent)
        out: Floats = np.empty((len(codes), self.width or 0), dtype=dtype)
        kernels.decode_levels(np.ascontiguousarray(codes[:, 2:]), _LEVELS, scale, out)
        return out
