"""Predict the class of rows without computing every separator.

A proposal, one linear score per class, says which class to try first. It changes the cost of a
prediction and never its result, so it may be out of date; it is not part of what is saved.
"""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.engine.far import lengths
from minout.engine.separators import Proposal, Separators, pair_count
from minout.engine.state import State, pieces

MANY = 32
"""From so many rows on, BLAS computes the proposals."""
STALE = 2
"""A proposal is computed again when one in so many separators has been replaced."""
BLOCK = 2**17
"""So many numbers in rows are converted at a time."""


class Winners(NamedTuple):
    """The class with the highest score of each row (n,), and that score.

    Of equal scores the first label wins. `computed` is the number of separators computed, of all
    rows together.
    """

    classes: Ints
    scores: Floats
    computed: int


def winners(state: State, X: Floats) -> Winners:
    """Return the winner of each row of X (n, d): what the highest of all scores would be."""
    if state.separators.far is not None:
        return _far_winners(state, X)
    separators, origin = state.separators, state.frame.geometry.origin
    rank = state.classes.rank
    start = _proposed(separators, X, origin, len(rank))
    found, scores = np.empty(len(X), dtype=np.int64), np.empty(len(X))
    W, b = separators.W, separators.b
    # Rows with the same proposal follow each other, so that its separators stay in the cache.
    rows = np.argsort(start, kind="stable")

    def decide(piece: slice) -> int:
        number: int = kernels.best_first(W, b, X, origin, rows[piece], start, rank, found, scores)
        return number

    computed = sum(kernels.in_threads(decide, pieces(len(X), X.shape[1] * len(rank))))
    return Winners(found, scores, computed)


def _far_winners(state: State, X: Floats) -> Winners:
    # With far pairs, the class scores are the proposal.
    parts, rank, geometry = state.far_parts(), state.classes.rank, state.frame.geometry
    found, scores = np.empty(len(X), dtype=np.int64), np.empty(len(X))

    def decide(rows: slice) -> int:
        norms, into = lengths(geometry, X[rows]), (found[rows], scores[rows])
        number: int = kernels.far_winners(*parts, X[rows], geometry.origin, norms, rank, *into)
        return number

    with kernels.one_blas_thread():
        tried = kernels.in_threads(decide, pieces(len(X), X.shape[1] * len(rank)))
    return Winners(found, scores, sum(tried) * (len(rank) - 1))


def _proposed(separators: Separators, X: Floats, origin: Floats, classes: int) -> Ints:
    V, v, _ = _proposal(separators, classes)
    V, v = V[:classes], v[:classes]
    out = np.empty(len(X), dtype=np.int64)
    if len(X) < MANY:
        kernels.proposals(V, v, X, origin, out)
        return out
    near = origin.astype(X.dtype)

    def propose(rows: slice) -> None:
        with np.errstate(all="ignore"):
            Z = (X[rows] - near).astype(np.float32, copy=False)
            (Z @ V.T + v).argmax(axis=1, out=out[rows])

    size = max(BLOCK // X.shape[1], MANY)
    with kernels.one_blas_thread():
        kernels.in_threads(propose, [slice(i, i + size) for i in range(0, len(X), size)])
    return out


def _proposal(separators: Separators, classes: int) -> Proposal:
    # Several threads may compute it at the same time; one of them is kept.
    kept, pairs = separators.proposal, pair_count(classes)
    if kept is not None and STALE * (separators.moves - kept.moves) <= pairs:
        return kept
    V, v = np.zeros((classes, separators.W.shape[1])), np.zeros(classes)
    with np.errstate(all="ignore"):
        for high in range(1, classes):
            own = slice(pair_count(high), pair_count(high + 1))
            V[:high] += separators.W[own]
            v[:high] += separators.b[own]
            V[high] -= separators.W[own].sum(axis=0)
            v[high] -= separators.b[own].sum()
        new = Proposal(V.astype(np.float32), v.astype(np.float32), separators.moves)
    separators.proposal = new
    return new
