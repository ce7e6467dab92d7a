"""The loss of one unit and its slope, against the textbook and against differences."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from minout import maths
from oracle import loss as oracle
from oracle.eighths import arrays
from oracle.units import activations, sigmoid

RATES = st.sampled_from([2.0**-30, 0.01, 0.1, 1.0, 3.0])


@given(st.floats(-30, 30), st.booleans())
def test_cross_entropy_equals_the_oracle(a, positive):
    ours = maths.cross_entropy(np.float64(a), np.bool_(positive))
    assert ours == pytest.approx(oracle.cross_entropy(a, positive), rel=1e-13, abs=1e-15)


def test_cross_entropy_of_huge_numbers_is_finite_and_warns_of_nothing():
    a = np.array([-1e300, -1000.0, 1000.0, 1e300])
    assert maths.cross_entropy(a, np.array([True] * 4)).tolist() == [1e300, 1000.0, 0.0, 0.0]
    assert maths.cross_entropy(a, np.array([False] * 4)).tolist() == [0.0, 0.0, 1000.0, 1e300]


@given(st.floats(-20, 20), st.booleans())
def test_slope_is_the_derivative_of_the_cross_entropy(a, positive):
    expected = oracle.slope_by_differences(lambda at: oracle.cross_entropy(at, positive), a)
    assert maths.slope(np.float64(a), np.bool_(positive)) == pytest.approx(expected, abs=1e-8)


@given(arrays(3, 2, lowest=-8, highest=8), arrays(3), arrays(2, lowest=-8), st.booleans())
def test_the_min_passes_the_gradient_to_the_winner_alone(W, b, x, positive):
    a = maths.activations(W, b, x)
    winner = int(maths.minout_winner(a))
    assume(np.sort(a)[1] - np.sort(a)[0] > 0.01)  # at a tie there is no derivative
    slope = float(maths.slope(a.min(), np.bool_(positive)))

    def loss(W, b):
        return oracle.cross_entropy(min(activations(W, b, x.tolist())), positive)

    for j in range(3):
        expected = [slope * value if j == winner else 0.0 for value in [*x, 1.0]]
        for f in range(3):

            def moved(to, j=j, f=f):
                there_W, there_b = W.copy(), b.copy()
                if f < 2:
                    there_W[j, f] = to
                else:
                    there_b[j] = to
                return loss(there_W.tolist(), there_b.tolist())

            at = W[j, f] if f < 2 else b[j]
            measured = oracle.slope_by_differences(moved, at)
            assert measured == pytest.approx(expected[f], abs=1e-7)


@given(st.floats(-20, 20), st.booleans(), st.sampled_from([1.0, 0.5, 1 / 3, 1 / 7]), RATES)
def test_step_goes_down_the_slope_rounded_to_the_grid(a, positive, weight, rate):
    step = float(maths.step(np.float64(a), np.bool_(positive), np.float64(weight), rate))
    exact = -rate * weight * (sigmoid(a) - positive)
    assert (step * oracle.GRID).is_integer()
    assert abs(step - exact) <= 0.5 / oracle.GRID * (1 + 1e-6)
    assert step == round(exact * oracle.GRID) / oracle.GRID
    assert step >= 0 if positive else step <= 0


def test_steps_of_many_rows_are_those_of_each_alone():
    a, positive = np.array([-1.0, 0.25, 3.0]), np.array([True, False, False])
    weights = np.array([0.5, 0.5, 1.0])
    each = [float(maths.step(*args, 0.1)) for args in zip(a, positive, weights, strict=True)]
    assert maths.step(a, positive, weights, 0.1).tolist() == each


@given(st.lists(st.floats(-12, 12), min_size=1, max_size=5), st.booleans())
def test_a_fitted_example_is_never_in_doubt(a, positive):
    a = np.array(a)
    assume(maths.cross_entropy(a.min(), np.bool_(positive)) < 0.1)
    shares = maths.sigmoid(a)
    clipped = maths.clipped(a, maths.SIGMOID_CLIP)
    if positive:
        assert (shares > 0.9048).all()
        assert not clipped.any()
    else:
        assert (shares < 0.0952).any()
        assert clipped.any()


@pytest.mark.parametrize(("positive", "edge"), [(True, 0.904838), (False, 0.095162)])
def test_loss_crosses_the_bound_where_design_says(positive, edge):
    inside = 1e-5 if positive else -1e-5

    def loss(share):
        return maths.cross_entropy(np.float64(math.log(share / (1 - share))), np.bool_(positive))

    assert loss(edge + inside) < 0.1 < loss(edge - inside)
