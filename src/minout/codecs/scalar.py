"""Scalar quantisation: every number of a row becomes a whole number of 8, 4 or 2 bits."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from minout import kernels
from minout._typing import Floats
from minout.codecs._checks import (
    LARGEST,
    check_bits,
    check_codes,
    check_own_width,
    check_rows,
    check_sample,
    check_width,
    code_bytes,
    fingerprint,
    packed,
)
from minout.codecs.codec import Bytes
from minout.errors import InvalidInputError

FINEST = 2.0**-21
"""The least step, as a share of the larger bound: levels must be different in float32."""
SMALLEST = 2.0**-120
"""The least step in absolute terms, for the same reason."""


@dataclass(frozen=True, eq=False)
class ScalarCodec:
    """Equally spaced levels between two bounds, for all columns or for each column.

    The bounds do not depend on the data that is stored. Numbers beyond a bound are clipped to it.

    Parameters
    ----------
    bits : {8, 4, 2}
        The size of a number: 256, 16 or 4 levels.
    low, high : float or array-like of shape (d,)
        The least and the largest number, of all columns or of each. A column whose bounds are equal
        is constant.
    width : int, optional
        How many numbers a row has; by default that of the bounds, or of the first row taught.

    Examples
    --------
    >>> codec = ScalarCodec(4, low=0.0, high=15.0)
    >>> codes = codec.encode([[1.2, 3.0, 99.0]])
    >>> codes.tolist(), codec.for_width(3).decode(codes).tolist()
    ([[49, 15]], [[1.0, 3.0, 15.0]])
    """

    bits: int
    low: Any
    high: Any
    width: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", check_bits(self.bits))
        check_own_width(self.width)
        low, high = _bounds(self.low, "low"), _bounds(self.high, "high")
        try:
            low, high = (each.copy() for each in np.broadcast_arrays(low, high))
        except ValueError:
            raise InvalidInputError(
                f"low has {len(low)} numbers and high {len(high)}; pass one of each, or one of "
                "each for every column."
            ) from None
        step = (high - low) / (2**self.bits - 1)
        if not (step >= 0.0).all():
            raise InvalidInputError("low is above high; pass the lower bound as low.")
        finest = np.maximum(FINEST * np.maximum(np.abs(low), np.abs(high)), SMALLEST)
        if ((step > 0.0) & (step < finest)).any():
            raise InvalidInputError(
                "low and high are too close for their size: single precision does not tell the "
                "levels between them apart. Subtract a constant from the column first."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if len(low) > 1:
            check_width(self.width, len(low))
            object.__setattr__(self, "width", len(low))

    @classmethod
    def fit(cls, sample: ArrayLike, bits: int = 8) -> Self:
        """Return a codec whose bounds are the least and the largest number of each column.

        Parameters
        ----------
        sample : array-like of shape (n, d)
            Rows like those that will be stored, of all labels.
        bits : {8, 4, 2}, default=8
            The size of a number.

        Returns
        -------
        ScalarCodec
            A codec for rows of d numbers.
        """
        rows = check_sample(sample)
        return cls(bits, rows.min(axis=0), rows.max(axis=0), rows.shape[1])

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has; 0 without a width."""
        return code_bytes(self.width, self.bits)

    @property
    def fingerprint(self) -> str:
        """The name, version and a hash of bits and bounds."""
        return fingerprint("scalar", {"bits": self.bits}, {"low": self.low, "high": self.high})

    def for_width(self, width: int) -> Self:
        """Return the codec for rows of a width."""
        check_width(self.width, width)
        return replace(self, width=width)

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes of rows: the nearest levels."""
        X, last = check_rows(rows, self.width), 2**self.bits - 1
        return packed(levels(X, self.low, (self.high - self.low) / last, last), self.bits)

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        found = check_codes(codes, self.bytes_per_row)
        low, high = (np.broadcast_to(each, self.width or 0) for each in (self.low, self.high))
        step = (high - low) / (2**self.bits - 1)
        out: Floats = np.empty((len(found), self.width or 0), dtype=dtype)
        kernels.decode_columns(found, self.bits, low.copy(), step, high.copy(), out)
        return out


@dataclass(frozen=True)
class RowCodec:
    """Equally spaced levels between the least and the largest number of each row.

    It is not fitted to data, and is for rows whose columns have one unit: pixels, embeddings,
    features of one kind. The two bounds are stored with each row, in 8 bytes. Levels are in single
    precision.

    Parameters
    ----------
    bits : {8, 4, 2}
        The size of a number: 256, 16 or 4 levels.
    width : int, optional
        How many numbers a row has; by default that of the first row taught.

    Examples
    --------
    >>> codec = RowCodec(2).for_width(4)
    >>> codec.decode(codec.encode([[0.0, 1.2, 2.6, 3.0]])).tolist()
    [[0.0, 1.0, 3.0, 3.0]]
    """

    bits: int
    width: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", check_bits(self.bits))
        check_own_width(self.width)

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has; 0 without a width."""
        return 0 if self.width is None else 8 + code_bytes(self.width, self.bits)

    @property
    def fingerprint(self) -> str:
        """The name, version and a hash of the bits."""
        return fingerprint("row", {"bits": self.bits}, {})

    def for_width(self, width: int) -> Self:
        """Return the codec for rows of a width."""
        check_width(self.width, width)
        return replace(self, width=width)

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes of rows: both bounds in single precision, and the nearest levels."""
        X, last = check_rows(rows, self.width), 2**self.bits - 1
        ends = np.stack([X.min(axis=1, initial=np.inf), X.max(axis=1, initial=-np.inf)], axis=1)
        if not (np.abs(ends) <= np.finfo(np.float32).max).all():
            raise InvalidInputError("x holds a number too large for a code; scale it first.")
        bounds = ends.astype("<f4") + np.float32(0.0)  # not -0.0
        low, high = bounds.astype(np.float64).T[:, :, None]
        step = (high - low) / last
        # Of levels that are equal in single precision the first one counts, so that a decoded row
        # has the same code.
        values = (low + np.arange(last) * step).astype(np.float32)
        is_new = np.diff(np.hstack([values, bounds[:, 1:]]), prepend=np.nan, axis=1) != 0.0
        first = np.maximum.accumulate(np.where(is_new, np.arange(last + 1), 0), axis=1)
        numbers = np.take_along_axis(first, levels(X, low, step, last).astype(np.int64), axis=1)
        return np.hstack([bounds.view(np.uint8).reshape(len(X), 8), packed(numbers, self.bits)])

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes."""
        found = check_codes(codes, self.bytes_per_row)
        bounds = found[:, :8].copy().view("<f4").astype(np.float64)
        low, high = bounds[:, 0].copy(), bounds[:, 1].copy()
        out: Floats = np.empty((len(found), self.width or 0), dtype=dtype)
        with np.errstate(invalid="ignore"):  # the bounds of a damaged code may be anything
            step = (high - low) / (2**self.bits - 1)
        rest = np.ascontiguousarray(found[:, 8:])
        kernels.decode_rows(rest, self.bits, low, step, high, out)
        return out


def levels(X: Floats, low: Floats, step: Floats, last: int) -> Floats:
    """Return the numbers, from 0 to last, of the levels low + k·step that are nearest to X."""
    numbers = np.zeros(X.shape)
    with np.errstate(over="ignore"):
        np.divide(X - low, step, out=numbers, where=step > 0.0)
    return np.clip(np.rint(numbers), 0, last)


def _bounds(value: Any, name: str) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.ndim > 1 or not array.size:
        raise InvalidInputError(f"{name} is {value!r}; pass a number, or one for each column.")
    found: Floats = np.atleast_1d(array.astype(np.float64))
    if not (np.abs(found) <= LARGEST).all():
        raise InvalidInputError(f"{name} holds a number that is not finite or beyond {LARGEST:g}.")
    return found
