"""Margins of near and far pairs: the formulas written out, and the same bits in every kernel."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from oracle.eighths import drawn
from oracle.fixed_order import LANES, activation

WIDTHS = st.sampled_from([1, 3, LANES, LANES + 1, 4 * LANES + 5])
CLASSES = st.sampled_from([1, 2, 3, 5, 8])
SEEDS = st.integers(0, 9_999)
DTYPES = st.sampled_from(["f4", "f8"])


def number(a, b):
    """Return the number of a pair of classes."""
    return max(a, b) * (max(a, b) - 1) // 2 + min(a, b)


class Model:
    """Random class scores, near pairs with weights, and far pairs with or without corrections.

    The metric is diagonal, so that images and lengths can be written out.
    """

    def __init__(self, classes, width, seed, dtype="f8", *, grid=False):
        rng = np.random.default_rng(seed)
        self.draw = (
            (lambda *shape: drawn(rng, *shape)) if grid else (lambda *shape: rng.normal(size=shape))
        )
        m, self.m, self.rng = classes, classes, rng
        self.owner = np.arange(m) if seed % 2 else rng.integers(0, max(m - 1, 1), m)
        self.K = rng.integers(1, 5, width) / 4.0
        self.origin, self.table = self.draw(width), self.draw(12, width).astype(dtype)
        self.V, self.half = self.draw(m, width), self.draw(m)
        self.near = np.triu(rng.random((m, m)) < 0.3, 1)
        self.near |= self.near.T
        pairs = m * (m - 1) // 2
        self.scale = rng.integers(0, 9, pairs) / 4.0 * (1.0 if grid else 1.1)
        self.at, self.bounds = np.zeros(pairs, dtype=np.int32), [(0.0, 0.0, 0.0)]
        self.W, self.b = self.draw(pairs + 1, width), self.draw(pairs + 1)
        self.slot = rng.permutation(12)
        self.images = np.empty((12, width))
        self.images[self.slot] = self.K * (self.table - self.origin)
        self.support = {}
        for high in range(m):
            for low in range(high):
                self.pair(low, high)
        start, places, coef = [0, 0], [], []
        for mine, weights in self.support.values():
            places += mine.tolist()
            coef += weights.tolist()
            start.append(len(places))
        self.far = kernels.Far(
            self.V,
            self.half,
            self.owner,
            self.scale,
            self.at,
            np.array(start[:-1], dtype=np.int64),
            np.diff(start),
            np.array(self.bounds),
            np.array(coef, dtype=float),
            np.array(places, dtype=np.int64),
            self.images,
            self.slot,
            self.W,
            self.b,
            np.empty((0, 0)),
        )

    def pair(self, low, high):
        pair = number(low, high)
        if self.near[low, high]:
            self.at[pair] = pair + 1
        elif self.rng.random() < 0.6:
            mine = self.rng.permutation(12)[: self.rng.integers(1, 4)]
            coef = self.draw(len(mine))
            self.support[low, high] = mine, coef
            self.at[pair] = -len(self.support)
            Z = self.table[mine] - self.origin
            square = coef @ (Z * self.K) @ Z.T @ coef
            total, wide = float(coef.sum()), 1e-6 * np.abs(coef).sum()
            norm = 1e-6 + np.sqrt(abs(square)) * (1 + 1e-6)
            self.bounds.append((total - wide, total + wide, norm))

    def lengths(self, X):
        Z = X - self.origin
        return np.sqrt((Z * Z * self.K).sum(axis=1)) * (1 + 1e-6)

    def score(self, c, x):
        return activation(self.V[c], -self.half[c], x, self.origin)

    def value(self, low, high, x):
        """Return the value of a pair in the fixed order."""
        if self.near[low, high]:
            at = self.at[number(low, high)]
            return activation(self.W[at], self.b[at], x, self.origin)
        value = float(self.scale[number(low, high)]) * (self.score(low, x) - self.score(high, x))
        places, coef = self.support.get((low, high), ((), ()))
        for place, each in zip(places, coef, strict=True):
            value = value + each * activation(self.images[self.slot[place]], 1.0, x, self.origin)
        return value

    def margins(self, c, x):
        """Return the margins of a row in region c, inf within its label."""
        own = self.owner[c]
        return np.array(
            [
                np.inf
                if self.owner[o] == own
                else self.value(c, o, x)
                if c < o
                else -self.value(o, c, x)
                for o in range(self.m)
            ]
        )


@given(CLASSES, WIDTHS, SEEDS, DTYPES)
def test_margins_scores_and_values_of_a_pair_have_the_bits_of_the_fixed_order(
    classes, width, seed, dtype
):
    model = Model(classes, width, seed, dtype)
    X, lengths = model.table[:3], model.lengths(model.table[:3])
    scores = np.empty((3, classes))
    kernels.far_scores(model.far, X, model.origin, lengths, np.ones(len(X)), scores)
    for i, x in enumerate(X):
        for c in range(classes):
            wanted, out = model.margins(c, x), np.full(classes, np.inf)
            least = kernels.far_margins(model.far, x, model.origin, lengths[i], c, np.inf, out)
            assert out.tolist() == wanted.tolist()
            assert least == scores[i, c] == wanted.min()
            for o in range(c + 1, classes):
                if not model.near[c, o] and model.owner[c] != model.owner[o]:
                    assert values(model, c, o, [i])[0] == wanted[o]


def values(model, low, high, places):
    """Return what `pair_values` computes for a far pair."""
    mine, coef = model.support.get((low, high), (np.empty(0, dtype=np.int64), np.empty(0)))
    out, half = np.empty(len(places)), model.half[[low, high]]
    kernels.pair_values(
        model.V[low],
        model.V[high],
        half,
        float(model.scale[number(low, high)]),
        model.images,
        model.slot[mine],
        coef,
        model.table,
        np.array(places),
        model.origin,
        out,
    )
    return out


@given(WIDTHS, SEEDS, DTYPES)
def test_discriminant_margins_are_those_of_far_pairs_without_corrections(width, seed, dtype):
    model = Model(5, width, seed, dtype)
    plain = [
        (a, b)
        for a in range(5)
        for b in range(5)
        if model.owner[a] != model.owner[b] and not model.near[a, b] and model.at[number(a, b)] == 0
    ]
    own, other = np.array(plain, dtype=np.int64).reshape(-1, 2).T.copy()
    places, out = np.arange(len(plain)) % 12, np.empty(len(plain))
    kernels.discriminant_margins(
        model.V,
        model.half,
        model.scale[[number(a, b) for a, b in plain]],
        model.table,
        places,
        own,
        other,
        model.origin,
        out,
    )
    for place, (a, b), found in zip(places.tolist(), plain, out.tolist(), strict=True):
        assert found == model.margins(a, model.table[place])[b]


@given(st.sampled_from([2, 5, 8]), WIDTHS, SEEDS, DTYPES, st.sampled_from([-3.0, 0.0, 0.5, 4.0]))
def test_a_margin_that_is_not_computed_is_a_lower_bound_that_is_high_enough(
    classes, width, seed, dtype, bound
):
    model = Model(classes, width, seed, dtype)
    for x in (*model.table[:2], model.origin.astype(dtype), (100 * model.table[2]).astype(dtype)):
        length = model.lengths(x[None])[0]
        for c in range(classes):
            wanted, out = model.margins(c, x), np.full(classes, 77.0)
            least = kernels.far_margins(model.far, x, model.origin, length, c, bound, out)
            siblings = model.owner == model.owner[c]
            assert (out[siblings] == 77.0).all()
            assert least == wanted.min()
            for o in range(classes):
                if not siblings[o] and out[o] != wanted[o]:
                    assert max(bound, least) <= out[o] <= wanted[o]


@given(CLASSES, WIDTHS, SEEDS, DTYPES, st.booleans())
def test_the_winner_is_the_first_of_the_highest_scores(classes, width, seed, dtype, grid):
    model = Model(classes, width, seed, dtype, grid=grid)
    if grid:  # ties: equal classes, and corrections that are 0
        model.V[:], model.half[:] = model.V[0], model.half[0]
        model.far.coef[::2] = 0.0
        model.far.bounds[:, :2] += [-100.0, 100.0]  # bounds hold for these, too
    X = np.concatenate([model.table, 0 * model.table[:1], 1000 * model.table[:2]]).astype(dtype)
    X[-4] = model.origin
    lengths, rank = model.lengths(X), np.empty(classes, dtype=np.int64)
    by_rank = model.rng.permutation(classes)
    by_rank = by_rank[np.argsort(model.owner[by_rank], kind="stable")]
    rank[by_rank] = np.arange(classes)
    order = kernels.Order(rank, model.owner)
    scores = np.empty((len(X), classes))
    kernels.far_scores(model.far, X, model.origin, lengths, np.ones(len(X)), scores)
    winner, score = np.full(len(X), 77), np.full(len(X), 77.0)
    tried = kernels.far_winners(model.far, X, model.origin, lengths, order, winner, score)
    wanted = by_rank[scores[:, by_rank].argmax(axis=1)]
    assert model.owner[winner].tolist() == model.owner[wanted].tolist()
    assert (score <= 0.0).tolist() == (scores.max(axis=1) <= 0.0).tolist()
    assert len(X) <= tried <= classes * len(X)
