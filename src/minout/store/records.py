"""A record: named arrays as bytes, without pickle.

The bytes are a header of JSON, its length in front, and the arrays one after the other. The header
lists name, dtype and shape of each.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

DTYPES = frozenset({"<f8", "<f4", "<i8", "<u8", "|i1", "|u1", "|b1"})
LENGTH = 8
"""The number of bytes of the header's length."""
MOST_AXES = 4
MOST_BYTES = 2**48
LONGEST_HEADER = 10_000


class DamagedRecord(ValueError):  # noqa: N818, it is never shown to a user
    """Bytes that `encode_arrays` did not write."""


def encode_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays as bytes."""
    parts = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = [[name, array.dtype.str, list(array.shape)] for name, array in parts.items()]
    text = json.dumps(header).encode()
    bodies = [array.tobytes() for array in parts.values()]
    return b"".join([len(text).to_bytes(LENGTH, "little"), text, *bodies])


def decode_arrays(value: bytes) -> Arrays:
    """Return the arrays of a record, as copies; raise DamagedRecord if the bytes are malformed.

    Sizes are compared with the number of bytes before any memory is taken.
    """
    end = LENGTH + int.from_bytes(value[:LENGTH], "little")
    if len(value) < LENGTH or not LENGTH <= end <= min(len(value), LENGTH + LONGEST_HEADER):
        raise DamagedRecord("length")
    try:
        header = json.loads(value[LENGTH:end])
    except (ValueError, RecursionError):
        raise DamagedRecord("header") from None
    found: Arrays = {}
    if not isinstance(header, list):
        raise DamagedRecord("header")
    for entry in header:
        name, dtype, shape = _checked(entry)
        start, end = end, end + math.prod(shape) * dtype.itemsize
        if name in found or end > len(value):
            raise DamagedRecord(name)
        flat = np.frombuffer(value, dtype, math.prod(shape), start)
        if dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
            raise DamagedRecord(name)
        found[name] = flat.reshape(shape).copy()
    if end != len(value):
        raise DamagedRecord("length")
    return found


def _checked(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...]]:
    # Name, dtype and shape of one array.
    if not isinstance(entry, list) or len(entry) != 3:
        raise DamagedRecord("header")
    name, dtype, shape = entry
    if not isinstance(name, str) or not isinstance(dtype, str) or dtype not in DTYPES:
        raise DamagedRecord("header")
    if not isinstance(shape, list) or not 1 <= len(shape) <= MOST_AXES:
        raise DamagedRecord("header")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise DamagedRecord("header")
    if math.prod(max(n, 1) for n in shape) > MOST_BYTES:  # NumPy multiplies the others, too
        raise DamagedRecord("header")
    return name, np.dtype(dtype), tuple(shape)
