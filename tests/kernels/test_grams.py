"""Inner products of a pool against the matrix product, and what is known stays untouched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from minout.kernels.margins import LANES, dot
from oracle.eighths import drawn


@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 99), st.sampled_from(["f4", "f8"]))
def test_gram_fills_in_what_is_not_known(n, known, seed, dtype):
    rng = np.random.default_rng(seed)
    known = min(known, n)
    table, origin = drawn(rng, 9, 3).astype(dtype), drawn(rng, 3)
    places, signs = rng.permutation(9)[:n], np.where(rng.integers(0, 2, n), 1.0, -1.0)
    A = drawn(rng, 3, 3)
    K = A @ A.T
    Z = table[places].astype(float) - origin
    pictures, which = np.zeros((n + 2, 3)), rng.permutation(n + 2)[:n]
    pictures[which] = Z @ K
    out = np.full((n + 1, n + 1), 55.0)
    kernels.gram(pictures, which, table, places, origin, signs, known, out)
    wanted = np.full((n + 1, n + 1), 55.0)
    wanted[:n, :n] = signs[:, None] * signs * (Z @ K @ Z.T + 1.0)
    wanted[:known, :known] = 55.0
    assert out == pytest.approx(wanted)
    assert (out == out.T).all()


@given(
    st.sampled_from([1, 2, 5, 9, 33, 40, 70]),
    st.integers(0, 70),
    st.sampled_from([1, 31, 32, 65, 100, 4 * LANES + 3]),
    st.sampled_from(["f4", "f8"]),
    st.integers(0, 999),
)
def test_each_product_has_the_bits_of_dot(n, known, d, dtype, seed):
    rng = np.random.default_rng(seed)
    known %= n
    table, origin = rng.normal(size=(72, d)).astype(dtype), rng.normal(size=d)
    pictures = rng.normal(size=(74, d))
    places, which = rng.permutation(72)[:n], rng.permutation(74)[:n]
    signs = np.where(rng.integers(0, 2, n), 1.0, -1.0)
    out, wanted = np.full((2, n + 1, n + 1), 55.0)
    kernels.gram(pictures, which, table, places, origin, signs, known, out)
    for i in range(known, n):
        for j in range(i + 1):
            product = dot(pictures[which[i]], table[places[j]], origin, np.empty(LANES))
            wanted[i, j] = wanted[j, i] = signs[i] * signs[j] * (product + 1.0)
    assert out.tolist() == wanted.tolist()


def test_combine_adds_multiples_one_after_the_other():
    rng = np.random.default_rng(2)
    pictures, out = drawn(rng, 4, 3), drawn(rng, 3)
    wanted = out + 0.5 * pictures[2] - 2.0 * pictures[0] + 0.25 * pictures[2]
    kernels.combine(pictures, np.array([2, 0, 2, 3]), np.array([0.5, -2.0, 0.25, 0.0]), out)
    assert out.tolist() == wanted.tolist()
