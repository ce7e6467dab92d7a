"""Predict the label of rows without computing every separator.

A proposal, one linear score per region, says which region to try first. It changes the cost of a
prediction and never its result, so it may be out of date; it is not part of what is saved.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.core.regions import pair_count
from minout.core.separators import Proposal, Separators
from minout.core.state import State
from minout.core.state import pieces as pieces_of

Singles = NDArray[np.float32]

SMALL = 4_096
"""Up to so many weights in all, every separator is computed: no search is faster than that."""
MANY = 32  # from so many rows on, BLAS is used
TOGETHER = 32  # at most so many rows are compared with the same region at a time
STALE = 2  # a proposal is computed again when one in so many separators has been replaced
PIECES, PIECE = 8, 2**24
"""A batch is divided into so many pieces for the threads, of at most so many products by row."""
BLOCK = 2**17  # so many numbers in rows are converted at a time


class Winners(NamedTuple):
    """A region of each row's winning label (n,), and whether the highest score is 0 or less.

    Of equal scores the first label wins. `computed` is the number of separators computed, of all
    rows together.
    """

    regions: Ints
    clipped: Bools
    computed: int


def winners(state: State, X: Floats) -> Winners:
    """Return the winner of each row of X (n, d): what the highest of all scores would be."""
    X = state.expanded(X)
    if state.separators.has_far:
        return _far_winners(state, X)
    separators, origin, order = state.separators, state.frame.geometry.origin, state.regions.order
    W, b, at, regions = separators.W, separators.b, separators.at, len(state.regions)
    if pair_count(regions) * X.shape[1] <= SMALL:
        return _winners_of_all(state, X)
    V, v, _ = _proposal(separators, regions)
    V, v = V[:regions], v[:regions]
    start, found = np.empty((2, len(X)), dtype=np.int64)
    clipped = np.empty(len(X), dtype=np.bool_)

    def decide(rows: Ints, together: int) -> int:
        number: int = kernels.best_first(
            W, b, at, X, origin, rows, start, order, together, found, clipped
        )
        return number

    if len(X) < MANY:
        kernels.proposals(V, v, X, origin, start)
        return Winners(found, clipped, decide(np.arange(len(X)), 1))
    with kernels.one_blas_thread():
        _propose(V, v, X, origin, start)
        # Rows with the same proposal follow each other and are compared together; few pieces divide
        # few of these groups.
        rows = np.argsort(start, kind="stable")
        size = max(min(len(X) // PIECES, PIECE // (X.shape[1] * regions)), MANY)
        pieces = [rows[i : i + size] for i in range(0, len(X), size)]
        computed = sum(kernels.in_threads(lambda piece: decide(piece, TOGETHER), pieces))
    return Winners(found, clipped, computed)


def _winners_of_all(state: State, X: Floats) -> Winners:
    scores, rank = state.region_scores(X), state.regions.order.rank
    by_label = np.argsort(rank)
    found = by_label[np.argmax(scores[:, by_label], axis=1)]  # the first of equal ones
    clipped = np.take_along_axis(scores, found[:, None], axis=1)[:, 0] <= 0.0
    return Winners(found, clipped, len(X) * pair_count(len(rank)))


def _far_winners(state: State, X: Floats) -> Winners:
    # With far pairs, the discriminants are the proposal.
    order, geometry = state.regions.order, state.frame.geometry
    regions = len(state.regions)
    found, scores = np.empty(len(X), dtype=np.int64), np.empty(len(X))

    def decide(rows: slice) -> int:
        norms, into, far = state.lengths(X[rows]), (found[rows], scores[rows]), state.far(X[rows])
        number: int = kernels.far_winners(far, X[rows], geometry.origin, norms, order, *into)
        return number

    with kernels.one_blas_thread():
        tried = kernels.in_threads(decide, pieces_of(len(X), X.shape[1] * regions))
    return Winners(found, scores <= 0.0, sum(tried) * (regions - 1))


def _propose(V: Singles, v: Singles, X: Floats, origin: Floats, out: Ints) -> None:
    # `kernels.proposals`, by BLAS.
    is_single = X.dtype == np.float32
    with np.errstate(all="ignore"):
        shift = (v - V @ origin).astype(np.float32) if is_single else v

    def propose(rows: slice) -> None:
        with np.errstate(all="ignore"):
            Z = X[rows] if is_single else (X[rows] - origin).astype(np.float32)
            out[rows] = np.argmax(Z @ V.T + shift, axis=1)

    size = max(min(BLOCK // X.shape[1], 4 * MANY), MANY)
    kernels.in_threads(propose, [slice(i, i + size) for i in range(0, len(X), size)])


def _proposal(separators: Separators, regions: int) -> Proposal:
    # Several threads may compute it at the same time; one of them is kept.
    kept, pairs = separators.proposal, pair_count(regions)
    if kept is not None and STALE * (separators.moves - kept.moves) <= pairs:
        return kept
    V, v = np.zeros((regions, separators.W.shape[1])), np.zeros(regions)
    with np.errstate(all="ignore"):
        for high in range(1, regions):
            own = separators.at[pair_count(high) : pair_count(high + 1)]
            V[:high] += separators.W[own]
            v[:high] += separators.b[own]
            V[high] -= separators.W[own].sum(axis=0)
            v[high] -= separators.b[own].sum()
        new = Proposal(V.astype(np.float32), v.astype(np.float32), separators.moves)
    separators.proposal = new
    return new
