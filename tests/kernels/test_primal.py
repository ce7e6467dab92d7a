"""The optimum by w: equal to the plain one from any start, with sums that are carried along."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import maths
from minout.kernels import Rows, Sums, newton_primal
from minout.maths import Geometry, Prior
from oracle.eighths import arrays, drawn

PRICES = st.sampled_from([1e-3, 1e-2, 0.1, 1.0, 8.0])


@st.composite
def problems(draw):
    """Draws rows with signs, a K that is positive definite, and a prior."""
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = draw(arrays(n, d, lowest=-8, highest=8))
    signs = np.where(draw(st.lists(st.booleans(), min_size=n, max_size=n)), 1.0, -1.0)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d)
    ground = Geometry(drawn(rng, d), K, np.linalg.inv(K))
    prior = draw(st.sampled_from([Prior(np.zeros(d), 0.0), Prior(drawn(rng, d), 0.25)]))
    return X, signs, ground, prior


def pool(X, signs, ground, prior, *, dtype="f8", first=None):
    """Puts the rows into a table where they lie apart and in another order."""
    n, d = X.shape
    table = np.full((2 * n, d), 99.0, dtype=dtype)
    places = np.arange(2 * n - 1, 0, -2)
    table[places] = X
    r = 1.0 - signs * ((X - ground.origin) @ prior.w + prior.b)
    return Rows(table, places[:first], ground.origin, signs[:first], r[:first])


def metric(ground):
    d = len(ground.origin)
    P = np.zeros((d + 1, d + 1))
    P[:d, :d], P[d, d] = ground.precision, 1.0
    return P


def no_sums(n, d):
    return Sums(np.zeros((d + 1, d + 1)), np.zeros(d + 1), np.zeros(n, dtype=bool))


def assert_optimal(found, u, X, signs, ground, prior, lam):
    residual, alpha = found
    assert residual <= 1e-8
    wanted = maths.separator(X, signs, ground, prior, lam)
    size = 1.0 + np.abs(wanted.alpha).max()
    assert prior.w + u[:-1] == pytest.approx(wanted.w, abs=1e-7 * size)
    assert prior.b + u[-1] == pytest.approx(wanted.b, abs=1e-7 * size)
    assert alpha == pytest.approx(wanted.alpha, abs=1e-6 * size)
    assert (alpha >= 0.0).all()


@settings(max_examples=80)
@given(problems(), PRICES, st.integers(0, 99), st.sampled_from(["f4", "f8"]))
def test_newton_by_w_finds_the_plain_optimum_from_any_start(problem, lam, seed, dtype):
    X, signs, ground, prior = problem
    n, d = X.shape
    rows, u = pool(*problem, dtype=dtype), drawn(np.random.default_rng(seed), d + 1)
    sums = no_sums(n, d)
    found = newton_primal(rows, metric(ground), lam, u, sums)
    assert_optimal(found, u, X, signs, ground, prior, lam)
    Z = np.column_stack([X - ground.origin, np.ones(n)])[sums.inside]
    assert pytest.approx(Z.T @ Z, abs=1e-9) == sums.H
    assert sums.q == pytest.approx((signs * rows.r)[sums.inside] @ Z, abs=1e-9)


@settings(max_examples=40)
@given(problems(), PRICES, st.integers(1, 11))
def test_sums_that_followed_along_give_the_same_optimum(problem, lam, first):
    X, signs, ground, prior = problem
    n, d = X.shape
    first = min(first, n)
    u, sums = np.zeros(d + 1), no_sums(first, d)
    newton_primal(pool(*problem, first=first), metric(ground), lam, u, sums)
    inside = np.concatenate([sums.inside, np.zeros(n - first, dtype=bool)])
    found = newton_primal(pool(*problem), metric(ground), lam, u, sums._replace(inside=inside))
    assert_optimal(found, u, X, signs, ground, prior, lam)


@pytest.mark.parametrize("entry", ["H", "q"])
def test_sums_that_were_carried_too_far_show_in_the_residual(entry):
    rng = np.random.default_rng(3)
    X, signs = drawn(rng, 9, 2), np.where(np.arange(9) % 2, 1.0, -1.0)
    ground, prior = Geometry(np.zeros(2), np.eye(2), np.eye(2)), Prior(np.zeros(2), 0.0)
    u, sums = np.zeros(3), no_sums(9, 2)
    residual, _ = newton_primal(pool(X, signs, ground, prior), np.eye(3), 0.1, u, sums)
    assert residual <= 1e-12
    getattr(sums, entry)[0] += 1e-3
    residual, _ = newton_primal(pool(X, signs, ground, prior), np.eye(3), 0.1, u, sums)
    assert residual > 1e-6
