"""Rows of any kind: inner products, digests, and rows from small whole numbers.

What is computed of a row does not depend on the other rows, to the last bit.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Digests, Floats, Ints, Words
from minout.kernels._compiled import compiled


@compiled
def products(rows: Floats, x: Floats, out: Floats) -> None:
    """Set out[i] = rows[i]·x for every i below len(out); rows (≥ n, d), x (d,), out (n,).

    Each sum runs through the features in ascending order, so a row's product does not depend on
    the rows around it. Features that are 0 in x are skipped, which changes no sum; four sums run
    side by side, because one alone waits for its own last addition.
    """
    features = np.flatnonzero(x)
    values = x[features]
    n = out.shape[0]
    fours = n - n % 4
    for i in range(0, fours, 4):
        s0 = s1 = s2 = s3 = 0.0
        for f in range(features.shape[0]):
            feature, value = features[f], values[f]
            s0 += rows[i, feature] * value
            s1 += rows[i + 1, feature] * value
            s2 += rows[i + 2, feature] * value
            s3 += rows[i + 3, feature] * value
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(fours, n):
        s0 = 0.0
        for f in range(features.shape[0]):
            s0 += rows[i, features[f]] * values[f]
        out[i] = s0


@compiled
def add_multiples(into: Floats, places: Ints, rows: Floats, picked: Ints, amounts: Floats) -> None:
    """Add amounts[i]·rows[picked[i]] to into[places[i]], one i after the other."""
    for i in range(places.shape[0]):
        target, row, amount = into[places[i]], rows[picked[i]], amounts[i]
        for f in range(row.shape[0]):
            target[f] += amount * row[f]


def digests(rows: NDArray[Any]) -> Digests:
    """Return a digest of each row (n, d), 128 bits, of its values as float64.

    Values that are 0 are skipped, so that more columns of zeros change no digest; -0 is 0. Missing
    values are all alike, and not 0. The digests of codes are those of their bytes as numbers.
    """
    out = np.empty((len(rows), 2), dtype=np.uint64)
    add_up(rows, out)
    return out.view("S16")[:, 0]


@compiled
def add_up(rows: NDArray[Any], out: Words) -> None:
    """Set out (n, 2) to two sums over the values of each row, mixed with their positions."""
    n, d = rows.shape
    values = np.empty(d)
    bits = values.view(np.uint64)
    for i in range(n):
        for j in range(d):
            values[j] = rows[i, j]
        first, second = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
        for j in range(d):
            value = bits[j] if values[j] == values[j] else np.uint64(0x7FF8000000000000)
            place = np.uint64(j + 1) * np.uint64(0x9E3779B97F4A7C15)
            is_used = np.uint64(values[j] != 0.0)
            a = (value ^ place) * np.uint64(0xBF58476D1CE4E5B9)
            a = (a ^ (a >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
            b = (value + (place >> np.uint64(1))) * np.uint64(0xD6E8FEB86659FD93)
            b = (b ^ (b >> np.uint64(29))) * np.uint64(0xC2B2AE3D27D4EB4F)
            first += (a ^ (a >> np.uint64(29))) * is_used
            second += (b ^ (b >> np.uint64(32))) * is_used
        out[i, 0], out[i, 1] = first, second


@compiled
def decode_columns(
    numbers: np.ndarray, last: int, low: Floats, step: Floats, high: Floats, out: Floats
) -> None:
    """Set out[i, j] to low[j] + k·step[j], k = numbers[i, j]; to high[j] if k is the last."""
    d = out.shape[1]
    values = np.empty(d)
    for i in range(out.shape[0]):
        for j in range(d):
            values[j] = low[j] + numbers[i, j] * step[j]
        for j in range(d):
            out[i, j] = high[j] if numbers[i, j] == last else values[j]


@compiled
def decode_levels(codes: np.ndarray, levels: Floats, scale: Floats, out: Floats) -> None:
    """Set out[i, j] = levels[codes[i, j]]·scale[i]."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = levels[codes[i, j]] * scale[i]
