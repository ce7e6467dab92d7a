"""Whether every stored example of two classes is where a separator should have it."""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.learner._reference import Reference, parts
from minout.learner._sketch import Sketch
from minout.rules import Ground, Pool

WORST = 24
"""So many of the worst, or half as many as the pool has, are added to it at a time."""
OFF = 1e-3
"""How far a solved pool may leave a member from its target by rounding."""
WASTED = 6
"""A reference is made anew when one in so many of the rows had to be computed after all."""
MANY = 2_000
"""From so many examples on it pays to bound margins before they are computed."""


class Found(NamedTuple):
    """Is what a check found: whom to add to the pool, who is on the wrong side, the least margin.

    `least` bounds from below the margins of all who were checked and are not on the wrong side.
    """

    places: Ints
    signs: Floats
    wrong: Ints
    least: float
    checked: int


def check(
    w: Floats,
    b: float,
    sides: tuple[Ints, Ints],
    pool: Pool,
    ground: Ground,
    bound: float,
    reference: Reference,
    sketch: Sketch | None,
) -> Found:
    """Finds who is below the bound; asks for the worst of them that are not pooled.

    Pooled members below the bound must have a private parameter that makes up for it; if one has
    not, the pool was not solved, which is an ArithmeticError. The answer is the
    same with and without the sketch: it only says whose margin need not be computed.
    """
    total = len(sides[0]) + len(sides[1])
    if sketch is None or total < MANY:
        return judge(w, b, sides, _margins(w, b, sides, ground), pool, ground, bound)
    if reference.w is None or WASTED * reference.spent > total:
        reference.start(w, b)
    doubtful = reference.doubtful(w, b, sides, ground, bound, sketch)
    found = judge(w, b, doubtful, _margins(w, b, doubtful, ground), pool, ground, bound)
    return found._replace(least=min(found.least, bound), checked=total)


def judge(
    w: Floats,
    b: float,
    sides: tuple[Ints, Ints],
    margins: Floats,
    pool: Pool,
    ground: Ground,
    bound: float,
) -> Found:
    """Says what the margins of some examples, the first side's first, ask for."""
    places, signs = np.concatenate(sides), _signs(sides)
    pooled = np.zeros(len(ground.table), dtype=bool)
    pooled[pool.places] = True
    below = np.flatnonzero(margins < bound)
    inside = pooled[places[below]]
    if inside.any():
        _expect_private(w, b, places[below[inside]], margins[below[inside]], pool, ground, bound)
        below = below[~inside]
    most = max(WORST, len(pool.places) // 2)
    if len(below) > most:
        below = below[np.lexsort((places[below], margins[below]))[:most]]
    right = margins > 0.0
    least = float(margins[right].min(initial=np.inf))
    return Found(places[below], signs[below], places[~right], least, len(places))


def _expect_private(
    w: Floats, b: float, places: Ints, margins: Floats, pool: Pool, ground: Ground, bound: float
) -> None:
    order = np.argsort(pool.places)
    which = order[np.searchsorted(pool.places, places, sorter=order)]
    short = bound - margins - ground.price * pool.alpha[which]
    doubtful = np.flatnonzero(short > OFF)
    if len(doubtful):
        Z = np.abs(ground.table[places[doubtful]] - ground.geometry.origin)
        rounding = (len(w) + 4) * 2.0**-52 * (Z @ np.abs(w) + abs(b))
        if (short[doubtful] > OFF + rounding).any():
            raise ArithmeticError("a separator did not settle")


def _margins(w: Floats, b: float, sides: tuple[Ints, Ints], ground: Ground) -> Floats:
    places = np.concatenate(sides)
    margins = np.empty(len(places))
    table, origin = ground.table, ground.geometry.origin
    kernels.in_threads(
        lambda part: kernels.activations(w, b, table, places[part], origin, margins[part]),
        parts(len(places)),
    )
    margins *= _signs(sides)
    return margins


def _signs(sides: tuple[Ints, Ints]) -> Floats:
    return np.repeat([1.0, -1.0], [len(sides[0]), len(sides[1])])
