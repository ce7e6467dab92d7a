"""Bounds on the margins of all separators of a class, from one product in single precision.

They exclude nearly all examples from a check; the fixed-order sum decides about the others.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.core.pool import Problem
from minout.core.table import activations

BLOCK = 2**20  # about so many numbers of rows are multiplied at a time
ENOUGH = 3  # fewer separators of a class are computed as fast one by one, in double precision
UNIT = 2.0**-24  # the rounding of float32
TINY = 2.0**-50
"""More than is lost in a length, and in a product of lengths, by numbers too small for float32."""


class Bounds(NamedTuple):
    """Numbers that the margins of some examples are not below, and not above; NaN: not known."""

    lower: Floats
    upper: Floats


def margin_bounds(
    classes: Sequence[tuple[int, int]],
    sides: Sequence[tuple[Ints, Ints]],
    W: Floats,
    b: Floats,
    problem: Problem,
) -> list[Bounds]:
    """Return bounds on the margins of the examples of each separator, the first side first.

    Separator n is W[n], b[n], between two classes, whose examples are its sides. A class has the
    same examples in all of its separators.
    """
    found = [Bounds(*np.empty((2, len(low) + len(high)))) for low, high in sides]
    of_class: dict[int, list[tuple[int, int]]] = {}
    for n, pair in enumerate(classes):
        for side, c in enumerate(pair):
            of_class.setdefault(c, []).append((n, side))

    def look(part: tuple[int, int]) -> None:
        c, start = part
        (first, side), *_ = users = of_class[c]
        places = sides[first][side][start : start + size]
        numbers = np.array([n for n, _ in users])
        values, slack = _products(W[numbers], b[numbers], places, problem)
        for (n, side), value, error in zip(users, values, slack, strict=True):
            at = start + side * len(sides[n][0])
            here, margins = slice(at, at + len(places)), -value if side else value
            found[n].lower[here], found[n].upper[here] = margins - error, margins + error

    size, parts = max(BLOCK // W.shape[1], 1), list[tuple[int, int]]()
    for c, ((n, side), *_) in of_class.items():
        parts += [(c, start) for start in range(0, len(sides[n][side]), size)]
    kernels.in_threads(look, parts)
    return found


def in_doubt(bounds: Bounds, is_member: Bools, bound: float, most: int) -> Ints:
    """Return which margins must be known to judge a separator, ascending.

    These are the margins that may be below the bound: all of members, and of the others as many as
    it takes to know the `most` lowest; and those that may be the least above 0.
    """
    lower, upper = bounds
    needed = ~(lower >= bound)
    others = np.flatnonzero(needed & ~is_member)
    if len(others) > most:
        enough = np.partition(upper[others], most - 1)[most - 1]  # NaN is the last
        needed[others[lower[others] > enough]] = False
    right = lower > 0.0
    needed |= right & (lower <= upper[right].min(initial=np.inf))
    return np.flatnonzero(needed)


def _products(W: Floats, b: Floats, places: Ints, problem: Problem) -> tuple[Floats, Floats]:
    # The values of some separators at some rows (k, n), and by how much they are off at most from
    # those of the kernel; NaN if a number is too large for float32.
    table, origin, d = problem.table, problem.geometry.origin, W.shape[1]
    values, slack = np.zeros((2, len(W), len(places)))
    if len(W) < ENOUGH:
        for n in range(len(W)):
            activations(W[n], float(b[n]), table, places, origin, values[n])
        return values, slack
    # The product of z = x - origin and w, rounded to float32, over d terms in any order, is off by
    # d·u/(1 - d·u)·|w||z|, u = 2⁻²⁴. Rounding w and z before adds 2u|w||z|, rounding the origin
    # u|w||origin|, and rounding in double precision less than u|w||z|, and 2⁻⁵¹|b|.
    relative = (d + 8) * UNIT / (1.0 - (d + 8) * UNIT)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        Z = table[places]
        Z -= origin.astype(Z.dtype)
        Z = Z.astype(np.float32, copy=False)
        lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z).astype(np.float64)) * (1.0 + relative)
        values[:] = (Z @ W.astype(np.float32).T).T
        values[~np.isfinite(values)] = np.nan
        values += b[:, None]
        fixed = 2.0 * UNIT * float(np.linalg.norm(origin))
        slack[:] = relative * (lengths + TINY) + fixed
        slack *= np.linalg.norm(W, axis=1)[:, None] + TINY
        slack += 2.0**-50 * np.abs(b)[:, None]
    return values, slack
