"""Check the arguments of codecs, compute fingerprints, and pack numbers into bytes."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats
from minout.codecs.codec import Bytes
from minout.errors import InvalidInputError

LARGEST = 1e100
"""The largest absolute value of a number in a decoded row."""


def check_rows(rows: ArrayLike, width: int | None) -> Floats:
    """Return finite rows (n, width) as float64, without a copy if they are float64."""
    array = np.asarray(rows)
    if array.dtype.kind not in "fiub" or array.ndim != 2:
        raise InvalidInputError(
            f"A codec encodes rows of numbers, shape (rows, features), not {_described(array)}."
        )
    if width is not None and array.shape[1] != width:
        raise InvalidInputError(
            f"The codec is for rows of {width} numbers, but got {array.shape[1]}."
        )
    found: Floats = array.astype(np.float64, copy=False)
    if not np.isfinite(found).all():
        raise InvalidInputError("X holds NaN or infinity; fill or drop such values first.")
    return found


def check_codes(codes: ArrayLike, size: int) -> Bytes:
    """Return codes (n, size) of uint8, contiguous."""
    array = np.asarray(codes)
    if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != size:
        raise InvalidInputError(
            f"A codec decodes an array of uint8, shape (rows, {size}), not {_described(array)}."
        )
    return np.ascontiguousarray(array)


def check_width(own: int | None, width: int) -> None:
    """Raise InvalidInputError if a codec for another width is used for rows of this one."""
    if own is not None and own != width:
        raise InvalidInputError(
            f"The codec is for rows of {own} numbers, but the rows have {width}."
        )


def check_sample(sample: Any) -> Floats:
    """Return a sample of rows as float64: at least one row of finite numbers."""
    rows = check_rows(sample, None)
    if not rows.size:
        raise InvalidInputError("The sample holds no numbers; pass rows like those to be stored.")
    return rows


def check_own_width(width: Any) -> None:
    """Raise InvalidInputError unless a width is a whole number from 0 or None."""
    if width is not None and (type(width) is not int or width < 0):
        raise InvalidInputError(f"width is {width!r}; pass a whole number or None.")


def check_bits(bits: Any) -> int:
    """Return 8, 4 or 2 as an int."""
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer) or bits not in (8, 4, 2):
        raise InvalidInputError(f"bits is {bits!r}; pass 8, 4 or 2.")
    return int(bits)


def fingerprint(name: str, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Join a name, a version and 16 digits of a hash of settings and arrays."""
    hashed = hashlib.sha256(json.dumps([name, 1, settings], sort_keys=True).encode())
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        hashed.update(f"{key} {array.dtype.str} {array.shape}".encode())
        hashed.update(array.tobytes())
    return f"{name}-1-{hashed.hexdigest()[:16]}"


def packed(numbers: NDArray[Any], bits: int) -> Bytes:
    """Pack whole numbers (n, d) of so many bits into (n, bytes), the first in the lowest bits."""
    small = numbers.astype(np.uint8)
    if bits == 8:
        return small
    in_a_byte = 8 // bits
    n, d = small.shape
    padded = np.zeros((n, code_bytes(d, bits) * in_a_byte), dtype=np.uint8)
    padded[:, :d] = small
    shifts = np.arange(in_a_byte, dtype=np.uint8) * np.uint8(bits)
    parts = padded.reshape(n, padded.shape[1] // in_a_byte, in_a_byte) << shifts
    return np.asarray(np.bitwise_or.reduce(parts, axis=2))


def code_bytes(width: int | None, bits: int) -> int:
    """Return how many bytes a number of packed numbers takes."""
    return 0 if width is None else -(-width * bits // 8)


def _described(array: NDArray[Any]) -> str:
    return f"an array of {array.dtype} with shape {array.shape}"
