"""Margins in one fixed order: 32 sums run side by side, then are added up, first to last."""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled

Slots = NDArray[np.int32]
LANES = 32
ROWS_AT_A_TIME = 32


@compiled
def dot(w: Floats, x: Floats, origin: Floats, lanes: Floats) -> float:
    """Return w·(x - origin) in float64, for any dtype of x; lanes (32,) is a buffer."""
    whole = w.shape[0] - w.shape[0] % LANES
    for k in range(LANES):
        lanes[k] = 0.0
    for i in range(0, whole, LANES):
        for k in range(LANES):
            lanes[k] += w[i + k] * (x[i + k] - origin[i + k])
    total = 0.0
    for k in range(LANES):
        total += lanes[k]
    for i in range(whole, w.shape[0]):
        total += w[i] * (x[i] - origin[i])
    return total


@compiled
def subtract(x: Floats, origin: Floats, out: Floats) -> None:
    """Set out = x - origin, the differences that `dot` multiplies, in float64."""
    for k in range(x.shape[0]):
        out[k] = x[k] - origin[k]


@compiled
def four_dots(
    z: Floats, w0: Floats, w1: Floats, w2: Floats, w3: Floats, lanes: Floats
) -> tuple[float, float, float, float]:
    """Return w·z for four w, each with the additions of `dot` in its order; lanes (128,).

    The four sums hide each other's waiting times. Four terms at a time are added to each lane, so
    that it is read and written less often.
    """
    d, one, two, three = z.shape[0], LANES, 2 * LANES, 3 * LANES
    whole, deep = d - d % LANES, d - d % (4 * LANES)
    for k in range(4 * LANES):
        lanes[k] = 0.0
    for start in range(0, deep, 4 * LANES):
        for k in range(LANES):
            f = start + k
            g, h, i = f + one, f + two, f + three
            zf, zg, zh, zi = z[f], z[g], z[h], z[i]
            s0, s1, s2, s3 = lanes[k], lanes[k + one], lanes[k + two], lanes[k + three]
            lanes[k] = (((s0 + w0[f] * zf) + w0[g] * zg) + w0[h] * zh) + w0[i] * zi
            lanes[k + one] = (((s1 + w1[f] * zf) + w1[g] * zg) + w1[h] * zh) + w1[i] * zi
            lanes[k + two] = (((s2 + w2[f] * zf) + w2[g] * zg) + w2[h] * zh) + w2[i] * zi
            lanes[k + three] = (((s3 + w3[f] * zf) + w3[g] * zg) + w3[h] * zh) + w3[i] * zi
    for start in range(deep, whole, LANES):
        for k in range(LANES):
            f = start + k
            lanes[k] += w0[f] * z[f]
            lanes[k + one] += w1[f] * z[f]
            lanes[k + two] += w2[f] * z[f]
            lanes[k + three] += w3[f] * z[f]
    t0 = t1 = t2 = t3 = 0.0
    for k in range(LANES):
        t0, t1 = t0 + lanes[k], t1 + lanes[k + one]
        t2, t3 = t2 + lanes[k + two], t3 + lanes[k + three]
    for f in range(whole, d):
        t0, t1 = t0 + w0[f] * z[f], t1 + w1[f] * z[f]
        t2, t3 = t2 + w2[f] * z[f], t3 + w3[f] * z[f]
    return t0, t1, t2, t3


@compiled
def activations(
    w: Floats, b: float, table: Floats, places: Ints, origin: Floats, out: Floats
) -> None:
    """Set out[i] = w·(table[places[i]] - origin) + b."""
    lanes = np.empty(LANES)
    for i in range(places.shape[0]):
        out[i] = dot(w, table[places[i]], origin, lanes) + b


@compiled
def region_margins(
    W: Floats,
    b: Floats,
    at: Slots,
    x: Floats,
    origin: Floats,
    owner: Ints,
    region: int,
    enough: float,
    out: Floats,
) -> float:
    """Set out[o] to the margin of x, in a region, against each region o; return the least.

    The separator of regions o < c has the number c(c - 1)/2 + o and is positive on the side of o;
    at[number] is its row of W. owner[c] is the label of region c; regions of one label have no
    separator, and what `out` holds for them does not change. As soon as a margin is below `enough`,
    it is returned.
    """
    lanes = np.empty(LANES)
    least: float = np.inf
    for other in range(out.shape[0]):
        if owner[other] != owner[region]:
            high, low = max(region, other), min(region, other)
            pair = at[high * (high - 1) // 2 + low]
            a = dot(W[pair], x, origin, lanes) + b[pair]
            out[other] = a if region < other else -a
            least = min(least, out[other])
            if least < enough:
                return least
    return least


@compiled
def scores(
    W: Floats, b: Floats, at: Slots, X: Floats, origin: Floats, owner: Ints, out: Floats
) -> None:
    """Set out[i, c] to the least margin that row i of X would have in region c, of label owner[c].

    Four separators at a time are applied to some rows, so that both stay in the processor's cache.
    """
    n, regions = out.shape
    pairs = regions * (regions - 1) // 2
    lanes, Z = np.empty(4 * LANES), np.empty((min(n, ROWS_AT_A_TIME), X.shape[1]))
    out[:] = np.inf
    for start in range(0, n, ROWS_AT_A_TIME):
        rows = min(ROWS_AT_A_TIME, n - start)
        for i in range(rows):
            subtract(X[start + i], origin, Z[i])
        low, high = 0, 1
        for pair in range(0, pairs, 4):
            four = min(4, pairs - pair)
            for i in range(rows):
                found = four_dots(
                    Z[i],
                    W[at[pair]],
                    W[at[pair + min(1, four - 1)]],
                    W[at[pair + min(2, four - 1)]],
                    W[at[pair + four - 1]],
                    lanes,
                )
                own, c, o = out[start + i], low, high
                for k in range(four):
                    if owner[c] != owner[o]:
                        a = found[k] + b[at[pair + k]]
                        own[c] = min(own[c], a)
                        own[o] = min(own[o], -a)
                    c, o = (c + 1, o) if c + 1 < o else (0, o + 1)
            for _ in range(four):
                low, high = (low + 1, high) if low + 1 < high else (0, high + 1)
