"""Inner products the faster way are those of the plain one, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels
from minout.kernels.settling import fast_gram


@settings(max_examples=40)
@given(
    st.integers(1, 9),
    st.integers(0, 9),
    st.sampled_from([1, 31, 32, 64, 65, 100]),
    st.sampled_from(["f4", "f8"]),
    st.integers(0, 999),
)
def test_fast_gram_is_gram(n, known, d, dtype, seed):
    rng = np.random.default_rng(seed)
    known = min(known, n)
    table, origin = rng.normal(size=(12, d)).astype(dtype), rng.normal(size=d)
    pictures = rng.normal(size=(14, d)).astype(dtype)
    places, which = rng.permutation(12)[:n], rng.permutation(14)[:n]
    signs = np.where(rng.integers(0, 2, n), 1.0, -1.0)
    out, wanted = np.full((2, n + 1, n + 1), 55.0)
    fast_gram(pictures, which, table, places, origin, signs, known, out)
    kernels.gram(pictures, which, table, places, origin, signs, known, wanted)
    assert out.tolist() == wanted.tolist()


@pytest.mark.parametrize("known", [0, 2, 3])
def test_products_are_handed_back_whatever_was_known(known):
    rng = np.random.default_rng(known)
    d, n = 5, 4
    table, origin = rng.normal(size=(6, d)), np.zeros(d)
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    G = np.empty((n, n))
    kernels.gram(table, np.arange(n), table, np.arange(n), origin, signs, 0, G)
    half = G[np.tril_indices(n)]
    products = np.where(np.arange(len(half)) < known * (known + 1) // 2, half, np.nan)
    pools = kernels.Pools(
        np.array([0, n]),
        np.arange(n),
        np.arange(n),
        signs,
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.array([0, len(half)]),
        products,
        np.array([known]),
        np.empty(1, dtype=np.int64),
    )
    sides = kernels.Sides(np.array([0, 6]), np.arange(6), np.ones(6), np.empty(6))
    kernels.settle_pools(
        0,
        1,
        kernels.Problem(table, origin, table, 0.1),
        pools,
        np.zeros((1, d)),
        np.zeros(1),
        sides,
        kernels.Limits(0.5, 1e-3, 30),
        np.empty(1, dtype=np.int64),
        np.empty(1),
    )
    assert products.tolist() == half.tolist()
    assert pools.staying.tolist() == [n]
