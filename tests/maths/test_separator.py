"""The plain separator against solvers that others wrote, and the laws of an optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from minout.maths import Geometry, Prior
from oracle import separators
from oracle.eighths import arrays, drawn

PRICES = st.sampled_from([1e-3, 1e-2, 0.1, 1.0, 8.0])


def geometry(rng, d, *, full):
    """Draws an origin and a K that is positive definite."""
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    inverse = np.linalg.inv(K) if full else 1.0 / K
    return Geometry(drawn(rng, d), K, inverse)


@st.composite
def problems(draw):
    """Draws rows, signs, a geometry, a prior and a lam."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(1, 9))
    X = draw(arrays(n, d, lowest=-8, highest=8))
    signs = np.where(draw(st.lists(st.booleans(), min_size=n, max_size=n)), 1.0, -1.0)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    ground = geometry(rng, d, full=draw(st.booleans()))
    prior = draw(st.sampled_from([Prior(np.zeros(d), 0.0), Prior(drawn(rng, d), 0.25)]))
    return X, signs, ground, prior, draw(PRICES)


def full(K):
    return np.diag(K) if K.ndim == 1 else K


@given(problems())
def test_separator_is_what_nonnegative_least_squares_finds(problem):
    X, signs, ground, prior, lam = problem
    weights = np.resize([1.0, 0.5, 3.0, 1.0], len(X))
    found = maths.separator(X, signs, ground, prior, lam, weights)
    wanted = separators.by_nnls(X - ground.origin, signs, full(ground.K), *prior, lam, weights)
    size = 1.0 + np.abs(wanted.alpha).max()
    assert found.w == pytest.approx(wanted.w, abs=1e-8 * size)
    assert found.b == pytest.approx(wanted.b, abs=1e-8 * size)
    assert found.alpha == pytest.approx(wanted.alpha, abs=1e-7 * size)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("full_metric", [False, True])
def test_separator_without_a_prior_is_what_linear_svc_finds(lam, full_metric):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 4))
    signs = np.where(X[:, 0] + 0.8 * rng.normal(size=30) > 0, 1.0, -1.0)
    ground = geometry(rng, 4, full=full_metric)
    found = maths.separator(X, signs, ground, Prior(np.zeros(4), 0.0), lam)
    w, b = separators.by_linear_svc(X - ground.origin, signs, full(ground.K), lam)
    assert found.w == pytest.approx(w, rel=1e-6, abs=1e-7)
    assert found.b == pytest.approx(b, rel=1e-6, abs=1e-7)


@given(problems())
def test_alpha_times_price_is_how_far_a_row_stays_short_of_one(problem):
    X, signs, ground, prior, lam = problem
    found = maths.separator(X, signs, ground, prior, lam)
    margins = signs * ((X - ground.origin) @ found.w + found.b)
    short = np.maximum(0.0, 1.0 - margins)
    assert lam * found.alpha == pytest.approx(short, abs=1e-9 * (1.0 + np.abs(X).max() ** 2))


@given(problems())
def test_turning_the_signs_turns_the_separator(problem):
    X, signs, ground, prior, lam = problem
    found = maths.separator(X, signs, ground, prior, lam)
    turned = maths.separator(X, -signs, ground, Prior(-prior.w, -prior.b), lam)
    assert turned.w.tolist() == (-found.w).tolist()
    assert turned.b == -found.b
    assert turned.alpha.tolist() == found.alpha.tolist()


@given(problems())
def test_a_row_that_reaches_its_target_could_as_well_be_absent(problem):
    X, signs, ground, prior, lam = problem
    found = maths.separator(X, signs, ground, prior, lam)
    used = found.alpha > 0.0
    if used.any():
        again = maths.separator(X[used], signs[used], ground, prior, lam)
        assert again.w == pytest.approx(found.w, abs=1e-9)
        assert again.b == pytest.approx(found.b, abs=1e-9)


def test_a_row_on_both_sides_is_feasible_at_a_price():
    X, signs = np.array([[0.5], [0.5]]), np.array([1.0, -1.0])
    ground = Geometry(np.zeros(1), np.ones(1), np.ones(1))
    found = maths.separator(X, signs, ground, Prior(np.zeros(1), 0.0), 0.25)
    assert found.w == pytest.approx([0.0], abs=1e-12)
    assert found.alpha == pytest.approx([4.0, 4.0])


def test_without_rows_short_of_one_the_prior_stays():
    prior = Prior(np.array([2.0]), 0.0)
    ground = Geometry(np.zeros(1), np.ones(1), np.ones(1))
    X = np.array([[0.5], [-0.75]])
    found = maths.separator(X, np.array([1.0, -1.0]), ground, prior, 0.1)
    assert found.w.tolist() == [2.0]
    assert found.b == 0.0
    assert found.alpha.tolist() == [0.0, 0.0]


@given(st.integers(1, 5), st.integers(0, 99))
def test_margins_are_the_pairs_of_a_rows_class_one_by_one(classes, seed):
    rng = np.random.default_rng(seed)
    pairs = classes * (classes - 1) // 2
    W, b, origin = drawn(rng, pairs, 3), drawn(rng, pairs), drawn(rng, 3)
    X, labels = drawn(rng, 7, 3), rng.integers(0, classes, 7)
    found = maths.margins(W, b, X, origin, labels, classes)
    assert found.shape == (7, classes)
    for x, c, row in zip(X, labels.tolist(), found, strict=True):
        for o in range(classes):
            if o == c:
                assert row[o] == np.inf
                continue
            pair = max(o, c) * (max(o, c) - 1) // 2 + min(o, c)
            f = sum(W[pair, k] * (x[k] - origin[k]) for k in range(3)) + b[pair]
            assert row[o] == (f if c < o else -f)
