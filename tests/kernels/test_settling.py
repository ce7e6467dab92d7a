"""Many small pools are settled in one call."""

import numpy as np
import pytest

from minout import kernels


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
        kernels.Problem(table, np.ones(len(table)), origin, table, 0.1),
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
