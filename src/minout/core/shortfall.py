"""Find examples with a low margin in a far pair that has no support yet.

Their margins are differences of class scores. Matrix products of rows and discriminants, with a
bound on their rounding, exclude nearly all of them; the rest is computed in the kernels' order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.core.check import WORST
from minout.core.far import ClassRow, FarPairs
from minout.core.table import Rows, RowTable, blocks, rows_at
from minout.maths import Geometry

BLOCK = 1_024  # the number of rows that are multiplied at a time
ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
"""Tolerance for a product, relative to the lengths of the vectors.

Sums of products in float32 are off by at most their depth times 2⁻²⁴ of Σ|v_i x_i|: BLAS sums rows
in blocks less than 100 deep, which is 6e-6; vectors rounded to float32 add 2·6e-8.
"""
LARGEST = 1e18  # discriminants with larger weights are multiplied in double precision
Low = dict[int, tuple[Ints, Floats]]
"""For each pair of classes, by number: places with a low margin, and their signs."""


def _with_row(far: FarPairs, row: ClassRow) -> tuple[Floats, Floats]:
    # V and half of all classes, with one replaced or added.
    m = max(far.count, row.c + 1)
    V, half = np.zeros((m, far.V.shape[1])), np.zeros(m)
    V[: far.count], half[: far.count] = far.V[: far.count], far.half[: far.count]
    V[row.c], half[row.c] = row.V, row.half
    return V, half


def low_around(
    far: FarPairs, row: ClassRow, plain: Bools, geometry: Geometry, rows: Rows, bound: float
) -> Low:
    """Find low margins in the pairs of one class, whose discriminant is new.

    plain (m,) tells the far pairs without support.
    """
    c, table, origin = row.c, rows.table, geometry.origin
    V, half = _with_row(far, row)
    longest, exact = float(np.linalg.norm(V, axis=1).max()), np.dtype(np.float64)
    theirs = np.flatnonzero((rows.regions != c) & plain[rows.regions])
    ours = np.flatnonzero(rows.regions == c)

    def look_at_theirs(start: int) -> tuple[Ints, Ints, Ints]:
        # Members of other classes against this one.
        some = theirs[start : start + BLOCK]
        own = rows.regions[some]
        X = table[rows.order[some]].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # then it is not known
            margins = np.einsum("ij,ij->i", X - origin, V[own] - row.V) - (half[own] - row.half)
            margins -= _tolerance(_norms(X), longest, exact, origin)
            low = ~(row.scale[own] * margins >= bound)
        return some[low], own[low], np.full(np.count_nonzero(low), c)

    def look_at_ours(start: int) -> tuple[Ints, Ints, Ints]:
        # Members of this class against the others.
        some = ours[start : start + BLOCK]
        X = table[rows.order[some]].astype(np.float64)
        G = (X - origin) @ V.T - half
        margins = (G[:, c] - _tolerance(_norms(X), longest, exact, origin))[:, None] - G
        which, others = np.nonzero(~(row.scale * margins >= bound) & plain)
        return some[which], np.full(len(which), c), others

    found = kernels.in_threads(look_at_theirs, range(0, len(theirs), BLOCK))
    found += [look_at_ours(start) for start in range(0, len(ours), BLOCK)]
    return _decided(V, half, row.scale, found, geometry, rows, bound, c)


def low_anywhere(far: FarPairs, plain: Bools, geometry: Geometry, rows: Rows, bound: float) -> Low:
    """Find low margins in all far pairs without support; plain (m, m) tells which these are."""
    m, table, origin = far.count, rows.table, geometry.origin
    V, half, scale = far.V[:m], far.half[:m], far.scale[:m, :m]
    turned = np.ascontiguousarray(V.T.astype(_precision(table, V)))
    offset = half + V @ origin
    longest = float(np.linalg.norm(V, axis=1).max())

    def look(start: int) -> tuple[Ints, Ints, Ints]:
        places, own = rows.order[start : start + BLOCK], rows.regions[start : start + BLOCK]
        X = table[places].astype(turned.dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            G = X @ turned - offset
            tolerance = _tolerance(_norms(X), longest, turned.dtype, origin)
            margins = (G[np.arange(len(own)), own] - tolerance)[:, None] - G
            margins *= scale[own]
        margins[~np.isfinite(G).all(axis=1)] = np.nan  # not known
        which, others = np.nonzero(~(margins >= bound) & plain[own])
        return start + which, own[which], others

    found = kernels.in_threads(look, range(0, len(rows.order), BLOCK))
    return _decided(V, half, scale, found, geometry, rows, bound)


def _decided(
    V: Floats,
    half: Floats,
    scale: NDArray[np.float32],
    found: list[tuple[Ints, Ints, Ints]],
    geometry: Geometry,
    rows: Rows,
    bound: float,
    c: int | None = None,
) -> Low:
    # The candidates whose margin is below the bound, by pair; the worst of them if there are many.
    numbers, own, others = (np.concatenate(parts) for parts in zip(*found, strict=True))
    table, places, margins = rows.table, rows.order[numbers], np.empty(len(numbers))
    by_pair = scale[own, others] if c is None else scale[np.where(own == c, others, own)]

    def decide(part: slice) -> None:
        for some in blocks(table, part.stop - part.start):
            few = slice(part.start + some.start, part.start + some.stop)
            kernels.discriminant_margins(
                V,
                half,
                by_pair[few],
                *rows_at(table, places[few]),
                own[few],
                others[few],
                geometry.origin,
                margins[few],
            )

    kernels.in_threads(decide, _parts(len(places)))
    low = np.flatnonzero(margins < bound)
    high_class, low_class = np.maximum(own, others)[low], np.minimum(own, others)[low]
    pairs = high_class * (high_class - 1) // 2 + low_class
    order = np.lexsort((rows.digests[numbers[low]], margins[low], pairs))
    pair_numbers, starts = np.unique(pairs[order], return_index=True)
    ends = np.append(starts[1:], len(order))[: len(starts)]
    result: Low = {}
    ranges = zip(pair_numbers.tolist(), starts.tolist(), ends.tolist(), strict=True)
    for number, start, end in ranges:
        worst = low[order[start : min(end, start + WORST)]]
        result[number] = places[worst], np.where(own[worst] < others[worst], 1.0, -1.0)
    return result


def _parts(n: int) -> list[slice]:
    size = max((n + 1) // 2, 2 * BLOCK)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _precision(table: RowTable, V: Floats) -> np.dtype[Any]:
    # That of the rows, unless discriminants would overflow in it.
    return table.dtype if np.abs(V).max(initial=0.0) < LARGEST else np.dtype(np.float64)


def _norms(X: Floats) -> Floats:
    # In double precision: squares of small numbers underflow in single precision.
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)))


def _tolerance(lengths: Floats, longest: float, dtype: np.dtype[Any], origin: Floats) -> Floats:
    # A bound on the rounding of a difference of two class scores, from the lengths of the rows.
    size = lengths + float(np.linalg.norm(origin))
    return np.asarray(2.0 * ROUNDING[dtype] * longest * size)
