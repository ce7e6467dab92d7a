"""Hat functions of columns: by interpolation, between quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from oracle.eighths import drawn


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_hats_are_interpolations_between_quantiles_of_the_values(n, knots, seed, grid):
    rng = np.random.default_rng(seed)
    X = drawn(rng, n, 3, size=4) if grid else rng.normal(size=(n, 3))
    new = np.concatenate([X, 3.0 * rng.normal(size=(20, 3))])
    hats = maths.expansion(X, knots)
    wanted = [*new.T]
    for j, values in enumerate(np.sort(X, axis=0).T):
        # The quantile at q is the first value that at least a share q of the values reaches.
        at = {
            next(v for v in values if (values <= v).mean() >= k / (knots + 1) - 1e-12)
            for k in range(1, knots + 1)
        }
        at = sorted({values[0], *at, values[-1]})
        for left, middle, right in zip(at, at[1:], at[2:], strict=False):
            wanted.append(np.interp(new[:, j], [left, middle, right], [0.0, values.std(), 0.0]))
    found = maths.expanded(hats, new)
    assert found == pytest.approx(np.array(wanted).T, abs=1e-12)
    assert found[:, :3].tolist() == new.tolist()


def test_hats_do_not_depend_on_the_order_of_rows_or_on_how_often_all_are_repeated():
    X = np.random.default_rng(0).normal(size=(40, 2))
    hats = maths.expansion(X, 3)
    for other in (X[::-1], X[np.random.default_rng(1).permutation(40)]):
        for one, two in zip(hats, maths.expansion(other, 3), strict=True):
            assert one.tobytes() == two.tobytes()
    twice = maths.expansion(np.repeat(X, 2, axis=0), 3)
    assert twice.middle.tolist() == hats.middle.tolist()


def test_a_row_of_weight_n_is_n_equal_rows():
    rng = np.random.default_rng(2)
    X, times = rng.normal(size=(40, 2)), rng.integers(1, 9, 40)
    weighted = maths.expansion(X, 5, times / 4.0)
    repeated = maths.expansion(np.repeat(X, times, axis=0), 5)
    for one, two in zip(weighted, repeated, strict=True):
        assert one == pytest.approx(two, rel=1e-12)
    assert weighted.middle.tolist() != maths.expansion(X, 5).middle.tolist()


@pytest.mark.parametrize("values", [[1.0] * 5, [0.0, 1.0, 1.0, 0.0], [3.0]])
def test_a_column_of_one_or_two_values_has_no_hats(values):
    X = np.array(values)[:, None]
    assert len(maths.expansion(X, 3).of) == 0
    assert maths.expanded(maths.expansion(X, 3), X) is X


def test_huge_values_have_finite_hats():
    X = np.array([[-1e308], [0.0], [1.0], [1e308]])
    hats = maths.expansion(np.array([[0.0], [1e-300], [1.0], [2.0]]), 3)
    assert np.isfinite(maths.expanded(hats, X)).all()
    assert np.isfinite(maths.expanded(maths.expansion(X, 3), X)).all()


@given(st.integers(0, 99))
def test_slopes_are_those_of_small_steps_to_the_right(seed):
    rng = np.random.default_rng(seed)
    X = drawn(rng, 20, 3, size=8)
    hats = maths.expansion(X, 3)
    w = rng.normal(size=3 + len(hats.of))
    x, step = X[0], 2.0**-20  # values may be knots
    for j in range(3):
        there = x.copy()
        there[j] += step
        rise = maths.expanded(hats, np.array([x, there])) @ w
        slope = maths.slopes(hats, w, x)[j]
        assert slope == pytest.approx((rise[1] - rise[0]) / step, rel=1e-5, abs=1e-7)
