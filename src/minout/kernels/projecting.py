"""The sparse random projection and the hashes of n-grams."""

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Words
from minout.kernels._compiled import compiled
from minout.maths.projection import (
    ENTRIES,
    GOLDEN,
    GRAM_START,
    PRIME,
    SPACE,
    WORD_START,
    NgramWeights,
    SparseRows,
)

Points = NDArray[np.uint32]
Singles = NDArray[np.float32]


@compiled
def project(rows: SparseRows, seed: int, out: Singles) -> None:
    """Set out (n, width) to the products of rows with the matrix of entries.

    Each sum, in float64, runs through the columns in ascending order.
    """
    sums = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        sums[:] = 0.0
        for k in range(rows.starts[i], rows.starts[i + 1]):
            _add_column(rows.columns[k], rows.values[k], seed, sums)
        for f in range(out.shape[1]):
            out[i, f] = np.float32(sums[f])


@compiled
def add_counts(hashes: Words, weights: NgramWeights, scale: float, seed: int, sums: Floats) -> None:
    """Add to sums (width,) the projection of sorted hashes (m,), counted, times a scale.

    The row has (1 + log(count)) times the weight of each hash, scaled to unit length; the logarithm
    is in float32 first, because its last bit depends on the machine. hashes are overwritten.
    """
    values = np.empty(hashes.shape[0])
    square = 0.0
    count, start = 0, 0
    for end in range(1, hashes.shape[0] + 1):
        if end == hashes.shape[0] or hashes[end] != hashes[start]:
            value = np.float64(np.float32(1.0 + log(end - start)))
            at = np.searchsorted(weights.hashes, hashes[start])
            if at < weights.hashes.shape[0] and weights.hashes[at] == hashes[start]:
                value *= weights.values[at]
            square += value * value
            hashes[count], values[count] = hashes[start], value
            count += 1
            start = end
    for k in range(count):
        _add_column(hashes[k], scale * (values[k] / sqrt(square)), seed, sums)


@compiled
def word_grams(points: Points, out: Words) -> int:
    """Write the hash of each word, and of each two in a row, to out; return how many there are.

    points have a space after each word; out has room for as many as there are points.
    """
    count, words = 0, 0
    word, before = WORD_START, WORD_START
    for i in range(points.shape[0]):
        if points[i] != SPACE:
            word = (word ^ np.uint64(points[i])) * PRIME
            continue
        out[count] = word
        count += 1
        if words:
            out[count] = ((before * GOLDEN) ^ word) * PRIME
            count += 1
        before, word = word, WORD_START
        words += 1
    return count


@compiled
def character_grams(points: Points, least: int, most: int, out: Words) -> int:
    """Write the hash of each run of characters within a word to out; return how many there are.

    out has room for `most - least + 1` times as many as there are points.
    """
    count = 0
    for start in range(points.shape[0]):
        state = GRAM_START
        for end in range(start, min(start + most, points.shape[0])):
            state = (state ^ np.uint64(points[end])) * PRIME
            if end - start + 1 >= least:
                out[count] = state
                count += 1
            if points[end] == SPACE and end > start:
                break
    return count


@compiled
def _add_column(column: np.uint64, value: float, seed: int, sums: Floats) -> None:
    state = _mixed(column ^ _mixed(np.uint64(seed) + GOLDEN))
    first = np.int64(0)
    for part in range(ENTRIES):
        drawn = _mixed(state)
        end = np.int64((part + 1) * sums.shape[0] // ENTRIES)
        share = (drawn >> np.uint64(32)) * np.uint64(end - first)
        place = first + np.int64(share >> np.uint64(32))
        sums[place] += value * (-0.5 if drawn & np.uint64(1) else 0.5)
        state += GOLDEN
        first = end


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
