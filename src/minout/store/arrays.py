"""Named arrays as the bytes of one record, without pickle.

The bytes are a header of JSON, its length in front, and the arrays one after the other. The header
lists name, dtype and shape of each.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.store.tables import DamagedRecord, expect

Arrays = dict[str, NDArray[Any]]

DTYPES = frozenset({"<f8", "<f4", "<i8", "<u8", "|i1", "|u1", "|b1"})
LENGTH = 8  # the number of bytes of the header's length
MOST_AXES = 4
LONGEST_HEADER = 10_000


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
    expect(end <= min(len(value), LENGTH + LONGEST_HEADER), "length")
    found: Arrays = {}
    for name, dtype, shape in json.loads(value[LENGTH:end]):
        is_shape = type(shape) is list and 1 <= len(shape) <= MOST_AXES
        expect(is_shape and all(type(n) is int and n >= 0 for n in shape), "shape")
        expect(type(name) is str and name not in found and dtype in DTYPES, "name")
        kind, count = np.dtype(dtype), math.prod(shape)
        start, end = end, end + count * kind.itemsize
        expect(end <= len(value), name)
        flat = np.frombuffer(value, kind, count, start)
        expect(kind.kind != "b" or bool((flat.view(np.uint8) <= 1).all()), name)
        found[name] = flat.reshape(shape).copy()  # too many numbers without a byte: ValueError
    expect(end == len(value), "length")
    return found
