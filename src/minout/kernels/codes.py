"""Decode rows of small whole numbers, several to a byte, and find the nearest centroids.

The bits of a row do not depend on the other rows of the call. In a byte the first number has the
lowest bits.
"""

import numpy as np

from minout._typing import Floats
from minout.kernels._compiled import compiled


@compiled
def decode_columns(
    codes: np.ndarray, bits: int, low: Floats, step: Floats, high: Floats, out: Floats
) -> None:
    """Set out[i, j] to low[j] + k·step[j], k the j-th number of row i; the largest k is high[j]."""
    d, last = out.shape[1], 2**bits - 1
    numbers, values = np.empty(d + 3, np.uint8), np.empty(d)
    for i in range(out.shape[0]):
        unpack(codes[i], bits, numbers)
        for j in range(d):
            values[j] = low[j] + numbers[j] * step[j]
        for j in range(d):
            out[i, j] = high[j] if numbers[j] == last else values[j]


@compiled
def decode_rows(
    codes: np.ndarray, bits: int, low: Floats, step: Floats, high: Floats, out: Floats
) -> None:
    """Do the same with a range of each row, in single precision; the largest k is high[i]."""
    d, last = out.shape[1], 2**bits - 1
    numbers, levels = np.empty(d + 3, np.uint8), np.empty(last + 1, np.float32)
    for i in range(out.shape[0]):
        for k in range(last):
            levels[k] = low[i] + k * step[i]
        levels[last] = high[i]
        unpack(codes[i], bits, numbers)
        for j in range(d):
            out[i, j] = levels[numbers[j]]


@compiled
def unpack(code: np.ndarray, bits: int, numbers: np.ndarray) -> None:
    """Set the numbers of a row from its bytes; there is room for all numbers of the last byte."""
    if bits == 8:
        for j in range(code.shape[0]):
            numbers[j] = code[j]
    elif bits == 4:
        for j in range(code.shape[0]):
            numbers[2 * j] = code[j] & 15
            numbers[2 * j + 1] = code[j] >> 4
    else:
        for j in range(code.shape[0]):
            numbers[4 * j] = code[j] & 3
            numbers[4 * j + 1] = (code[j] >> 2) & 3
            numbers[4 * j + 2] = (code[j] >> 4) & 3
            numbers[4 * j + 3] = code[j] >> 6


@compiled
def decode_levels(codes: np.ndarray, levels: Floats, scale: Floats, out: Floats) -> None:
    """Set out[i, j] = levels[codes[i, j]]·scale[i]."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = levels[codes[i, j]] * scale[i]


@compiled
def nearest_centroids(
    rows: Floats, centroids: Floats, factors: Floats, ends: np.ndarray, out: np.ndarray
) -> None:
    """Set out[i, s] to the centroid nearest to row i in the columns of part s: of equal, the first.

    Part s has the columns ends[s] … ends[s + 1] - 1. Columns are multiplied by their factors.
    """
    for i in range(rows.shape[0]):
        for s in range(out.shape[1]):
            best, found = np.inf, 0
            for c in range(centroids.shape[0]):
                total = 0.0
                for j in range(ends[s], ends[s + 1]):
                    apart = (rows[i, j] - centroids[c, j]) * factors[j]
                    total += apart * apart
                if total < best:
                    best, found = total, c
            out[i, s] = found


@compiled
def decode_centroids(codes: np.ndarray, centroids: Floats, ends: np.ndarray, out: Floats) -> None:
    """Set the columns of part s of out[i] to those of centroid codes[i, s]."""
    for i in range(out.shape[0]):
        for s in range(codes.shape[1]):
            c = codes[i, s]
            for j in range(ends[s], ends[s + 1]):
                out[i, j] = centroids[c, j]
