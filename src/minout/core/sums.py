"""Sums over rows that depend on the set of rows only, not on their order.

The rows of a class are sorted by their digests. The first bits of a digest are the number of a leaf
of a binary tree, whose depth depends on the number of rows only. A leaf is summed in the order of
its rows, and the sum of a node is that of its two halves. So whoever has all rows with some first
bits can sum this part of the tree, and the bits of the total do not depend on how the rows were
divided.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike

from minout import kernels, maths
from minout._typing import Digests, Floats, Ints
from minout.core.table import Rows, RowTable

LEAF = 4_096  # a class of more rows has more than one leaf
BLOCK = 2_048  # so many rows are multiplied at a time
FEW = 256  # so many rows are added at a time; larger copies would stay in the heap


def tree(
    depth: int, leaf: Callable[[int], Floats | None], level: int = 0, number: int = 0
) -> Floats | None:
    """Return the sum of a node, by its level and number, over leaves; None stands for no rows.

    The nodes of a level can be the leaves of another tree, to sum parts in several places. What
    `leaf` returns is changed.
    """
    if level == depth:
        return leaf(number)
    low, high = (tree(depth, leaf, level + 1, 2 * number + bit) for bit in (0, 1))
    if low is not None and high is not None:
        low += high
    return high if low is None else low


def depth_of(count: int) -> int:
    """Return the depth of the tree for so many rows."""
    return (max(count - 1, 0) // LEAF).bit_length()


def leaves(digests: Digests, depth: int) -> Ints:
    """Return the number of each row's leaf: the first bits of its digest."""
    words = digests.view(">u8")[::2].astype(np.uint64)
    return ((words >> np.uint64(1)) >> np.uint64(63 - depth)).astype(np.int64)


def sorted_rows(rows: Rows) -> Rows:
    """Return rows in the order of their classes, of their digests in a class, of their weights."""
    return rows.picked(np.lexsort((rows.weights[rows.order], rows.digests, rows.regions)))


def branch(
    rows: Rows, total: Callable[[Ints], Floats], depth: int, level: int = 0, number: int = 0
) -> Floats | None:
    """Return the sum of a node over sorted rows; `total` sums those at some places, in order.

    Rows whose digests do not begin with the bits of the node may be missing.
    """
    places = _by_leaf(rows, depth)

    def leaf(number: int) -> Floats | None:
        return total(places[number]) if len(places[number]) else None

    return tree(depth, leaf, level, number)


def node_sum(
    leaf: Callable[[RowTable, Floats, Ints], Floats],
    table: RowTable,
    weights: Floats,
    places: list[Ints],
) -> Floats | None:
    """Return the sum of a node, given the places of the rows of each of its leaves."""

    def at(number: int) -> Floats | None:
        return leaf(table, weights, places[number]) if len(places[number]) else None

    return tree((len(places) - 1).bit_length(), at)


def class_sums(rows: Rows, shift: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield each class and (Σω, Σωz, Σωz²) over its rows, z = x - shift, concatenated."""
    rows = sorted_rows(rows)
    classes, sizes = np.unique(rows.regions, return_counts=True)
    totals = _totals(rows, sizes, partial(leaf_sum, shift=shift))
    return zip(classes.tolist(), totals, strict=True)


def scatter_of(rows: Rows, shift: Floats, precision: DTypeLike) -> Floats:
    """Return Σωzz' over the rows, z = x - shift, from products in some precision."""
    rows = sorted_rows(rows)
    sizes = runs(np.unique(rows.regions, return_counts=True)[1])
    found: Floats = np.zeros((len(shift),) * 2)
    for each in _totals(rows, sizes, partial(leaf_scatter, shift=shift, precision=precision)):
        found += each
    return maths.mirrored(found)


def runs(sizes: Ints) -> Ints:
    """Return how many rows consecutive classes have that fit into a leaf together."""
    found: list[int] = []
    for size in sizes.tolist():
        if found and found[-1] + size <= LEAF:
            found[-1] += size
        else:
            found.append(size)
    return np.array(found, dtype=np.int64)


def leaf_sum(table: RowTable, weights: Floats, places: Ints, shift: Floats) -> Floats:
    """Return (Σω, Σωz, Σωz²) over the rows at some places, in their order, concatenated."""
    d = len(shift)
    found: Floats = np.zeros(2 * d + 1)
    for start in range(0, len(places), FEW):
        few = places[start : start + FEW]
        Z, terms = table[few] - shift, np.empty((len(few), 2 * d + 1))
        terms[:, 0] = weights[few]
        np.multiply(Z, terms[:, :1], out=terms[:, 1 : d + 1])
        np.multiply(Z, terms[:, 1 : d + 1], out=terms[:, d + 1 :])
        found += terms.sum(axis=0)
    return found


def leaf_scatter(
    table: RowTable, weights: Floats, places: Ints, shift: Floats, precision: DTypeLike
) -> Floats:
    """Return Σωzz' over the rows at some places, in their order; only the upper half is of use.

    It is a sum of products of blocks of equal size.
    """
    found: Floats = np.zeros((len(shift),) * 2)
    for start in range(0, len(places), BLOCK):
        few = places[start : start + BLOCK]
        Z = table[few].astype(precision, copy=False)
        Z -= shift.astype(precision)
        Z *= np.sqrt(weights[few])[:, None].astype(precision)
        found += kernels.product(Z.T, Z, upper=True)
    return found


def _by_leaf(rows: Rows, depth: int) -> list[Ints]:
    # The places of the rows of each leaf.
    borders = np.searchsorted(leaves(rows.digests, depth), np.arange(2**depth + 1)).tolist()
    return [rows.order[start:end] for start, end in pairwise(borders)]


def _totals(
    rows: Rows, sizes: Ints, leaf: Callable[[RowTable, Floats, Ints], Floats]
) -> Iterator[Floats]:
    # The sums over consecutive parts of sorted rows; the nodes of a level may be summed elsewhere.
    ends, work, nodes, levels = [0, *np.cumsum(sizes).tolist()], rows.work, [], []
    wanted = (work.parts // max(len(sizes), 1)).bit_length() if work.parts > 1 else 0
    for start, end in pairwise(ends):
        depth = depth_of(end - start)
        places = _by_leaf(rows.picked(np.arange(start, end)), depth)
        levels.append(min(depth, wanted))
        size = len(places) >> levels[-1]
        nodes += [places[first : first + size] for first in range(0, len(places), size)]
    sums = work.each(partial(node_sum, leaf), (rows.table, rows.weights), nodes, "leaves")
    for level in levels:
        found = tree(level, lambda _: next(sums))
        assert found is not None
        yield found
