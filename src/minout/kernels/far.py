"""Margins with very many classes, most of whose pairs have no separator of their own.

A far pair of classes a < b starts from the difference of two class scores, g_c = V_c·z - half_c,
z = x - origin, and has a few corrections: f(x) = scale·(g_a - g_b) + Σ coef·(image·z + 1). Every
sum is taken in one fixed order. A near pair has weights, as all pairs of a few classes have.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled
from minout.kernels.best_first import Order, next_region, pair_number
from minout.kernels.margins import LANES, dot, four_dots, subtract


class Far(NamedTuple):
    """A model with far pairs: one linear score per class, and what pairs of classes add to it.

    V (m, d) and half (m,) are the scores, owner (m,) the labels. By pair number: scale is the
    factor of a far pair; `at` is a near pair's row of W and b, or minus the number of a far pair's
    corrections, or 0 without any.

    Corrections are concatenated: number k has size[k] entries from start[k] on, each with its coef
    and its place; images[slot[place]] is the image of a stored row. bounds[k] are floor, ceiling
    and norm of their sum at z: it is between floor - norm·‖z‖ and ceiling + norm·‖z‖, in the norm
    of the metric.
    """

    V: Floats
    half: Floats
    owner: Ints
    scale: Floats
    at: NDArray[np.int32]
    start: Ints
    size: Ints
    bounds: Floats
    coef: Floats
    places: Ints
    images: Floats
    slot: Ints
    W: Floats
    b: Floats


class _Row(NamedTuple):
    """One row z = x - origin, its score g (m,) in each class, its length, and buffers.

    The length, length[0], is in the norm of the metric, or more.
    """

    z: Floats
    g: Floats
    length: Floats
    lanes: Floats
    nowhere: Floats


@compiled
def pair_values(
    a: Floats,
    b: Floats,
    half: Floats,
    scale: float,
    images: Floats,
    which: Ints,
    coef: Floats,
    table: Floats,
    places: Ints,
    origin: Floats,
    out: Floats,
) -> None:
    """Set out[i] to the value of one far pair at table[places[i]].

    a, b (d,) and half (2,) are the scores of its classes; images[which] and coef its corrections.
    """
    z, lanes, nowhere = np.empty(origin.shape[0]), np.empty(LANES), np.zeros(origin.shape[0])
    for i in range(places.shape[0]):
        subtract(table[places[i]], origin, z)
        of_a = dot(a, z, nowhere, lanes) - half[0]
        of_b = dot(b, z, nowhere, lanes) - half[1]
        value = scale * (of_a - of_b)
        for k in range(coef.shape[0]):
            value += coef[k] * (dot(images[which[k]], z, nowhere, lanes) + 1.0)
        out[i] = value


@compiled
def discriminant_margins(
    V: Floats,
    half: Floats,
    scale: Floats,
    table: Floats,
    places: Ints,
    own: Ints,
    other: Ints,
    origin: Floats,
    out: Floats,
) -> None:
    """Set out[i] to the margin of table[places[i]], of class own[i], against other[i].

    For far pairs without corrections; scale[i] is that of the pair.
    """
    z, lanes, nowhere = np.empty(origin.shape[0]), np.empty(LANES), np.zeros(origin.shape[0])
    for i in range(places.shape[0]):
        subtract(table[places[i]], origin, z)
        mine = dot(V[own[i]], z, nowhere, lanes) - half[own[i]]
        theirs = dot(V[other[i]], z, nowhere, lanes) - half[other[i]]
        out[i] = scale[i] * (mine - theirs)


@compiled
def far_margins(
    far: Far, x: Floats, origin: Floats, length: float, label: int, bound: float, out: Floats
) -> float:
    """Set out[o] to the margin of x, of class `label`, against each class o; return the least.

    length is ‖x - origin‖ in the norm of the metric, or more. A margin that is neither the least
    nor below the bound may be set to a lower bound of it. out[label] does not change.
    """
    row = _new_row(origin.shape[0], out.shape[0])
    _set(far, x, origin, length, row)
    return _margins(far, row, label, bound, -np.inf, out)


@compiled
def far_scores(far: Far, X: Floats, origin: Floats, lengths: Floats, out: Floats) -> None:
    """Set out[i, c] to the least margin that row i of X would have as an example of class c."""
    m = out.shape[1]
    row, margins = _new_row(origin.shape[0], m), np.empty(m)
    for i in range(X.shape[0]):
        _set(far, X[i], origin, lengths[i], row)
        for c in range(m):
            out[i, c] = _margins(far, row, c, -np.inf, -np.inf, margins)


@compiled
def far_winners(
    far: Far, X: Floats, origin: Floats, lengths: Floats, order: Order, winner: Ints, score: Floats
) -> int:
    """Set winner[i] and score[i] for the rows of X, as `best_first` does; return classes tried."""
    rank, owner = order.rank, order.owner
    m, tried = rank.shape[0], 0
    row, margins = _new_row(origin.shape[0], m), np.empty(m)
    bounds, done = np.empty(m), np.empty(m, np.bool_)
    for i in range(X.shape[0]):
        _set(far, X[i], origin, lengths[i], row)
        c = 0
        for o in range(1, m):
            if row.g[o] > row.g[c]:
                c = o
        winner[i], bounds[:], done[:] = -1, np.inf, False
        best = -np.inf
        while c >= 0:
            least = _margins(far, row, c, -np.inf, best, margins)
            tried += 1
            for o in range(m):
                if owner[o] != owner[c]:
                    bounds[o] = min(bounds[o], -margins[o])
            bounds[c], done[c] = least, True
            own = winner[i]
            if own < 0 or least > best or (least == best and rank[c] < rank[own]):
                winner[i], best = c, least
            c = next_region(bounds, done, order, best, winner[i])
        score[i] = best
    return tried


@compiled
def _new_row(d: int, m: int) -> _Row:
    return _Row(np.empty(d), np.empty(m), np.empty(1), np.empty(4 * LANES), np.zeros(d))


@compiled
def _set(far: Far, x: Floats, origin: Floats, length: float, row: _Row) -> None:
    # Set the row and its class scores.
    V, half, z, g, m = far.V, far.half, row.z, row.g, row.g.shape[0]
    subtract(x, origin, z)
    row.length[0] = length
    fours = m - m % 4
    for c in range(0, fours, 4):
        found = four_dots(z, V[c], V[c + 1], V[c + 2], V[c + 3], row.lanes)
        for k in range(4):
            g[c + k] = found[k] - half[c + k]
    for c in range(fours, m):
        g[c] = dot(V[c], z, row.nowhere, row.lanes) - half[c]


@compiled
def _margins(far: Far, row: _Row, c: int, bound: float, enough: float, out: Floats) -> float:
    # Set out[o] for o of other labels than c, and return the least. A margin with corrections is
    # computed only if it may be below `bound` or the least; otherwise out[o] is a lower bound of
    # it. If one is below `enough`, the rest of them stays at their lower bounds.
    z, g, length, lanes, nowhere = row
    m, least, at, owner, bounds = g.shape[0], np.inf, far.at, far.owner, far.bounds
    for o in range(m):
        if owner[o] == owner[c]:
            continue
        pair = pair_number(c, o)
        if at[pair] > 0:
            a = dot(far.W[at[pair]], z, nowhere, lanes) + far.b[at[pair]]
            out[o] = a if c < o else -a
            least = min(least, out[o])
            continue
        out[o] = far.scale[pair] * (g[c] - g[o])
        if at[pair] == 0:
            least = min(least, out[o])
        else:
            k = -at[pair]
            out[o] += (bounds[k, 0] if c < o else -bounds[k, 1]) - bounds[k, 2] * length[0]
    for o in range(m):
        if least < enough:
            return least
        pair = pair_number(c, o)
        if owner[o] == owner[c] or at[pair] >= 0 or out[o] >= max(bound, least):
            continue
        low, high = min(c, o), max(c, o)
        value, first = far.scale[pair] * (g[low] - g[high]), far.start[-at[pair]]
        for k in range(first, first + far.size[-at[pair]]):
            image = far.images[far.slot[far.places[k]]]
            value += far.coef[k] * (dot(image, z, nowhere, lanes) + 1.0)
        out[o] = value if c < o else -value
        least = min(least, out[o])
    return least
