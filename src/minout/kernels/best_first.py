"""The label with the highest score, without computing every separator: best first, and exact.

A region's score is the least of its margins, and a margin against another region is minus that
region's margin against it. So each separator that is computed is an upper bound on the scores of
both its regions. A region whose separators have all been computed wins as soon as no other region
has a higher bound, and its label as soon as its score is positive: then every region of another
label has a negative one. Regions of one label have no separator between them.

Rows that are first compared with the same region are multiplied by its separators together, by BLAS
in float32. With an allowance for rounding this bounds scores, too. What it does not decide is
computed in the fixed order of `margins`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled, compiled_in_any_order
from minout.kernels.margins import LANES, Slots, dot, four_dots, subtract

Singles = NDArray[np.float32]

WORTH_A_PRODUCT = 2
"""From so many rows on, BLAS compares them with their first region."""
AT_A_TIME = 256
"""So many separators at a time are converted to float32."""
LARGEST = 1e30
"""Vectors up to this length, and their products, do not overflow in float32."""
SMALLEST = 1e-25
"""Added to lengths, for numbers that underflow in float32 …"""
LEAST = 1e-30
"""… and to the rounding error, for products that do."""


class Order(NamedTuple):
    """The label of each region, and the rank of each: of equal scores, the lowest rank wins."""

    rank: Ints
    owner: Ints


class _Group(NamedTuple):
    """Some rows with the same first region, in float32, and its separators.

    The margin of row j against region o is about margins[j, o] + offsets[o]. `lengths` are ‖z‖, and
    `sizes` the largest ‖w‖‖z‖ + |b|; rounding errors are a small multiple of it.
    """

    Z: Singles
    weights: Singles
    margins: Singles
    offsets: Floats
    lengths: Floats
    sizes: Floats


class _Row(NamedTuple):
    """One row z = x - origin, with upper bounds of its scores (regions,), and buffers."""

    at: Slots
    z: Floats
    owner: Ints
    bounds: Floats
    done: Bools
    others: Ints
    pairs: Ints
    lanes: Floats
    nowhere: Floats


@compiled
def best_first(
    W: Floats,
    b: Floats,
    at: Slots,
    X: Floats,
    origin: Floats,
    rows: Ints,
    start: Ints,
    order: Order,
    together: int,
    winner: Ints,
    clipped: Bools,
) -> int:
    """Set winner[i] and clipped[i] for some rows of X; return how many separators were computed.

    at[number] is the row of W of a separator. The winner is a region of the label that has the
    region with the highest score; of equal ones,
    that of the lowest rank. It is clipped if that score is 0 or less. start[i] is the region that
    is tried first; it changes the cost only. Rows that follow each other and have the same are
    compared with it together, up to so many at a time.
    """
    owner, regions, d, computed, begin = order.owner, len(order.rank), X.shape[1], 0, 0
    group, row = _new_group(min(len(rows), together), regions, d), _new_row(at, owner, d)
    while begin < len(rows):
        first, n = start[rows[begin]], 1
        while n < together and begin + n < len(rows) and start[rows[begin + n]] == first:
            n += 1
        some = rows[begin : begin + n]
        is_product = n >= WORTH_A_PRODUCT and _multiply(W, b, X, origin, some, first, row, group)
        for j in range(n):
            i, best, slack = some[j], 0.0, np.inf
            if is_product:
                best, slack = _least(group.margins[j], group.offsets), _slack(group.sizes[j], d)
                computed += regions - 1
            if best > slack:
                winner[i], clipped[i] = first, False
                continue
            subtract(X[i], origin, row.z)
            row.done[:] = False
            if best < -slack:
                for o in range(regions):
                    is_other = owner[o] != owner[first]
                    margin = group.margins[j, o] + group.offsets[o]
                    row.bounds[o] = slack - margin if is_other else np.inf
                row.bounds[first], best = best + slack, best - slack
            else:
                row.bounds[:] = np.inf
                computed += _compute(W, b, row, first, -np.inf)
                best, row.done[first] = row.bounds[first], True
            winner[i], best, more = _search(W, b, row, first, best, order)
            computed, clipped[i] = computed + more, best <= 0.0
        begin += n
    return computed


@compiled
def _new_group(n: int, regions: int, d: int) -> _Group:
    separators = min(regions, AT_A_TIME) if n >= WORTH_A_PRODUCT else 0
    return _Group(
        np.empty((n, d), np.float32),
        np.empty((separators, d), np.float32),
        np.empty((n, regions), np.float32),
        np.empty(regions),
        np.empty(n),
        np.empty(n),
    )


@compiled
def _new_row(at: Slots, owner: Ints, d: int) -> _Row:
    regions = len(owner)
    return _Row(
        at,
        np.empty(d),
        owner,
        np.empty(regions),
        np.empty(regions, np.bool_),
        np.empty(regions, np.int64),
        np.empty(regions, np.int64),
        np.empty(4 * LANES),
        np.zeros(d),
    )


@compiled
def _multiply(
    W: Floats,
    b: Floats,
    X: Floats,
    origin: Floats,
    rows: Ints,
    c: int,
    row: _Row,
    group: _Group,
) -> bool:
    # Set the margins of some rows of X in region c, and the sizes. Return False if numbers are too
    # large for float32.
    n, regions, longest, highest = len(rows), len(group.offsets), 0.0, 0.0
    for j in range(n):
        group.lengths[j] = _rounded_difference(X[rows[j]], origin, group.Z[j])
    if not group.lengths[:n].max() < LARGEST:
        return False
    for begin in range(0, regions, AT_A_TIME):
        end = min(begin + AT_A_TIME, regions)
        for o in range(begin, end):
            if row.owner[o] == row.owner[c]:
                group.weights[o - begin], group.offsets[o] = 0.0, np.inf
                continue
            pair, sign = row.at[pair_number(c, o)], 1.0 if c < o else -1.0
            length = _rounded_multiple(sign, W[pair], group.weights[o - begin])
            longest, highest = max(longest, length), max(highest, abs(b[pair]))
            group.offsets[o] = sign * b[pair]
        group.margins[:n, begin:end] = np.dot(group.Z[:n], group.weights[: end - begin].T)
    for j in range(n):
        group.sizes[j] = longest * group.lengths[j] + highest
    return longest < LARGEST


@compiled_in_any_order
def _rounded_difference(x: Floats, origin: Floats, out: Singles) -> float:
    # Set out = x - origin, and return the length.
    square = 0.0
    for k in range(x.shape[0]):
        z = x[k] - origin[k]
        square += z * z
        out[k] = z
    return math.sqrt(square) + SMALLEST


@compiled_in_any_order
def _rounded_multiple(a: float, w: Floats, out: Singles) -> float:
    # Set out = aw, and return the length of w.
    square = 0.0
    for k in range(w.shape[0]):
        square += w[k] * w[k]
        out[k] = a * w[k]
    return math.sqrt(square) + SMALLEST


@compiled
def _least(margins: Singles, offsets: Floats) -> float:
    least = np.inf
    for o in range(margins.shape[0]):
        least = min(least, margins[o] + offsets[o])
    return least


@compiled
def _slack(size: float, d: int) -> float:
    # How far a margin computed roughly may be from the one computed in the fixed order. Rounding d
    # products and their factors to float32 and adding them up, in any order, changes a sum by at
    # most (d + 3)·2⁻²⁴ of ‖w‖‖z‖ and terms of higher order; float64 by much less.
    return (d + 8) * 2.0**-23 * size + LEAST if size < LARGEST else np.inf


@compiled
def _search(
    W: Floats, b: Floats, row: _Row, found: int, best: float, order: Order
) -> tuple[int, float, int]:
    # Return the region with the highest score, that score or a lower bound, and how many separators
    # were computed; given a region and a lower bound of its score.
    bounds, done, computed = row.bounds, row.done, 0
    c = next_region(bounds, done, order, best, found)
    while c >= 0:
        computed += _compute(W, b, row, c, best)
        done[c] = bounds[c] >= best
        if bounds[c] > best or (bounds[c] == best and order.rank[c] < order.rank[found]):
            found, best = c, bounds[c]
        c = next_region(bounds, done, order, best, found)
    return found, best, computed


@compiled
def next_region(bounds: Floats, done: Bools, order: Order, best: float, found: int) -> int:
    """Return the region with the highest bound of those that may still win; -1 if there is none.

    Once the best score is positive, other regions of its label would not change the label.
    """
    highest, rank, owner = -1, order.rank, order.owner
    for c in range(rank.shape[0]):
        may_win = bounds[c] > best or (bounds[c] == best and rank[c] < rank[found])
        if not may_win or done[c] or c == found or (best > 0.0 and owner[c] == owner[found]):
            continue
        if highest < 0 or bounds[c] > bounds[highest]:
            highest = c
    return highest


@compiled
def _compute(W: Floats, b: Floats, row: _Row, c: int, best: float) -> int:
    # Lower the bounds by the separators of c that have not been computed, until c can no longer
    # win. Return how many separators were computed.
    z, bounds, others, pairs, left = row.z, row.bounds, row.others, row.pairs, _left(row, c)
    fours = left - left % 4
    for k in range(0, fours, 4):
        w0, w1, w2, w3 = W[pairs[k]], W[pairs[k + 1]], W[pairs[k + 2]], W[pairs[k + 3]]
        found = four_dots(z, w0, w1, w2, w3, row.lanes)
        for j in range(4):
            _lower(bounds, c, others[k + j], found[j] + b[pairs[k + j]])
        if bounds[c] < best:
            return k + 4
    for k in range(fours, left):
        a = dot(W[pairs[k]], z, row.nowhere, row.lanes) + b[pairs[k]]
        _lower(bounds, c, others[k], a)
        if bounds[c] < best:
            return k + 1
    return left


@compiled
def _left(row: _Row, c: int) -> int:
    # List the regions that c has not been compared with, and their separators; those with the four
    # highest bounds come first, because they are the most likely to beat c. Return how many.
    bounds, others, n = row.bounds, row.others, 0
    for o in range(bounds.shape[0]):
        if row.owner[o] != row.owner[c] and not row.done[o]:
            others[n] = o
            n += 1
    for k in range(min(n, 4) if bounds[c] < np.inf else 0):
        for j in range(k + 1, n):
            if bounds[others[j]] > bounds[others[k]]:
                others[k], others[j] = others[j], others[k]
    for k in range(n):
        row.pairs[k] = row.at[pair_number(c, others[k])]
    return n


@compiled
def pair_number(a: int, c: int) -> int:
    """Return the number of the separator of two regions."""
    high, low = max(a, c), min(a, c)
    return high * (high - 1) // 2 + low


@compiled
def _lower(bounds: Floats, c: int, o: int, a: float) -> None:
    # Lower the bounds of c and o, given the value of their separator. As in `scores`, a value that
    # is NaN (the sum of huge numbers) lowers nothing.
    margin = a if c < o else -a
    bounds[c] = min(bounds[c], margin)
    bounds[o] = min(bounds[o], -margin)


@compiled_in_any_order
def proposals(V: Singles, v: Singles, X: Floats, origin: Floats, out: Ints) -> None:
    """Set out[i] to the region c with the highest V[c]·(x - origin) + v[c] for row X[i]."""
    z = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        subtract(X[i], origin, z)
        out[i], highest = 0, -np.inf
        for c in range(v.shape[0]):
            value = float(v[c])
            for k in range(z.shape[0]):
                value += V[c, k] * z[k]
            if value > highest:
                out[i], highest = c, value
