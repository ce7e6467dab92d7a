"""Inner products, against sums written out one number at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from oracle.eighths import arrays
from oracle.units import activations, fractions

FLOATS = st.floats(-1e100, 1e100) | st.sampled_from([0.0, -0.0, 0.1, 1e-300, 3e15])


def products(rows, x):
    out = np.full(len(rows), np.nan)
    kernels.products(rows, x, out)
    return out


def in_order(row, x):
    total = 0.0
    for weight, value in zip(row, x, strict=True):
        if value != 0.0:
            total += weight * value
    return total


@st.composite
def tables(draw, numbers):
    """Draws rows (0 to 9, d) and x (d,): whole fours, a rest, and neither."""
    n, d = draw(st.integers(0, 9)), draw(st.integers(1, 5))
    flat = draw(st.lists(numbers, min_size=(n + 1) * d, max_size=(n + 1) * d))
    table = np.array(flat).reshape(n + 1, d)
    return table[:-1].copy(), table[-1].copy()


@given(st.integers(0, 9).flatmap(lambda n: arrays(n, 5)), arrays(5, lowest=-3, highest=3))
def test_products_equal_the_formula(rows, x):
    exact = activations(fractions(rows.tolist()), [0] * len(rows), fractions(x.tolist()))
    assert products(rows, x).tolist() == exact


@st.composite
def noise(draw):
    """Draws rows whose sums are rounded at every step: another order gives other bits."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(0, 9)), draw(st.integers(1, 30))
    return rng.normal(size=(n, d)), rng.normal(size=d) * (rng.random(d) < 0.8)


@given(tables(FLOATS) | noise())
def test_products_are_summed_in_the_order_of_the_features(table):
    rows, x = table
    expected = np.array([in_order(row, x.tolist()) for row in rows.tolist()])
    assert products(rows, x).tobytes() == expected.tobytes()
