"""Margins and scores of stored examples at the separators made without them.

The separators made without an example follow in closed form from those made with it
(`maths/leave_one_out.py`), so nothing is solved again. Origin, metric, priors and settings stay
those of all examples.
"""

from typing import Any, NamedTuple

import numpy as np

from minout import kernels, maths
from minout._typing import Floats, Ints
from minout.core.pool import Pool, Problem
from minout.core.regions import NO_PLACES, regions_of
from minout.core.state import State

PAIRS = 64
"""So many separators are one piece of work for a thread, or fewer: there are eight pieces."""
BLOCK = 1_024  # the scores of so many rows are computed at a time
ROWS_PER_FEATURE = 20
"""With fewer, a metric or prior that was made with a row tells its label; see `doubt`."""


def doubt(state: State) -> str:
    """Return why estimates from left-out examples cannot be trusted; "" if they can.

    Metric and priors are made with the example that is left out. With few examples for each
    feature they fit it, and it seems easier to classify than a new row.
    """
    choice, examples, width = state.frame.choice, state.count, state.examples.width
    if not (choice.whiten or choice.lda_prior) or examples >= ROWS_PER_FEATURE * width:
        return ""
    return (
        f"With whiten or lda_prior an estimate needs {ROWS_PER_FEATURE} examples per feature, and "
        f"there are {examples:,} examples of {width:,} features."
    )


class LeftOut(NamedTuple):
    """Margins of support vectors at separators made without them, by place, ascending.

    `others` are the regions that these separators separate them from.
    """

    places: Ints
    others: Ints
    margins: Floats

    def only(self, which: Any) -> "LeftOut":
        """Return some of the margins."""
        return LeftOut(self.places[which], self.others[which], self.margins[which])


NONE = LeftOut(NO_PLACES, NO_PLACES, np.empty(0))


def left_out_margins(state: State) -> LeftOut:
    """Return the margin of every support vector of every separator, without it."""
    pairs = state.separators.stored()
    size = min(PAIRS, len(pairs) // 8 + 1)
    pieces = [pairs[i : i + size] for i in range(0, len(pairs), size)]
    problem = state.problem()
    pools = [state.separators.support_of(pair) for pair in pairs]
    used = [pool.places[pool.alpha > 0.0] for pool in pools if pool.goes_by_alpha(problem)]
    problem.images.of(problem.table, np.concatenate([NO_PLACES, *used]))

    def of_pairs(piece: list[int]) -> list[LeftOut]:
        return [_of_pair(state, problem, pair) for pair in piece]

    found = [each for piece in kernels.in_threads(of_pairs, pieces) for each in piece]
    return _joined([NONE, *found])


def _joined(found: list[LeftOut]) -> LeftOut:
    places, others, margins = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(places, kind="stable")
    return LeftOut(places[order], others[order], margins[order])


def _of_pair(state: State, problem: Problem, pair: int) -> LeftOut:
    # The separator does not depend on examples with α = 0 or outside of the pool, such as pending
    # ones: they keep their margins.
    (low, high), pool = regions_of(pair), state.separators.support_of(pair)
    used = np.flatnonzero(pool.alpha > 0.0)
    if not len(used):
        return NONE
    others = np.where(pool.signs[used] > 0.0, high, low)
    return LeftOut(pool.places[used], others, _margins(problem, pool, used))


def _margins(problem: Problem, pool: Pool, used: Ints) -> Floats:
    places, alpha, lam = pool.places[used], pool.alpha[used], problem.lam
    origin, _, precision = problem.geometry
    Z, weights = problem.table[places] - origin, problem.weights[places]
    if not pool.goes_by_alpha(problem):
        assert precision is not None
        return maths.margins_left_out_by_w(Z, precision, alpha, lam, weights)
    images, which = problem.images.of(problem.table, places)  # all are known
    return maths.margins_left_out(images[which] @ Z.T, alpha, lam, weights)


@kernels.one_blas_thread()
def left_out_scores(state: State, places: Ints, left_out: LeftOut) -> Floats:
    """Return the scores of examples, at ascending places, for each label, without them.

    `left_out` are the margins of all support vectors. The scores (n, labels) are in the order of
    the labels. The only example of a label keeps its scores: without it there is no such label.
    With a single label, all scores are infinite.
    """
    left_out = _joined([left_out, *_without_their_regions(state)])
    scores = np.empty((len(places), len(state.regions.names)))
    for start in range(0, len(places), BLOCK):
        rows = slice(start, start + BLOCK)
        scores[rows] = _scores(state, places[rows], left_out)
    return scores


def _without_their_regions(state: State) -> list[LeftOut]:
    # The only example of a region takes the region with it, if its label has others; the only one
    # of its label keeps what it has.
    found, regions, owner = [], state.regions, state.regions.order.owner
    for c, members in enumerate(regions.members):
        if members.count == 1 and len(regions.of(regions.labels[c])) > 1:
            others = np.flatnonzero(owner != owner[c])
            places = np.full(len(others), members.places[0])
            found.append(LeftOut(places, others, np.full(len(others), -np.inf)))
    return found


def _scores(state: State, places: Ints, left_out: LeftOut) -> Floats:
    # Without an example its margins are lower, so its own region's score is the lower of the two;
    # a region on the other side may get a higher score if that margin decided it.
    mine = left_out.only(np.isin(left_out.places, places))
    row, own = np.searchsorted(places, mine.places), state.examples.regions[places]
    X, regions = state.examples.table[places], state.regions
    scores = state.region_scores(X)
    alone = np.array([regions.size(regions.labels[c]) == 1 for c in own.tolist()], dtype=np.bool_)
    kept = ~alone[row]
    row, mine = row[kept], mine.only(kept)
    np.minimum.at(scores, (row, own[row]), mine.margins)
    for other in np.unique(mine.others).tolist():
        of_other = mine.others == other
        rows, margins = row[of_other], mine.margins[of_other]
        theirs, entry = _margins_in(state, X[rows], other), (np.arange(len(rows)), own[rows])
        theirs[entry] = np.maximum(theirs[entry], -margins)
        np.maximum.at(scores[:, other], rows, theirs.min(axis=1))
    return state.label_scores(scores)


def _margins_in(state: State, X: Floats, c: int) -> Floats:
    # The margins that rows (n, d) would have in region c: (n, regions), inf within its label.
    separators, owner = state.separators, state.regions.order.owner
    if separators.has_far:
        return np.array([state.margins(x, c) for x in X])
    out, others = np.full((len(X), len(owner)), np.inf), np.flatnonzero(owner != owner[c])
    low, high = np.minimum(others, c), np.maximum(others, c)
    pairs, sides = high * (high - 1) // 2 + low, np.where(c == low, 1.0, -1.0)
    rows = separators.at[pairs]
    values = (X - state.frame.geometry.origin) @ separators.W[rows].T + separators.b[rows]
    out[:, others] = sides * values
    return out
