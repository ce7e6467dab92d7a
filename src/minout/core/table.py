"""Stored rows by place: an array of numbers, or codes that are decoded where rows are needed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from minout import kernels, maths
from minout._typing import Digests, Floats, Ints
from minout.codecs import Bytes, ExactCodec
from minout.core.work import HERE, Work
from minout.maths import Expansion

BLOCK = 2**18  # at most so many numbers are decoded at a time, or one row
COLUMNS = 2**24  # at most so many decoded numbers of some columns are held at a time, or one column


class CodedRows:
    """Rows that are stored as codes; indexing decodes and expands them, into a new array."""

    __slots__ = ("_codec", "_codes", "_expansion", "dtype", "shape")

    def __init__(self, codes: Bytes, codec: ExactCodec, dtype: Any, expansion: Expansion) -> None:
        self._codes, self._codec, self._expansion = codes, codec, expansion
        self.dtype = np.dtype(dtype)
        self.shape = len(codes), (codec.width or 0) + expansion.columns

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def nbytes(self) -> int:
        """The bytes of the codes."""
        return int(self._codes.nbytes)

    @property
    def key(self) -> tuple[Any, ...]:
        """What only the same rows have, as long as one of them is held."""
        where = self._codes.__array_interface__["data"][0], self._codes.shape
        return *where, id(self._codec), id(self._expansion), self.dtype.str

    def first(self, end: int) -> "CodedRows":
        """Return the rows at the first places, as codes."""
        return CodedRows(self._codes[:end], self._codec, self.dtype, self._expansion)

    def __getitem__(self, which: Any) -> Floats:
        if isinstance(which, int | np.integer):
            return np.asarray(self[which : which + 1][0])
        rows = self._codec.decode(self._codes[which], self.dtype)
        return maths.expanded(self._expansion, rows)


RowTable = Floats | CodedRows
"""Rows by place, as separators see them. Both kinds are indexed by places, for copies of rows."""


class Distinct(NamedTuple):
    """One of each set of equal examples, in the order of digests and labels.

    `first` (m,) is the number of one of them, `weights` (m,) the sum of their weights.
    """

    first: Ints
    weights: Floats


class Rows(NamedTuple):
    """Stored rows in some order: the table, the places to take, their regions and digests.

    `weights` and `serials` are those of all rows of the table, by place; `work` does sums.
    """

    table: RowTable
    weights: Floats
    order: Ints
    regions: Ints
    digests: Digests
    serials: Ints
    work: Work = HERE

    def since(self, serial: int) -> "Rows":
        """Return the rows with serial numbers from this on."""
        return self.picked(np.flatnonzero(self.serials[self.order] >= serial))

    def picked(self, which: Ints) -> "Rows":
        """Return some of the rows, by their numbers in this order."""
        order, regions, digests = self.order[which], self.regions[which], self.digests[which]
        return self._replace(order=order, regions=regions, digests=digests)

    def distinct(self, owner: Ints) -> Distinct:
        """Return the different rows of each label, owner[c] being the label of region c."""
        return distinct(self.digests, owner[self.regions], self.weights[self.order])


def distinct(digests: Digests, labels: Ints, weights: Floats) -> Distinct:
    """Return one of the examples with each digest and label.

    The sums do not depend on the order of the examples.
    """
    order = np.lexsort((weights, labels, digests))
    digest, label = digests[order], labels[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (digest[1:] != digest[:-1]) | (label[1:] != label[:-1])
    starts = np.flatnonzero(is_first)
    if len(starts) == len(order):
        return Distinct(order, weights[order])
    return Distinct(order[starts], np.add.reduceat(weights[order], starts))


def first_rows(table: RowTable, end: int) -> RowTable:
    """Return the rows at the first places; nothing is copied or decoded."""
    return table[:end] if isinstance(table, np.ndarray) else table.first(end)


def rows_at(table: RowTable, places: Ints) -> tuple[Floats, Ints]:
    """Return an array with the rows at some places, and the index of each in it.

    It is the table itself if that is an array; otherwise each row is decoded once.
    """
    if isinstance(table, np.ndarray):
        return table, places
    different, index = np.unique(places, return_inverse=True)
    return table[different], index


def blocks(table: RowTable, count: int) -> Iterator[slice]:
    """Divide so many rows into blocks to decode at a time: one for all rows of an array."""
    size = count if isinstance(table, np.ndarray) else BLOCK // max(table.shape[1], 1)
    size = max(size, 1)
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def columns(table: RowTable, places: Ints) -> Iterator[tuple[int, Floats]]:
    """Divide the columns of some rows: the number of the first, and the values (rows, columns).

    All columns of an array; otherwise as many as are decoded at a time.
    """
    if isinstance(table, np.ndarray):
        yield 0, table[places]
        return
    size = max(COLUMNS // max(len(places), 1), 1)
    for start in range(0, table.shape[1], size):
        parts = [
            table[places[part]][:, start : start + size] for part in blocks(table, len(places))
        ]
        yield start, np.concatenate(parts)


def activations(
    w: Floats, b: float, table: RowTable, places: Ints, origin: Floats, out: Floats
) -> None:
    """Set out[i] = w·(x - origin) + b for the rows x at some places, in the kernel's order."""
    for part in blocks(table, len(places)):
        kernels.activations(w, b, *rows_at(table, places[part]), origin, out[part])
