"""Every unit of the paper against the same formula in loops and fractions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import maths
from oracle import units as oracle
from oracle.eighths import arrays

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4))


@st.composite
def cases(draw):
    """Draws rows (n, d) and a unit W (k, d), b (k,), small enough for ties to be common."""
    n, k, d = draw(SIZES)
    return (
        draw(arrays(k, d, lowest=-8, highest=8)),
        draw(arrays(k, lowest=-8, highest=8)),
        draw(arrays(n, d, lowest=-8, highest=8)),
    )


def exactly(W, b, rows):
    """Gives the activations of every row in fractions."""
    W, b, rows = (oracle.fractions(each.tolist()) for each in (W, b, rows))
    return [oracle.activations(W, b, x) for x in rows]


@given(cases())
def test_activations_equal_the_oracle_for_one_row_and_for_many(case):
    W, b, rows = case
    judged = exactly(*case)
    assert maths.activations(W, b, rows).tolist() == judged
    assert maths.activations(W, b, rows[0]).tolist() == judged[0]


@given(cases())
def test_exact_units_equal_the_oracle(case):
    a, judged = maths.activations(*case), exactly(*case)
    for ours, theirs in [
        (maths.maxout, oracle.maxout),
        (maths.clipped_maxout, oracle.clipped_maxout),
        (maths.clipped_minout, oracle.clipped_minout),
        (maths.maxout_winner, oracle.first_largest),
        (maths.minout_winner, oracle.first_least),
    ]:
        assert ours(a).tolist() == [theirs(each) for each in judged], ours.__name__


@given(cases())
def test_sigmoid_units_equal_the_oracle(case):
    a, judged = maths.activations(*case), exactly(*case)
    for ours, theirs in [
        (maths.sigmoid_minout, oracle.sigmoid_minout),
        (maths.gate, oracle.gate),
    ]:
        np.testing.assert_allclose(ours(a), [theirs(each) for each in judged], rtol=1e-14)


@given(st.floats(-700, 700))
def test_sigmoid_equals_the_oracle(a):
    assert maths.sigmoid(np.float64(a)) == pytest.approx(oracle.sigmoid(a), rel=1e-14, abs=0)


def test_sigmoid_of_a_huge_number_is_0_or_1_without_a_warning():
    assert maths.sigmoid(np.array([-1e300, -1000.0, 0.0, 1000.0, 1e300])).tolist() == [
        0.0,
        0.0,
        0.5,
        1.0,
        1.0,
    ]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6))
def test_clipped_maxout_mirrors_clipped_minout(a):  # eq. (12), (13)
    a = np.array(a)
    assert maths.clipped_maxout(a) == -maths.clipped_minout(-a)


@given(cases())
def test_negated_weights_mirror_the_unit(case):  # eq. (12), (13)
    W, b, rows = case
    mirrored = -maths.clipped_minout(maths.activations(-W, -b, rows))
    assert (maths.clipped_maxout(maths.activations(W, b, rows)) == mirrored).all()


@given(cases())
def test_clipped_minout_is_positive_exactly_where_every_neuron_is(case):
    h = maths.clipped_minout(maths.activations(*case))
    assert (h > 0).tolist() == [all(each > 0 for each in a) for a in exactly(*case)]
    assert (h >= 0).all()


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=6))
def test_gate_is_an_and(a):
    a = np.array(a)
    y = maths.gate(a)
    assert 0.0 < y <= maths.sigmoid_minout(a)  # one closed gate is enough to close it
    if y > 0.5:
        assert (a > 0).all()


@given(st.lists(st.floats(-30, 30), max_size=5), st.integers(0, 5))
def test_one_closed_gate_makes_the_product_0(a, place):
    assert maths.gate(np.array([*a[:place], -1000.0, *a[place:]])) == 0.0


@given(st.integers(1, 3), cases())
def test_theta_holds_all_that_the_output_needs(m, case):  # eq. (6)
    W, b, rows = case
    x = rows[0]
    Ws = np.stack([np.roll(W, i, axis=0) * (i + 1) for i in range(m)])
    bs = np.stack([np.roll(b, i) for i in range(m)])
    a = np.stack([maths.activations(W, b, x) for W, b in zip(Ws, bs, strict=True)])
    weights, biases = maths.theta(Ws, bs, maths.maxout_winner(a))
    assert weights.shape == (m, len(x))
    assert (weights @ x + biases == maths.maxout(a)).all()
