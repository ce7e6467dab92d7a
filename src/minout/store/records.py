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
    try:
        return _decoded(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRecord("arrays") from error


def _decoded(value: bytes) -> Arrays:
    end = LENGTH + int.from_bytes(value[:LENGTH], "little")
    if end > min(len(value), LENGTH + LONGEST_HEADER):
        raise DamagedRecord("length")
    found: Arrays = {}
    for name, dtype, shape in json.loads(value[LENGTH:end]):
        is_shape = type(shape) is list and 1 <= len(shape) <= MOST_AXES
        if not is_shape or not all(type(n) is int and n >= 0 for n in shape):
            raise DamagedRecord("shape")
        if type(name) is not str or name in found or dtype not in DTYPES:
            raise DamagedRecord("name")
        kind, count = np.dtype(dtype), math.prod(shape)
        start, end = end, end + count * kind.itemsize
        if end > len(value):
            raise DamagedRecord(name)
        flat = np.frombuffer(value, kind, count, start)
        if kind.kind == "b" and (flat.view(np.uint8) > 1).any():
            raise DamagedRecord(name)
        found[name] = flat.reshape(shape).copy()  # too many numbers without a byte: ValueError
    if end != len(value):
        raise DamagedRecord("length")
    return found
