"""Margins without the row itself, against solving the others again."""

import numpy as np
import pytest

from minout import maths
from minout.maths import Geometry
from oracle import separators

KINDS = {"diagonal": False, "full": True}


def problem(seed, *, full, rows=14, columns=3):
    """Draw rows of two overlapping classes, a metric and a prior."""
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(rows) % 2, 1.0, -1.0)
    X = rng.normal(size=(rows, columns)) + 0.7 * signs[:, None]
    A = rng.normal(size=(columns, columns))
    K = A @ A.T + np.eye(columns) if full else rng.uniform(0.5, 2.0, columns)
    precision = np.linalg.inv(K) if full else 1.0 / K
    prior = maths.Prior(0.3 * rng.normal(size=columns), 0.1)
    return X, signs, Geometry(rng.normal(size=columns), K, precision), prior


def optimum(X, signs, ground, prior, lam, weights=None):
    K = ground.K if ground.K.ndim == 2 else np.diag(ground.K)
    return separators.by_nnls(X - ground.origin, signs, K, *prior, lam, weights)


def left_out(X, ground, alpha, lam, weights=None):
    """Return the margins of the rows with α > 0 by both functions."""
    used = None if weights is None else weights[alpha > 0.0]
    Z = (X - ground.origin)[alpha > 0.0]
    products = maths.images(ground, X)[alpha > 0.0] @ Z.T
    by_alpha = maths.margins_left_out(products, alpha[alpha > 0.0], lam, used)
    by_w = maths.margins_left_out_by_w(Z, ground.precision, alpha[alpha > 0.0], lam, used)
    return by_alpha, by_w


@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_margins_are_those_of_solving_again_where_the_support_stays(kind, lam):
    compared = changed = 0
    for seed in range(60):
        X, signs, ground, prior = problem(seed, full=KINDS[kind])
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 4.0], len(X))
        whole = optimum(X, signs, ground, prior, lam, weights)
        by_alpha, by_w = left_out(X, ground, whole.alpha, lam, weights)
        for n, i in enumerate(np.flatnonzero(whole.alpha > 0.0).tolist()):
            rest = np.arange(len(X)) != i
            again = optimum(X[rest], signs[rest], ground, prior, lam, weights[rest])
            if not np.array_equal(again.alpha > 0.0, whole.alpha[rest] > 0.0):
                changed += 1
                continue
            margin = signs[i] * (again.w @ (X[i] - ground.origin) + again.b)
            assert by_alpha[n] == pytest.approx(margin, rel=1e-6, abs=1e-6)
            assert by_w[n] == pytest.approx(margin, rel=1e-6, abs=1e-6)
            compared += 1
    assert compared > 20
    assert changed > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_is_no_support_vector_keeps_its_margin(kind):
    compared = 0
    for seed in range(6):
        X, signs, ground, prior = problem(seed, full=KINDS[kind])
        whole = optimum(X, signs, ground, prior, 0.1)
        for i in np.flatnonzero(whole.alpha == 0.0).tolist():
            rest = np.arange(len(X)) != i
            again = optimum(X[rest], signs[rest], ground, prior, 0.1)
            assert again.w == pytest.approx(whole.w, abs=1e-9)
            assert again.b == pytest.approx(whole.b, abs=1e-9)
            compared += 1
    assert compared > 5


@pytest.mark.parametrize("kind", KINDS)
def test_a_support_vector_has_no_higher_margin_without_itself(kind):
    for seed in range(6):
        X, signs, ground, prior = problem(seed, full=KINDS[kind])
        whole = optimum(X, signs, ground, prior, 0.1)
        used = whole.alpha > 0.0
        margins = signs * ((X - ground.origin) @ whole.w + whole.b)
        for found in left_out(X, ground, whole.alpha, 0.1):
            assert (found <= margins[used] + 1e-9).all()


def test_a_single_support_vector_left_out_has_the_margin_of_the_prior():
    X, signs, ground, prior = problem(0, full=True, rows=1)
    whole = optimum(X, signs, ground, prior, 0.1)
    assert whole.alpha[0] > 0.0
    wanted = signs[0] * (prior.w @ (X[0] - ground.origin) + prior.b)
    for (found,) in left_out(X, ground, whole.alpha, 0.1):
        assert found == pytest.approx(wanted, abs=1e-12)


def test_products_whose_rounding_is_larger_than_lam_are_taken_as_they_are_meant():
    products, alpha = np.zeros((3, 3)), np.full(3, 1 / 3)
    products[0, 1] = products[1, 0] = 1e-10  # has an eigenvalue below 0
    found = maths.margins_left_out(products, alpha, 1e-12)
    assert found == pytest.approx(np.ones(3), abs=1e-9)  # two equal rows stay
