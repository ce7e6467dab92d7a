"""Check every stored example of two classes against the separator between them."""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.pool import Pool, Problem
from minout.core.regions import among
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
    w: Floats, b: float, sides: tuple[Ints, Ints], pool: Pool, problem: Problem, bound: float
) -> CheckResult:
    """Find the examples below the bound, and the worst of them that are not pooled yet.

    Members of the pool below the bound must have a slack that covers the difference; otherwise the
    pool was not solved, and NotConverged is raised.
    """
    return judge(w, b, sides, _margins(w, b, sides, problem), pool, problem, bound)


def judge(
    w: Floats,
    b: float,
    sides: tuple[Ints, Ints],
    margins: Floats,
    pool: Pool,
    problem: Problem,
    bound: float,
) -> CheckResult:
    """Compare the margins of some examples with the bound; those of the first side come first."""
    places, signs = np.concatenate(sides), _signs(sides)
    below = np.flatnonzero(margins < bound)
    inside = among(places[below], pool.places)
    if inside.any():
        _expect_slack(w, b, places[below[inside]], margins[below[inside]], pool, problem, bound)
        below = below[~inside]
    most = max(WORST, len(pool.places) // 2)
    if len(below) > most:
        below = below[np.lexsort((places[below], margins[below]))[:most]]
    right = margins > 0.0
    least = float(margins[right].min(initial=np.inf))
    return CheckResult(places[below], signs[below], places[~right], least, len(places))


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


def _margins(w: Floats, b: float, sides: tuple[Ints, Ints], problem: Problem) -> Floats:
    places = np.concatenate(sides)
    margins = np.empty(len(places))
    table, origin = problem.table, problem.geometry.origin
    n = len(places)
    parts = [slice(0, n)]
    if n >= max(FEW_ROWS, FEW_PRODUCTS // len(w)):
        parts = [slice(0, n // 2), slice(n // 2, n)]
    kernels.in_threads(
        lambda part: activations(w, b, table, places[part], origin, margins[part]), parts
    )
    margins *= _signs(sides)
    return margins


def _signs(sides: tuple[Ints, Ints]) -> Floats:
    return np.repeat([1.0, -1.0], [len(sides[0]), len(sides[1])])
