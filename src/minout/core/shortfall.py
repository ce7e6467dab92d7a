"""Find examples with a low margin in a far pair that has no support yet.

Their margins are differences of class scores. Matrix products of rows and discriminants, with a
bound on their rounding, exclude nearly all of them; the rest is computed in the kernels' order.
"""

from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.core.regions import pair_numbers
from minout.core.scores import ClassScores
from minout.core.table import Rows, RowTable, blocks, rows_at
from minout.maths import Geometry

WORST = 24  # at most so many examples join a pool at first
BLOCK = 1_024  # the number of rows that are multiplied at a time
ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
"""Tolerance for a product, relative to the lengths of the vectors.

Sums of products in float32 are off by at most their depth times 2⁻²⁴ of Σ|v_i x_i|: BLAS sums rows
in blocks less than 100 deep, which is 6e-6; vectors rounded to float32 add 2·6e-8.
"""
LARGEST = 1e18  # discriminants with larger weights are multiplied in double precision
Low = dict[int, tuple[Ints, Floats]]
"""For each pair of classes, by number: places with a low margin, and their signs."""


def low_around(
    scores: ClassScores, c: int, plain: Bools, geometry: Geometry, rows: Rows, bound: float
) -> Low:
    """Find low margins in the far pairs of region c without support: those with plain[o], (m,)."""
    table, origin, V, half = rows.table, geometry.origin, scores.V, scores.halves
    longest, exact = float(np.linalg.norm(V, axis=1).max()), np.dtype(np.float64)
    theirs = np.flatnonzero((rows.regions != c) & plain[rows.regions])
    ours, others = np.flatnonzero(rows.regions == c), np.flatnonzero(plain)
    scale = scores.scale[pair_numbers(c, others)]

    def look_at_theirs(start: int) -> tuple[Ints, Ints, Ints]:
        # Members of other classes against this one.
        some = theirs[start : start + BLOCK]
        own = rows.regions[some]
        X = table[rows.order[some]].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # then it is not known
            margins = np.einsum("ij,ij->i", X - origin, V[own] - V[c]) - (half[own] - half[c])
            margins -= _tolerance(_norms(X), longest, exact, origin)
            low = ~(scores.scale[pair_numbers(own, c)] * margins >= bound)
        return some[low], own[low], np.full(np.count_nonzero(low), c)

    def look_at_ours(start: int) -> tuple[Ints, Ints, Ints]:
        # Members of this class against the others.
        some = ours[start : start + BLOCK]
        X = table[rows.order[some]].astype(np.float64)
        G = (X - origin) @ V.T - half
        margins = (G[:, c] - _tolerance(_norms(X), longest, exact, origin))[:, None] - G[:, others]
        which, found = np.nonzero(~(scale * margins >= bound))
        return some[which], np.full(len(which), c), others[found]

    found = kernels.in_threads(look_at_theirs, range(0, len(theirs), BLOCK))
    found += [look_at_ours(start) for start in range(0, len(ours), BLOCK)]
    return _decided(scores, found, geometry, rows, bound)


def low_anywhere(
    scores: ClassScores, plain: Bools, geometry: Geometry, rows: Rows, bound: float
) -> Low:
    """Find low margins in far pairs without support: those with plain[pair], by pair number."""
    table, origin, V = rows.table, geometry.origin, scores.V
    turned = np.ascontiguousarray(V.T.astype(_precision(table, V)))
    offset = scores.halves + V @ origin
    longest, regions = float(np.linalg.norm(V, axis=1).max()), np.arange(len(V))

    def look(start: int) -> tuple[Ints, Ints, Ints]:
        places, own = rows.order[start : start + BLOCK], rows.regions[start : start + BLOCK]
        X = table[places].astype(turned.dtype, copy=False)
        is_other = regions != own[:, None]
        pairs = np.where(is_other, pair_numbers(own[:, None], regions), 0)
        with np.errstate(over="ignore", invalid="ignore"):
            G = X @ turned - offset
            tolerance = _tolerance(_norms(X), longest, turned.dtype, origin)
            margins = (G[np.arange(len(own)), own] - tolerance)[:, None] - G
            margins *= scores.scale[pairs]
        margins[~np.isfinite(G).all(axis=1)] = np.nan  # not known
        which, others = np.nonzero(~(margins >= bound) & plain[pairs] & is_other)
        return start + which, own[which], others

    found = kernels.in_threads(look, range(0, len(rows.order), BLOCK))
    return _decided(scores, found, geometry, rows, bound)


def _decided(
    scores: ClassScores,
    found: list[tuple[Ints, Ints, Ints]],
    geometry: Geometry,
    rows: Rows,
    bound: float,
) -> Low:
    # The candidates whose margin is below the bound, by pair; the worst of them if there are many.
    numbers, own, others = (np.concatenate(parts) for parts in zip(*found, strict=True))
    table, places, margins = rows.table, rows.order[numbers], np.empty(len(numbers))
    pairs = pair_numbers(own, others)
    V, half, by_pair = scores.V, scores.halves, scores.scale[pairs]

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
    order = np.lexsort((rows.digests[numbers[low]], margins[low], pairs[low]))
    found_pairs, starts = np.unique(pairs[low][order], return_index=True)
    ends = np.append(starts[1:], len(order))[: len(starts)]
    result: Low = {}
    ranges = zip(found_pairs.tolist(), starts.tolist(), ends.tolist(), strict=True)
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
