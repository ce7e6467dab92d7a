"""The class with the highest score, without computing every separator: best first, and exact.

A class's score is the least of its margins, and a margin against another class is minus that
class's margin against it. So each separator that is computed is an upper bound on the scores of
both its classes. A class whose separators have all been computed wins as soon as no other class has
a higher bound.
"""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.kernels._compiled import compiled, compiled_in_any_order
from minout.kernels.margins import LANES, dot, four_dots, subtract

Singles = NDArray[np.float32]


@compiled
def best_first(
    W: Floats,
    b: Floats,
    X: Floats,
    origin: Floats,
    rows: Ints,
    start: Ints,
    rank: Ints,
    winner: Ints,
    score: Floats,
) -> int:
    """Set winner[i] and score[i] for some rows of X; return how many separators were computed.

    The winner is the class with the highest score; of equal ones, that of the lowest rank. start[i]
    is the class that is tried first; it changes the cost only.
    """
    classes, computed = rank.shape[0], 0
    z, lanes = np.empty(X.shape[1]), np.empty(4 * LANES)
    bounds, done = np.empty(classes), np.empty(classes, np.bool_)
    others, nowhere = np.empty(classes, np.int64), np.zeros(X.shape[1])
    for i in rows:
        subtract(X[i], origin, z)
        winner[i], bounds[:], done[:] = -1, np.inf, False
        best, c = -np.inf, start[i]
        while c >= 0:
            n = _left(c, best, bounds, done, others)
            computed += _compute(W, b, z, c, best, others[:n], bounds, lanes, nowhere)
            done[c] = bounds[c] >= best
            own = winner[i]
            if own < 0 or bounds[c] > best or (bounds[c] == best and rank[c] < rank[own]):
                winner[i], best = c, bounds[c]
            c = _next(bounds, done, rank, best, rank[winner[i]])
        score[i] = best
    return computed


@compiled
def _next(bounds: Floats, done: Bools, rank: Ints, best: float, best_rank: int) -> int:
    # The class with the highest bound of those that may still win; -1 if there is none.
    found = -1
    for c in range(rank.shape[0]):
        may_win = bounds[c] > best or (bounds[c] == best and rank[c] < best_rank)
        if may_win and not done[c] and (found < 0 or bounds[c] > bounds[found]):
            found = c
    return found


@compiled
def _left(c: int, best: float, bounds: Floats, done: Bools, others: Ints) -> int:
    # List the classes that c has not been compared with; those that may still win come first,
    # because they are the most likely to beat c. Return how many there are.
    n = 0
    for may_win in (True, False):
        for o in range(bounds.shape[0]):
            if o != c and not done[o] and (bounds[o] >= best) == may_win:
                others[n] = o
                n += 1
    return n


@compiled
def _compute(
    W: Floats,
    b: Floats,
    z: Floats,
    c: int,
    best: float,
    others: Ints,
    bounds: Floats,
    lanes: Floats,
    nowhere: Floats,
) -> int:
    # Lower bounds by the separators between c and others, until c can no longer win. Return how
    # many separators were computed.
    n: int = others.shape[0]
    pairs = np.empty(n, np.int64)
    for k in range(n):
        high, low = max(c, others[k]), min(c, others[k])
        pairs[k] = high * (high - 1) // 2 + low
    fours = n - n % 4
    for k in range(0, fours, 4):
        w0, w1, w2, w3 = W[pairs[k]], W[pairs[k + 1]], W[pairs[k + 2]], W[pairs[k + 3]]
        found = four_dots(z, w0, w1, w2, w3, lanes)
        for j in range(4):
            _lower(bounds, c, others[k + j], found[j] + b[pairs[k + j]])
        if bounds[c] < best:
            return k + 4
    for k in range(fours, n):
        _lower(bounds, c, others[k], dot(W[pairs[k]], z, nowhere, lanes) + b[pairs[k]])
        if bounds[c] < best:
            return k + 1
    return n


@compiled
def _lower(bounds: Floats, c: int, o: int, a: float) -> None:
    # Lower the bounds of c and o, given the value of their separator. As in `scores`, a value that
    # is NaN (the sum of huge numbers) lowers nothing.
    margin = a if c < o else -a
    bounds[c] = min(bounds[c], margin)
    bounds[o] = min(bounds[o], -margin)


@compiled_in_any_order
def proposals(V: Singles, v: Singles, X: Floats, origin: Floats, out: Ints) -> None:
    """Set out[i] to the class c with the highest V[c]·(x - origin) + v[c] for row x = X[i]."""
    z = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        subtract(X[i], origin, z)
        out[i], best = 0, -np.inf
        for c in range(v.shape[0]):
            value = float(v[c])
            for k in range(z.shape[0]):
                value += V[c, k] * z[k]
            if value > best:
                out[i], best = c, value
