"""Check every stored example of two classes against the separator between them."""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.pool import Pool, Problem
from minout.core.regions import among
from minout.core.screen import Bounds, in_doubt
from minout.core.table import activations
from minout.errors import NotConverged

WORST = 24
"""At most this many examples, or half the size of the pool if larger, are added per round."""
MARGIN_TOLERANCE = 1e-3  # the tolerance for the margins of the members of a solved pool
FEW_ROWS, FEW_PRODUCTS = 500, 100_000
"""Margins of fewer rows, or of fewer multiplications, are not divided between threads."""


class CheckResult(NamedTuple):
    """The result of a check.

    `places` and `signs` are the examples to add to the pool; `misfits` the places at a margin of 0
    or less; `least` is the least margin of all other examples.
    """

    places: Ints
    signs: Floats
    misfits: Ints
    least: float
    checked: int


def check(
    w: Floats,
    b: float,
    sides: tuple[Ints, Ints],
    bounds: Bounds,
    pool: Pool,
    problem: Problem,
    bound: float,
) -> CheckResult:
    """Find the examples below the bound, and the worst of them that are not pooled yet.

    Members of the pool below the bound must have a slack that covers the difference; otherwise the
    pool was not solved, and NotConverged is raised. `bounds` are those of all margins. If there are
    examples to add, misfits and the least margin are not all known.
    """
    places, signs = np.concatenate(sides), signs_of(sides)
    which = in_doubt(bounds, among(places, pool.places), bound, _most(pool))
    places, signs, margins = places[which], signs[which], bounds.lower[which]
    unknown = np.flatnonzero(margins != bounds.upper[which])
    margins[unknown] = _margins(w, b, places[unknown], problem) * signs[unknown]
    found = judge(w, b, places, signs, margins, pool, problem, bound)
    return found._replace(checked=len(bounds.lower))


def judge(
    w: Floats,
    b: float,
    places: Ints,
    signs: Floats,
    margins: Floats,
    pool: Pool,
    problem: Problem,
    bound: float,
) -> CheckResult:
    """Compare the margins of some examples with the bound."""
    below = np.flatnonzero(margins < bound)
    inside = among(places[below], pool.places)
    if inside.any():
        _expect_slack(w, b, places[below[inside]], margins[below[inside]], pool, problem, bound)
        below = below[~inside]
    worst = np.lexsort((problem.digests[places[below]], margins[below]))
    below = below[worst[: _most(pool)]]
    right = margins > 0.0
    least = float(margins[right].min(initial=np.inf))
    return CheckResult(places[below], signs[below], places[~right], least, len(places))


def _most(pool: Pool) -> int:
    return max(WORST, len(pool.places) // 2)


def _expect_slack(
    w: Floats, b: float, places: Ints, margins: Floats, pool: Pool, problem: Problem, bound: float
) -> None:
    order = np.argsort(pool.places)
    which = order[np.searchsorted(pool.places, places, sorter=order)]
    short = bound - margins - problem.lam * pool.alpha[which] / problem.weights[places]
    doubtful = np.flatnonzero(short > MARGIN_TOLERANCE)
    if len(doubtful):
        Z = np.abs(problem.table[places[doubtful]] - problem.geometry.origin)
        rounding = (len(w) + 4) * 2.0**-52 * (Z @ np.abs(w) + abs(b))
        if (short[doubtful] > MARGIN_TOLERANCE + rounding).any():
            raise NotConverged("a separator did not settle")


def _margins(w: Floats, b: float, places: Ints, problem: Problem) -> Floats:
    found, n = np.empty(len(places)), len(places)
    table, origin = problem.table, problem.geometry.origin
    parts = [slice(0, n)]
    if n >= max(FEW_ROWS, FEW_PRODUCTS // len(w)):
        parts = [slice(0, n // 2), slice(n // 2, n)]
    kernels.in_threads(
        lambda part: activations(w, b, table, places[part], origin, found[part]), parts
    )
    return found


def signs_of(sides: tuple[Ints, Ints]) -> Floats:
    """Return the signs of the examples of two sides: 1 for the first, -1 for the second."""
    return np.repeat([1.0, -1.0], [len(sides[0]), len(sides[1])])
