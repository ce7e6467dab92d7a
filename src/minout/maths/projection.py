"""Rows for the sparse random projection; `native/projecting.hpp` has the numbers that define it."""

from typing import NamedTuple

from minout._typing import Floats, Ints, Words

ENTRIES = 4  # each column has one entry, 0.5 or -0.5, in each quarter of the outputs


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
