"""The optimum by w: equal to the plain one from any start, with sums that are carried along."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
from minout.kernels import Rows, no_sums
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


def newton_primal(rows, P, lam, u, sums):
    """Return the residual and α."""
    alpha = np.full(len(rows.r), np.nan)
    return kernels.newton_primal(rows, P, lam, u, sums, alpha), alpha


def assert_followed(sums, rows, P, lam, within=1e-9):
    """Compare the sums with those over the rows inside, in plain NumPy."""
    Z = np.column_stack([rows.table[rows.places] - rows.origin, np.ones(len(rows.r))])[sums.inside]
    wanted = lam * P + Z.T @ Z
    scale = np.sqrt(np.diag(wanted))
    assert (sums.U.T @ sums.U - wanted) / np.outer(scale, scale) == pytest.approx(0.0, abs=within)
    assert (np.tril(sums.U, -1) == 0.0).all()
    assert sums.q == pytest.approx((rows.signs * rows.r)[sums.inside] @ Z, abs=1e-9)


def assert_optimal(found, u, X, signs, ground, prior, lam):
    residual, alpha = found
    assert residual <= 1e-8
    wanted = maths.separator(X, signs, ground, prior, lam)
    size = 1.0 + np.abs(wanted.alpha).max()
    assert prior.w + u[:-1] == pytest.approx(wanted.w, abs=1e-7 * size)
    assert prior.b + u[-1] == pytest.approx(wanted.b, abs=1e-7 * size)
    assert alpha == pytest.approx(wanted.alpha, abs=1e-6 * size)
    assert (alpha >= 0.0).all()


@given(problems(), PRICES, st.integers(0, 99), st.sampled_from(["f4", "f8"]))
def test_newton_by_w_finds_the_plain_optimum_from_any_start(problem, lam, seed, dtype):
    X, signs, ground, prior = problem
    n, d = X.shape
    rows, u = pool(*problem, dtype=dtype), drawn(np.random.default_rng(seed), d + 1)
    sums = no_sums(n, d + 1)
    found = newton_primal(rows, metric(ground), lam, u, sums)
    assert_optimal(found, u, X, signs, ground, prior, lam)
    assert_followed(sums, rows, metric(ground), lam)


@given(problems(), PRICES, st.integers(1, 11))
def test_sums_that_followed_along_give_the_same_optimum(problem, lam, first):
    X, signs, ground, prior = problem
    n, d = X.shape
    first = min(first, n)
    u, sums = np.zeros(d + 1), no_sums(first, d + 1)
    newton_primal(pool(*problem, first=first), metric(ground), lam, u, sums)
    inside = np.concatenate([sums.inside, np.zeros(n - first, dtype=bool)])
    found = newton_primal(pool(*problem), metric(ground), lam, u, sums._replace(inside=inside))
    assert_optimal(found, u, X, signs, ground, prior, lam)


def plain_pool(n, d, *, seed=3, apart=1.0):
    """Draw two classes that overlap, with an origin and a metric of their own."""
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X[:, 0] += apart * signs
    ground, prior = Geometry(np.zeros(d), np.eye(d), np.eye(d)), Prior(np.zeros(d), 0.0)
    return X, signs, ground, prior


@pytest.mark.parametrize("apart", [0.2, 2.0], ids=["near", "far"])
@pytest.mark.parametrize("lam", [1e-4, 1.0], ids=["hard", "soft"])
def test_a_factor_still_belongs_to_its_rows_after_many_came_and_left(lam, apart):
    last, d = 400, 12
    problem = plain_pool(last, d, apart=apart)
    u, sums = np.zeros(d + 1), no_sums(40, d + 1)
    came = left = 0
    for n in range(40, last + 1):
        more = np.zeros(n - len(sums.inside), dtype=bool)
        before = np.concatenate([sums.inside, more])
        sums = sums._replace(inside=before.copy())
        rows = pool(*problem, first=n)
        residual, _ = newton_primal(rows, np.eye(d + 1), lam, u, sums)
        assert residual <= 1e-9
        came, left = came + (sums.inside & ~before).sum(), left + (before & ~sums.inside).sum()
    assert_followed(sums, rows, np.eye(d + 1), lam, within=1e-11)
    assert came > last // 8
    assert left > last // 40


@pytest.mark.parametrize("entry", ["U", "q"])
@pytest.mark.parametrize("more", [0, 1], ids=["same rows", "one more"])
def test_sums_that_were_carried_too_far_show_in_the_residual(entry, more):
    problem, P = plain_pool(31, 2), np.eye(3)
    u, sums = np.zeros(3), no_sums(30, 3)
    residual, _ = newton_primal(pool(*problem, first=30), P, 0.1, u, sums)
    assert residual <= 1e-12
    getattr(sums, entry)[0] += 1e-3
    sums = sums._replace(inside=np.concatenate([sums.inside, np.zeros(more, dtype=bool)]))
    residual, _ = newton_primal(pool(*problem, first=30 + more), P, 0.1, u, sums)
    assert residual > 1e-6
