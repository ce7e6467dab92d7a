"""Inner products and multiples of rows, against sums written out one number at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
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
    nothing = np.zeros(len(rows))
    assert products(rows, x).tolist() == maths.activations(rows, nothing, x).tolist()
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


@given(tables(FLOATS) | noise())
def test_a_rows_product_does_not_depend_on_the_rows_around_it(table):
    rows, x = table
    alone = [products(row[None].copy(), x)[0] for row in rows]
    assert products(rows, x).tobytes() == np.array(alone, dtype=np.float64).tobytes()


def test_products_fill_only_what_was_asked_for():
    rows, out = np.ones((9, 2)), np.full(9, 7.0)
    kernels.products(rows, np.array([1.0, 2.0]), out[:5])
    assert out.tolist() == [3.0] * 5 + [7.0] * 4


@given(st.data(), tables(st.floats(-1e9, 1e9)))
def test_multiples_are_added_one_after_the_other(data, table):
    rows, first = table
    rows = np.concatenate([rows, first[None]])
    into = np.ones((3, len(first)))
    count = data.draw(st.integers(0, 6))
    number = st.integers(0, 2)
    places = data.draw(st.lists(number, min_size=count, max_size=count))
    row = st.integers(0, len(rows) - 1)
    picked = data.draw(st.lists(row, min_size=count, max_size=count))
    amounts = data.draw(st.lists(st.floats(-10, 10), min_size=count, max_size=count))
    expected = into.tolist()
    for place, chosen, amount in zip(places, picked, amounts, strict=True):
        for f in range(len(first)):
            expected[place][f] += amount * rows[chosen].tolist()[f]
    kernels.add_multiples(
        into,
        np.array(places, dtype=np.int64),
        rows,
        np.array(picked, dtype=np.int64),
        np.array(amounts, dtype=np.float64),
    )
    assert into.tolist() == expected
