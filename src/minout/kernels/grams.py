"""Inner products x'K x between the members of a pool, from the images K(x - origin)."""

import numpy as np

from minout._typing import Floats, Ints
from minout.kernels._compiled import compiled
from minout.kernels.margins import LANES

IMAGES_AT_A_TIME = 32


@compiled
def gram(  # noqa: PLR0912 - loops compile fast
    pictures: Floats,
    which: Ints,
    table: Floats,
    places: Ints,
    origin: Floats,
    signs: Floats,
    known: int,
    out: Floats,
) -> None:
    """Fill rows and columns `known` … n - 1 of out (n, n) with s_i s_j (x_i'K x_j + 1).

    pictures[which[i]] is the image of row table[places[i]]. Each product has the additions of `dot`
    in its order. Four sums run side by side, and some images at a time are multiplied by all rows,
    so that both stay in the processor's cache. All arrays of the inner loops are made here, so the
    compiler knows that they do not alias.
    """
    n, d = places.shape[0], origin.shape[0]
    whole = d - d % LANES
    even = whole - whole % (2 * LANES)
    A, Z = np.empty((min(n - known, IMAGES_AT_A_TIME), d)), np.zeros((4, d))
    z0, z1, z2, z3 = Z[0], Z[1], Z[2], Z[3]
    s0, s1, s2, s3 = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for first in range(known, n, IMAGES_AT_A_TIME):
        last = min(first + IMAGES_AT_A_TIME, n)
        for i in range(first, last):
            image = pictures[which[i]]
            for k in range(d):
                A[i - first, k] = image[k]
        for j in range(0, last, 4):
            for i in range(min(4, last - j)):
                x = table[places[j + i]]
                for k in range(d):
                    Z[i, k] = x[k] - origin[k]
            for i in range(max(first, j), last):
                a = A[i - first]
                for k in range(LANES):
                    s0[k] = s1[k] = s2[k] = s3[k] = 0.0
                for m in range(0, even, 2 * LANES):
                    for k in range(LANES):
                        u, v = a[m + k], a[m + LANES + k]
                        s0[k] = (s0[k] + u * z0[m + k]) + v * z0[m + LANES + k]
                        s1[k] = (s1[k] + u * z1[m + k]) + v * z1[m + LANES + k]
                        s2[k] = (s2[k] + u * z2[m + k]) + v * z2[m + LANES + k]
                        s3[k] = (s3[k] + u * z3[m + k]) + v * z3[m + LANES + k]
                for m in range(even, whole, LANES):
                    for k in range(LANES):
                        u = a[m + k]
                        s0[k] += u * z0[m + k]
                        s1[k] += u * z1[m + k]
                        s2[k] += u * z2[m + k]
                        s3[k] += u * z3[m + k]
                t0 = t1 = t2 = t3 = 0.0
                for k in range(LANES):
                    t0 += s0[k]
                    t1 += s1[k]
                    t2 += s2[k]
                    t3 += s3[k]
                for m in range(whole, d):
                    u = a[m]
                    t0 += u * z0[m]
                    t1 += u * z1[m]
                    t2 += u * z2[m]
                    t3 += u * z3[m]
                four = (t0, t1, t2, t3)
                for k in range(min(4, i + 1 - j)):
                    value = signs[i] * signs[j + k] * (four[k] + 1.0)
                    out[i, j + k] = value
                    out[j + k, i] = value


@compiled
def combine(pictures: Floats, which: Ints, amounts: Floats, out: Floats) -> None:
    """Add amounts[i]·pictures[which[i]] to out, one i after the other."""
    for i in range(which.shape[0]):
        if amounts[i] != 0.0:
            image, amount = pictures[which[i]], amounts[i]
            for k in range(out.shape[0]):
                out[k] += amount * image[k]
