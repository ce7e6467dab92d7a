"""The sparse random projection, and the n-grams of a text as numbers of columns.

Numbers of 64 bits are unsigned, and products wrap around.
"""

from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints, Words

ENTRIES = 4
"""Each column has one entry, 0.5 or -0.5, in each quarter of the outputs."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
WORD_START, GRAM_START = np.uint64(0xCBF29CE484222325), np.uint64(0x84222325CBF29CE4)
PRIME = np.uint64(0x100000001B3)
SPACE = 32


class SparseRows(NamedTuple):
    """Rows by their entries that are not 0: row i has those from starts[i] to starts[i + 1].

    values (m,), columns (m,) in ascending order within a row, starts (n + 1,).
    """

    values: Floats
    columns: Words
    starts: Ints


def mixed(words: Words) -> Words:
    """Return numbers of 64 bits that look random: the last steps of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def entries(columns: Words, seed: int, width: int) -> tuple[Ints, Floats]:
    """Return the outputs (m, 4) in which columns (m,) have entries, and the entries, ±0.5."""
    start = mixed(np.full(1, seed, dtype=np.uint64) + GOLDEN)
    steps = np.arange(ENTRIES, dtype=np.uint64) * GOLDEN
    drawn = mixed(mixed(columns ^ start)[:, None] + steps)
    first = np.arange(ENTRIES + 1, dtype=np.uint64) * np.uint64(width) // np.uint64(ENTRIES)
    places = first[:-1] + ((drawn >> np.uint64(32)) * np.diff(first) >> np.uint64(32))
    return places.astype(np.int64), 0.5 - (drawn & np.uint64(1)).astype(np.float64)


def projected(rows: SparseRows, seed: int, width: int) -> Floats:
    """Return the products (n, width) of rows with the matrix of all entries.

    Each sum runs through the columns in ascending order.
    """
    out = np.zeros((len(rows.starts) - 1, width))
    for i, (start, end) in enumerate(zip(rows.starts[:-1], rows.starts[1:], strict=True)):
        places, signs = entries(rows.columns[start:end], seed, width)
        np.add.at(out[i], places, signs * rows.values[start:end, None])
    return out


def word_grams(points: NDArray[np.uint32]) -> list[int]:
    """Return a hash of each word, and of each two words in a row.

    points are the characters of a text with a space after each word.
    """
    ends = [-1, *np.flatnonzero(points == SPACE)]
    hashes = [_hashed(points[a + 1 : b], WORD_START) for a, b in pairwise(ends)]
    words = np.array(hashes, dtype=np.uint64)
    pairs = ((words[:-1] * GOLDEN) ^ words[1:]) * PRIME
    return [*words.tolist(), *pairs.tolist()]


def character_grams(points: NDArray[np.uint32], least: int, most: int) -> list[int]:
    """Return a hash of each run of `least` to `most` characters within a word.

    points are the characters of a text with a space around each word; a run may begin and end
    with it.
    """
    found: list[int] = []
    for start in range(len(points)):
        for end in range(start + least, min(start + most, len(points)) + 1):
            if SPACE not in points[start + 1 : end - 1]:
                found.append(int(_hashed(points[start:end], GRAM_START)))
    return found


def unit_counts(hashes: list[int]) -> SparseRows:
    """Return 1 + log(count) of each hash, scaled to unit length, as one row."""
    columns, counts = np.unique(np.array(hashes, dtype=np.uint64), return_counts=True)
    # In float32 first: the last bit of a logarithm depends on the machine.
    logs = np.array([np.float32(1.0 + log(count)) for count in counts], dtype=np.float64)
    square = 0.0
    for each in logs:
        square += each * each
    starts = np.array([0, len(logs)], dtype=np.int64)
    return SparseRows(logs / np.sqrt(square) if len(logs) else logs, columns, starts)


def _hashed(points: NDArray[np.uint32], start: np.uint64) -> np.uint64:
    # FNV-1a, a character at a time.
    state = np.full(1, start)
    for point in points:
        state = (state ^ np.uint64(point)) * PRIME
    return np.uint64(state[0])
