"""The numbers that define the sparse random projection, and the hashes of n-grams.

The kernels compute with them (`kernels/projecting.py`). Numbers of 64 bits are unsigned, and
products wrap around.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints, Words

ENTRIES = 4  # each column has one entry, 0.5 or -0.5, in each quarter of the outputs
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


class NgramWeights(NamedTuple):
    """Weights of n-grams: hashes (m,) in ascending order, values (m,); that of others is 1."""

    hashes: Words
    values: Floats
