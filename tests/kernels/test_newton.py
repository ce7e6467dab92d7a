"""The optimum by α: equal to the plain one from any start, with any factor carried along."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
from minout.maths import Geometry, Prior
from oracle.eighths import arrays, drawn

PRICES = st.sampled_from([1e-3, 1e-2, 0.1, 1.0, 8.0])


@st.composite
def problems(draw, most=12):
    """Draws G and r of a separator; many rows in few columns, so that few bear it."""
    n, d = draw(st.integers(1, most)), draw(st.integers(1, 3))
    X = draw(arrays(n, d, lowest=-8, highest=8))
    signs = np.where(draw(st.lists(st.booleans(), min_size=n, max_size=n)), 1.0, -1.0)
    w0 = draw(st.sampled_from([0.0, 1.0])) * draw(arrays(d, lowest=-8, highest=8))
    return X, signs, Prior(w0, float(w0.sum()) / 8)


def gram(X, signs, prior):
    G = signs[:, None] * signs * (X @ X.T + 1.0)
    return G, 1.0 - signs * (X @ prior.w + prior.b)


def plain(X, signs, prior, lam):
    d = X.shape[1]
    return maths.separator(X, signs, Geometry(np.zeros(d), np.ones(d), None), prior, lam)


def assert_holds(factor, G, lam, alpha):
    """Asserts that the factor is that of the members whose α is above 0."""
    n = int(factor.size[0])
    order, L = factor.order[:n], np.tril(factor.L[:n, :n])
    assert set(np.flatnonzero(alpha > 0.0)) <= set(order.tolist())
    wanted = G[np.ix_(order, order)] + lam * np.eye(n)
    assert pytest.approx(wanted, abs=1e-9 * (1.0 + np.abs(wanted).max(initial=0.0))) == L @ L.T


@given(problems(), PRICES, st.integers(0, 99))
def test_newton_finds_the_plain_optimum_from_any_start(problem, lam, seed):
    G, r = gram(*problem)
    alpha = np.maximum(drawn(np.random.default_rng(seed), len(r)), 0.0)
    factor = kernels.empty_factor(len(r))
    assert kernels.newton(G, r, lam, alpha, factor)
    wanted = plain(*problem, lam).alpha
    assert alpha == pytest.approx(wanted, abs=1e-8 * (1.0 + np.abs(wanted).max()))
    assert (alpha >= 0.0).all()
    assert_holds(factor, G, lam, alpha)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.integers(1, 3),
    st.integers(-4, 2),
    st.floats(-1.0, 3.0),
    st.sampled_from(["f4", "f8"]),
)
def test_rounded_inner_products_and_a_small_price_settle(seed, n, d, power, scale, dtype):
    rng = np.random.default_rng(seed)
    X = rng.integers(-16, 17, (n, d)) * 10.0**scale / 8
    signs, root = rng.choice([-1.0, 1.0], n), rng.normal(size=(d, d))
    half = signs[:, None] * signs * ((X @ root @ root.T).astype(dtype).astype(float) @ X.T + 1.0)
    G = np.tril(half) + np.tril(half, -1).T
    lam = max(10.0**power, -2.0 * np.linalg.eigvalsh(G)[0], 1e-13 * np.trace(G))
    r = 1.0 - signs * rng.normal(size=n) * rng.integers(0, 2)
    alpha = np.maximum(rng.normal(size=n), 0.0) * rng.integers(0, 2)
    assert kernels.newton(G, r, lam, alpha, kernels.empty_factor(n))
    short = r - G @ alpha - lam * alpha
    blur = 1e-8 * (1.0 + np.abs(r) + np.abs(G) @ alpha)
    assert (alpha >= 0.0).all()
    assert (short <= blur).all()
    assert (np.abs(short) <= blur)[alpha > 0.0].all()


@given(problems(), PRICES, st.lists(st.integers(1, 12), min_size=1, max_size=4))
def test_a_factor_that_followed_along_gives_the_same_optimum(problem, lam, sizes):
    G, r = gram(*problem)
    factor, alpha = kernels.empty_factor(len(r) + 2), np.zeros(0)
    large = np.full((len(r) + 3, len(r) + 3), np.nan)
    large[: len(r), : len(r)] = G
    for size in [*sorted(min(size, len(r)) for size in sizes), len(r)]:
        alpha = np.concatenate([alpha, np.zeros(size - len(alpha))])
        assert kernels.newton(large, r[:size], lam, alpha, factor)
        assert_holds(factor, G, lam, alpha)
        afresh = np.zeros(size)
        assert kernels.newton(G, r[:size], lam, afresh, kernels.empty_factor(size))
        assert alpha == pytest.approx(afresh, abs=1e-8 * (1.0 + np.abs(afresh).max()))


@given(
    arrays(5, lowest=-16, highest=16),
    arrays(5, lowest=-16, highest=16),
    st.integers(1, 8),
    PRICES,
)
def test_the_step_is_the_best_one(short, change, curve, lam):
    base = float(-np.maximum(short, 0.0) @ np.abs(change)) - 0.125

    def cost(t):
        gaps = np.maximum(0.0, short - t * change)
        return base * t + 0.5 * curve * t * t + (gaps @ gaps) / (2.0 * lam)

    t = kernels.best_step(short, change, base, float(curve), lam)
    assert t >= 0.0
    for other in [0.0, *(t * np.array([0.5, 0.9, 1.1, 2.0])), t + 1e-3]:
        assert cost(t) <= cost(other) + 1e-9 * (1.0 + abs(cost(other)))
