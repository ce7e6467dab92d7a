"""Feed random problems, sensible and damaged, to the kernels: `make fuzz SECONDS=1800`.

A kernel may refuse arguments with ValueError or TypeError; the sanitized build sees what else is
wrong. A kernel that takes long is interrupted, and must answer within SOON seconds.
"""

import signal
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from minout import kernels
from minout.maths import NgramWeights, SparseRows
from oracle import calls

LONG, SOON = 2.0, 1.0

AWKWARD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-310, 3e38, 1.0])


class Draw:
    """Random arguments from one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.is_odd, self.is_misfit = self.rng.random(2) < (0.4, 0.2)
        self.damages = int(self.rng.integers(1, 4)) if self.rng.random() < 0.5 else 0
        self.dtype = self.rng.choice(["f4", "f8"])

    def size(self, most=40):
        return int(self.rng.integers(0, most if self.rng.random() < 0.8 else 4))

    def numbers(self, *shape, dtype="f8"):
        """Return numbers, some of them awkward; sometimes a row or column too few or too many."""
        if self.is_misfit and self.rng.random() < 0.2:
            shape = tuple(max(each + int(self.rng.integers(-1, 2)), 0) for each in shape)
        found = self.rng.normal(size=shape) * 10.0 ** self.rng.integers(-2, 3)
        found = np.round(found) if self.rng.random() < 0.3 else found
        some = self.rng.random(shape) < 0.1 * self.is_odd
        found[some] = self.rng.choice(AWKWARD, int(some.sum()))
        return found.astype(dtype)

    def below(self, most, *shape, dtype="i8"):
        return self.rng.integers(0, most, shape, dtype=dtype)

    def call(self, name, *given):
        """Call a kernel; damage some of its arguments before, if this problem is a damaged one."""
        for _ in range(self.damages):
            path = self.one_of([*calls.paths(given, (np.ndarray, int, float))])
            given = calls.changed(given, path, partial(self.damaged, given=given))
        tried[name] += 1
        before = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, LONG)
        try:
            return getattr(kernels, name)(*given)
        except (ValueError, TypeError):
            refused[name] += 1
        except TimeoutError:
            interrupted[name] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert time.monotonic() - before < LONG + SOON, name
        return None

    def one_of(self, things):
        return things[self.rng.integers(len(things))]

    def damaged(self, old, given):
        """Return a number or an array that is wrong in one way."""
        if not isinstance(old, np.ndarray):
            return self.one_of([-1, 0, 1, 7, 2**31, -(2**63), 2**63 - 1, np.nan, np.inf, -0.5])
        return self.one_of([*WAYS, renumbered, renumbered, renumbered])(self, old, given)

    def order(self, m):
        return kernels.Order(self.rng.permutation(m), self.below(max(m // 2, 1), m))


def cut(draw, old, given):
    axis = int(draw.rng.integers(old.ndim))
    return np.take(old, np.arange(draw.rng.integers(old.shape[axis] + 1)), axis)


def doubled(draw, old, given):
    return np.repeat(old, 2, int(draw.rng.integers(old.ndim)))


def strided(draw, old, given):
    return draw.one_of([old[::-1], old[::2], old[..., ::-1], old[..., ::2], old.T, old[None]])


def retyped(draw, old, given):
    return old.astype(draw.one_of(["f4", "f8", "i4", "i8", "u8", "?", ">f8"]))


def frozen(draw, old, given):
    return np.broadcast_to(old[:1], old.shape) if len(old) else old


def aliased(draw, old, given):
    others = [calls.part(given, path) for path in calls.paths(given)]
    same = [each for each in others if each.itemsize == old.itemsize > 1]
    return draw.one_of(same).view(old.dtype) if same else old


def renumbered(draw, old, given):
    new, some = old.copy(), draw.rng.random(old.shape) < draw.one_of([0.05, 0.5, 1.0])
    if old.dtype.kind == "f":
        new[some] = draw.rng.choice(AWKWARD, int(some.sum())).astype(old.dtype)
    elif old.dtype.kind in "iu":
        info = np.iinfo(old.dtype)
        wrong = [-2, -1, 0, 1, 2, len(old), len(old) + 1, 1000, info.max, info.min, info.max // 2]
        wrong = [each for each in wrong if info.min <= each <= info.max]
        new[some] = draw.rng.choice(np.array(wrong, dtype=old.dtype), int(some.sum()))
    else:
        new[some] = ~new[some]
    return new


WAYS = cut, doubled, strided, retyped, frozen, aliased


def settle(draw):
    n, d, rng = 2 + draw.size(60), 1 + draw.size(), draw.rng
    table, A = draw.numbers(n, d, dtype=draw.dtype), draw.numbers(d, d)
    table[draw.below(len(table), n // 3)] = table[draw.below(len(table), n // 3)]  # duplicates
    K, precision = A @ A.T + np.eye(len(A)), np.empty((0, d))
    if rng.random() < 0.5:
        K, precision = np.abs(draw.numbers(1, d)), np.ones((int(rng.random() < 0.7), d))
    place, slot = rng.permutation(n)[: rng.integers(n)], np.full(n, -1)
    slot[place] = np.arange(len(place))
    weights, words = np.abs(draw.numbers(n)) + 1e-3, kernels.digests(table).view("u8")
    columns = table, weights, words.reshape(-1, 2), draw.numbers(d)
    images = draw.numbers(len(place), d), place, slot
    shared = kernels.Shared(*columns, K, precision, 10.0 ** rng.integers(-9, 4), *images)
    limits = kernels.Limits(1.0, 1e-3, int(rng.integers(3)), *[rng.choice([0.0, 1e9])] * 3, 3, 0.0)
    sides, tasks = draw.below(3, n), []
    for low, high in [(0, 1), (0, 2), (1, 2)][: 1 + draw.size(3)]:
        both = np.flatnonzero(sides == low), np.flatnonzero(sides == high)
        members = rng.permutation(np.concatenate(both))[: draw.size(8)]
        signs, alpha = (
            np.where(sides[members] == low, 1.0, -1.0),
            np.abs(draw.numbers(len(members))),
        )
        pool = kernels.Pool(members, signs, alpha, np.zeros_like(members))
        tasks.append(kernels.Task(0, low, high, draw.numbers(d), 0.5, pool, *both))
    found = draw.call("settle", shared, limits, tasks)
    if found is not None:  # again, from where they ended, without some rows
        ended = zip(tasks, found[3], strict=True)
        gone = draw.below(n, draw.size(4))
        again = [task._replace(pool=each[1].without(gone)) for task, each in ended]
        draw.call("settle", shared, limits, again)


def text(draw):
    n, most = draw.size(8), draw.one_of([100, 0x3000, 2**32])
    characters = draw.below(most, draw.size(400), dtype="u4")
    starts = np.sort(draw.below(len(characters) + 1 + int(draw.is_misfit), n + 1))
    seed, width = int(draw.rng.integers(2**63)), draw.size()
    hashes = np.zeros(n, "u8")
    draw.call("hash_ngrams", characters, starts, bool(draw.below(2)), hashes)
    words, runs = [NgramWeights(np.sort(hashes), draw.numbers(n)) for _ in range(2)]
    draw.call("hash_texts", characters, starts, seed, words, runs, np.zeros((n, width), "f4"))
    columns = draw.below(2**64 - 1, len(characters), dtype="u8")
    entries = SparseRows(draw.numbers(len(columns)), columns, starts)
    draw.call("project", entries, seed, np.zeros((n, width), "f4"))


def best_first(draw):
    m, n, d = 1 + draw.size(12), draw.size(), draw.size()
    pairs = m * (m - 1) // 2
    W, X = draw.numbers(pairs, d), draw.numbers(n, d, dtype=draw.dtype)
    winner, clipped, at = np.zeros(n, "i8"), np.zeros(n, bool), np.arange(pairs, dtype="i4")
    args = W, draw.numbers(len(W)), at[: len(W)], X, draw.numbers(d), draw.rng.permutation(n)
    together = int(draw.rng.integers(1, 70))
    draw.call("best_first", *args, draw.below(m, n), draw.order(m), together, winner, clipped)
    V = draw.numbers(m, d, dtype="f4")
    draw.call("proposals", V, draw.numbers(len(V), dtype="f4"), X, draw.numbers(d), winner)
    separators, owner = (W, args[1], args[2]), draw.below(m, m)
    draw.call("scores", *separators, X, draw.numbers(d), owner, np.zeros((n, m)))
    for x in X[:2]:
        of = int(draw.below(m)), float(draw.one_of([-np.inf, 0.5]))
        draw.call("region_margins", *separators, x, draw.numbers(d), owner, *of, np.zeros(m))
    places, w = draw.below(n, draw.size() * (n > 0)), draw.numbers(d)
    draw.call("activations", w, 0.5, X, places, draw.numbers(d), np.zeros(len(places)))


def far(draw):
    m, n, d = 1 + draw.size(12), draw.size(), draw.size()
    pairs, k, stored = m * (m - 1) // 2, 1 + draw.size(5), 1 + draw.size()
    near, size = draw.rng.random(pairs) < 0.3, draw.below(4, k)
    at = np.where(near, np.cumsum(near) - 1, -draw.below(k, pairs)).astype("i4")
    start, total = np.cumsum(size) - size, int(size.sum())
    images, W = draw.numbers(stored, d), draw.numbers(max(int(near.sum()), 1), d)
    labels, slot = draw.order(m), draw.below(max(len(images), 1), stored)
    scores = draw.numbers(m, d), draw.numbers(m), labels.owner, draw.numbers(pairs), at
    parts = start, size, draw.numbers(k, 3), draw.numbers(total), draw.below(stored, total)
    known = draw.numbers(n, stored) if draw.below(2) else np.empty((0, 0))
    model = kernels.Far(*scores, *parts, images, slot, W, draw.numbers(len(W)), known)
    X, origin = draw.numbers(n, d, dtype=draw.dtype), draw.numbers(d)
    draw.call("far_scores", model, X, origin, draw.numbers(n), draw.numbers(n), np.zeros((n, m)))
    into = np.zeros(n, "i8"), np.zeros(n)
    draw.call("far_winners", model, X, origin, draw.numbers(n), labels, *into)
    for x in X[:3]:
        draw.call("far_margins", model, x, origin, 1.0, int(draw.below(m)), 0.5, np.zeros(m))

    ends, which = draw.numbers(2, d), draw.below(stored, 5)
    places, own, other = draw.below(n, 9 * (n > 0)), draw.below(m, 9), draw.below(m, 9)
    own, other, out = own[: len(places)], other[: len(places)], np.zeros(len(places))
    scale, coef = draw.numbers(len(places)), draw.numbers(5)
    if len(ends) == 2:
        pair = *ends, draw.numbers(2), 0.5, images, which, coef
        draw.call("pair_values", *pair, X, places, origin, out)
    draw.call("discriminant_margins", *scores[:2], scale, X, places, own, other, origin, out.copy())


def solvers(draw):
    n, d = draw.size(60), draw.size(20)
    lam, A = float(10.0 ** draw.rng.integers(-9, 4)), draw.numbers(n, d)
    G, r = A @ A.T + 1.0, draw.numbers(n)
    alpha, factor = np.abs(draw.numbers(n)), kernels.empty_factor(n + draw.size(3))
    for _ in range(2):  # the second time with a factor
        draw.call("newton", G, r, lam, alpha, factor)
    draw.call("best_step", r, draw.numbers(n), -1.0, abs(float(draw.rng.normal())), lam)
    sums, u = kernels.no_sums(n, d + 1), draw.numbers(d + 1)
    places = draw.below(n, n) if n else draw.below(1, 0)
    rows = kernels.Rows(A.astype(draw.dtype), places, draw.numbers(d), np.sign(r), r)
    for _ in range(2):
        draw.call("newton_primal", rows, np.eye(d + 1), lam, u, sums, np.zeros(n))
    m = draw.size()
    first = int(draw.rng.integers(m + 1))
    B = draw.numbers(d, m)
    draw.call("multiply", A, B, np.zeros((n, m)), first, int(draw.rng.integers(first, m + 1)))
    draw.call("products", A, draw.numbers(d), np.zeros(n))
    picked = draw.below(n, 9 * (n > 0))
    amounts = draw.numbers(len(picked))
    draw.call("add_multiples", A.copy(), picked, A, picked[::-1].copy(), amounts)


def pair_scores(draw):
    n, d, held, m, none = draw.size(60), draw.size(8), draw.size(8), 1 + draw.size(5), (0, 0)
    Z, others = draw.numbers(n, d), draw.numbers(held, d)
    inside, outside = (Z @ Z.T, Z @ others.T) if Z.shape[1:] == others.shape[1:] else (none, none)
    if d > 0 and draw.rng.random() < 0.5:
        products = kernels.Products(Z, others, np.empty(none), np.empty(none))
    else:
        empty = np.empty((n, 0)), np.empty((held, 0))
        products = kernels.Products(*empty, np.array(inside, float), np.array(outside, float))
    start = np.sort(np.append(draw.below(n + 1, m - 1), [0, n]))
    divided = kernels.Divided(
        draw.rng.permutation(n), start, draw.below(m, m), np.abs(draw.numbers(n)) + 0.1
    )
    means = draw.numbers(m, n), draw.numbers(m, held), draw.numbers(m, m), draw.numbers(m, m)
    lams = np.sort(10.0 ** draw.rng.integers(-6, 3, 3))[::-1].copy()
    out = np.empty((3, held, m))
    draw.call("pair_scores", products, divided, kernels.ClassPriors(*means), lams, out)


def left_out(draw):
    n, m, d = draw.size(8), draw.size(), 1 + draw.size(8)
    f, Z = int(draw.rng.integers(m + 1)), draw.numbers(m, d)
    known = Z @ Z.T if draw.rng.random() < 0.7 else np.empty((0, 0))
    signs = np.sign(draw.numbers(m))
    candidates = kernels.Candidates(
        known, signs, np.abs(draw.numbers(m)), np.abs(draw.numbers(m)), draw.below(9, m),
        draw.numbers(f, f),
    )  # fmt: skip
    leaving = kernels.Leaving(
        draw.below(9, n, 2), draw.numbers(n, m), draw.numbers(n, m), draw.numbers(n),
        draw.numbers(n), draw.numbers(n, m), draw.numbers(n), draw.numbers(n, f),
        draw.numbers(n, f),
    )  # fmt: skip
    draw.call("values_left_out", candidates, leaving, 0.1, np.empty(n))


def train(draw):
    k, n = 1 + draw.size(6), draw.size()
    X = np.round(draw.rng.normal(size=(n + 1, 3)) * 8) / 8
    a, threshold = draw.numbers(k, n + 1), float(draw.one_of([0.0, -2.0]))
    clipped = a <= threshold
    unit = kernels.UnitTable(a, clipped, clipped.sum(axis=0))
    lesson = kernels.Lesson(
        n, X @ X.T + 1.0, draw.rng.random(n + 1) < 0.5, 0.1, bool(draw.below(2)), 0.1,
        draw.size(), threshold, 2.0**20, int(draw.below(5)), draw.size() - 1,
    )  # fmt: skip
    log = kernels.Log(np.zeros((k, n + 1)), np.zeros((3, n), bool), np.zeros(5, "i8"))
    draw.call("train_unit", unit, lesson, np.random.PCG64(0), log)


def maps(draw):
    m, f, low, kept, times = (draw.size(6) for _ in range(5))
    spectra = draw.numbers(m, low * times, kept * times, dtype="f4")
    filters = draw.numbers(f, low * times, kept * times, dtype="f4")
    draw.call("filtered", spectra, filters, np.zeros((m, f, low, kept), "f4"))
    draw.call("moduli", draw.numbers(m, f, 2 * low, dtype="f4"), np.zeros((m, f, low), "f4"))
    windows = draw.numbers(4, f, dtype="f4"), draw.numbers(4, low, dtype="f4")
    draw.call("pooled", draw.numbers(m, f, low, dtype="f4"), *windows, np.zeros((m, 16), "f4"))
    borders = np.sort(draw.below(f + 1, draw.size(5)))
    draw.call("even_out", draw.numbers(m, f, low, dtype="f4"), borders, 0.1)


def decode(draw):
    n, d = draw.size(), draw.size()
    codes, out = draw.below(256, n, d, dtype="u1"), draw.numbers(n, d, dtype=draw.dtype)
    columns = draw.numbers(d), draw.numbers(d), draw.numbers(d)
    draw.call("decode_columns", codes, int(draw.below(256)), *columns, out)
    draw.call("decode_levels", codes, draw.numbers(256), draw.numbers(n), out)


def fitting(draw):
    name = draw.one_of([*calls.FITTING])
    draw.damages = max(draw.damages, 1)
    draw.call(name, *calls.fresh(name))


KINDS = (
    settle, text, best_first, far, solvers, pair_scores, left_out, train, maps, decode, fitting
)  # fmt: skip
tried, refused, interrupted = Counter(), Counter(), Counter()


def interrupt(*_):
    raise TimeoutError


def main(seconds, seed=0):
    """Draw problems until the time is over; the seed is on stderr before each."""
    end, first = time.monotonic() + seconds, seed
    while time.monotonic() < end:
        print(seed, end="\r", file=sys.stderr, flush=True)
        draw = Draw(seed)
        try:
            KINDS[seed % len(KINDS)](draw)
        except (ValueError, IndexError):  # of NumPy, where shapes do not fit
            if not draw.is_misfit:
                raise
        seed += 1
    print(f"{seed - first} problems; calls of kernels, how many were refused, and interrupted:")
    for name in sorted(tried):
        print(f"{name:22}{tried[name]:9}{refused[name]:9}{interrupted[name]:9}")


if __name__ == "__main__":
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, interrupt)
    main(float(sys.argv[1]), *map(int, sys.argv[2:]))
