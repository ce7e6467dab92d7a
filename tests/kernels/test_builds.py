"""Every build of the kernels that this machine can run computes the same bits."""

from importlib import import_module

import numpy as np
import pytest

from minout import kernels
from minout.kernels import _baseline

OTHERS = [name for name in ("_avx2", "_avx512") if _baseline.has(name)]


def by_alpha(build, rng, n):
    """Solves for α, and again from there."""
    X, signs = rng.normal(size=(n, 9)), rng.choice([-1.0, 1.0], n)
    G = signs[:, None] * signs * (X @ X.T + 1.0)
    r, alpha, factor = rng.normal(size=n) + 1.0, np.zeros(n), kernels.empty_factor(n)
    before = build.newton(G, r, 0.1, alpha, factor)
    first = alpha.copy()
    return before, first, build.newton(G, r - 0.2, 0.1, alpha, factor), alpha, np.tril(factor.L)


def by_w(build, rng, n):
    """Solves for w, with a factor that is made and then followed."""
    d = n // 3
    X, A = rng.normal(size=(n, d)).astype("f4"), rng.normal(size=(d + 1, d + 1))
    signs, P = np.sign(X[:, 0]) * rng.choice([1.0, 0.5], n), A @ A.T + np.eye(d + 1)
    u, sums, alpha = np.zeros(d + 1), kernels.no_sums(n, d + 1), np.zeros(n)
    residuals = []
    for less in (0.0, 0.1):
        r = np.ones(n)
        r[::9] -= less
        rows = kernels.Rows(X, np.arange(n), rng.normal(size=d), signs, r)
        residuals.append(build.newton_primal(rows, P, 0.1, u, sums, alpha))
    return residuals, u, alpha, sums.U, sums.q


def by_pairs(build, rng, n):
    """Solves all pairs of three regions, of which one has few rows."""
    Z, others, unread = rng.normal(size=(n, 5)), rng.normal(size=(7, 5)), np.empty((0, 0))
    start = np.array([0, 2, n // 2, n])
    regions = kernels.Divided(np.arange(n), start, np.arange(3), np.ones(n))
    inside, outside = rng.normal(size=(3, n)), rng.normal(size=(3, 7))
    priors = kernels.ClassPriors(inside, outside, *rng.normal(size=(2, 3, 3)))
    found = np.empty((2, 7, 3))
    products = kernels.Products(Z, others, unread, unread)
    return build.pair_scores(products, regions, priors, np.array([1.0, 0.1]), found), found


def by_products(build, rng, n):
    """Multiplies matrices, and a part of them."""
    A, B, out = rng.normal(size=(n, n + 1)), rng.normal(size=(n + 1, n + 2)), np.zeros((n, n + 2))
    build.multiply(A, B, out, 0, n)
    few = np.zeros((3, n + 2))
    build.multiply(A[:3], B, few, 0, n)
    assert np.array_equal(few, out[:3])
    assert out == pytest.approx(A @ B * (np.arange(n + 2) < n))
    return (out,)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("run", [by_alpha, by_w, by_pairs, by_products])
def test_a_build_for_more_instructions_computes_the_same_bits(run, name):
    build = import_module(f"minout.kernels.{name}")
    for n in (6, 17, 33, 64, 127):
        found, wanted = (run(each, np.random.default_rng(n), n) for each in (build, _baseline))
        for a, b in zip(found, wanted, strict=True):
            assert np.array_equal(a, b, equal_nan=True)
