"""Floating-point numbers of 8 bits, with one exponent for each row."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from minout import kernels
from minout._typing import Floats
from minout.codecs._checks import (
    check_codes,
    check_own_width,
    check_rows,
    check_width,
    fingerprint,
)
from minout.codecs.codec import Bytes

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
class FloatCodec:
    """8-bit floating-point numbers (sign, 4 bits of exponent, 3 of mantissa) times 2ᵉ, e by row.

    The relative error is at most 1/16, for numbers down to 2⁻¹⁴ of the largest one in their row;
    smaller ones have the same absolute error as these. No number is too large, and no bounds are
    needed, whatever the units of the columns. For a column that varies by less than a sixteenth of
    its size, such as a year, use a `ScalarCodec`. The exponent of a row takes 2 bytes.

    Parameters
    ----------
    width : int, optional
        How many numbers a row has; by default that of the first row taught.

    Examples
    --------
    >>> codec = FloatCodec(width=4)
    >>> codec.decode(codec.encode([[1000.0, -1.03, 0.3, 0.0]])).tolist()
    [[1024.0, -1.0, 0.3125, 0.0]]
    """

    width: int | None = None

    def __post_init__(self) -> None:
        check_own_width(self.width)

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has; 0 without a width."""
        return 0 if self.width is None else 2 + self.width

    @property
    def fingerprint(self) -> str:
        """The name and version."""
        return fingerprint("float", {"exponent": 4, "mantissa": 3}, {})

    def for_width(self, width: int) -> Self:
        """Return the codec for rows of a width."""
        check_width(self.width, width)
        return replace(self, width=width)

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes of rows: the nearest numbers."""
        X = check_rows(rows, self.width)
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

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        found = check_codes(codes, self.bytes_per_row)
        exponent = found[:, :2].copy().view("<i2")[:, 0]
        with np.errstate(over="ignore"):  # the exponent of a damaged code may be anything
            scale = np.ldexp(np.ones(len(found)), exponent)
        out: Floats = np.empty((len(found), self.width or 0), dtype=dtype)
        kernels.decode_levels(np.ascontiguousarray(found[:, 2:]), _LEVELS, scale, out)
        return out
