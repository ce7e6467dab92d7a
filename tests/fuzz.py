"""Feed random problems, sensible and not, to the kernels: `make fuzz SECONDS=1800`.

A kernel may refuse arguments with ValueError or TypeError; the sanitized build sees what else is
wrong. Shapes may not fit each other, but indices are in range, as those of the package are.
"""

import sys
import time

import numpy as np

from minout import kernels

AWKWARD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-310, 3e38, 1.0])


class Draw:
    """Random arguments from one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.is_odd, self.is_misfit = self.rng.random(2) < (0.4, 0.2)
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

    def order(self, m):
        return kernels.Order(self.rng.permutation(m), self.below(max(m // 2, 1), m))


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
    found = kernels.settle(shared, limits, tasks)
    if found is not None:  # again, from where they ended, without some rows
        ended = zip(tasks, found[3], strict=True)
        gone = draw.below(n, draw.size(4))
        kernels.settle(
            shared, limits, [task._replace(pool=each[1].without(gone)) for task, each in ended]
        )


def hash_texts(draw):
    n, most = draw.size(8), draw.rng.choice([100, 2**32])
    characters = draw.below(most, draw.size(400), dtype="u4")
    starts = np.sort(draw.below(len(characters) + 1 + int(draw.is_misfit), n + 1))
    seed, width = int(draw.rng.integers(2**63)), draw.size()
    kernels.hash_texts(characters, starts, seed, np.zeros((n, width), "f4"))


def best_first(draw):
    m, n, d = 1 + draw.size(12), draw.size(), draw.size()
    pairs = m * (m - 1) // 2
    W, X = draw.numbers(pairs, d), draw.numbers(n, d, dtype=draw.dtype)
    winner, clipped, at = np.zeros(n, "i8"), np.zeros(n, bool), np.arange(pairs, dtype="i4")
    args = W, draw.numbers(len(W)), at[: len(W)], X, draw.numbers(d), draw.rng.permutation(n)
    together = int(draw.rng.integers(1, 70))
    kernels.best_first(*args, draw.below(m, n), draw.order(m), together, winner, clipped)
    V = draw.numbers(m, d, dtype="f4")
    kernels.proposals(V, draw.numbers(len(V), dtype="f4"), X, draw.numbers(d), winner)


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
    model = kernels.Far(*scores, *parts, images, slot, W, draw.numbers(len(W)))
    X, origin = draw.numbers(n, d, dtype=draw.dtype), draw.numbers(d)
    kernels.far_scores(model, X, origin, draw.numbers(n), np.zeros((n, m)))
    into = np.zeros(n, "i8"), np.zeros(n)
    kernels.far_winners(model, X, origin, draw.numbers(n), labels, *into)
    for x in X[:3]:
        kernels.far_margins(model, x, origin, 1.0, int(draw.below(m)), 0.5, np.zeros(m))


def decode(draw):
    n, d = draw.size(), draw.size()
    codes, out = draw.below(256, n, d, dtype="u1"), draw.numbers(n, d, dtype=draw.dtype)
    columns = draw.numbers(d), draw.numbers(d), draw.numbers(d)
    kernels.decode_columns(codes, int(draw.below(256)), *columns, out)
    kernels.decode_levels(codes, draw.numbers(256), draw.numbers(n), out)


def main(seconds, seed=0):
    """Draw problems until the time is over; the seed is on stderr before each."""
    end, first, refused, kinds = (
        time.monotonic() + seconds,
        seed,
        0,
        (settle, hash_texts, best_first, far, decode),
    )
    while time.monotonic() < end:
        print(seed, end="\r", file=sys.stderr, flush=True)
        try:
            kinds[seed % len(kinds)](Draw(seed))
        except (ValueError, TypeError):
            refused += 1
        seed += 1
    print(f"{seed - first} problems, of which {refused} were refused")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main(float(sys.argv[1]), *map(int, sys.argv[2:]))
