"""The three groupings and the small classifier of each group."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.maths.sharing import by_nearest, by_row, for_all, softmax, softmax_step
from oracle import loss as oracle
from oracle.eighths import arrays, drawn


@given(arrays(3, lowest=0, highest=2), arrays(3, lowest=0, highest=2))
def test_by_row_shares_between_equal_rows_only(x, y):
    assert (by_row(x) == by_row(y)) == (x.tolist() == y.tolist())


@given(arrays(3, 2, lowest=-3, highest=3), arrays(2, lowest=-3, highest=3))
def test_by_nearest_is_the_first_of_the_nearest(prototypes, x):
    distances = [sum((p - v) ** 2 for p, v in zip(row, x, strict=True)) for row in prototypes]
    assert by_nearest(prototypes)(x) == distances.index(min(distances))


def test_for_all_puts_everything_in_one_group():
    assert for_all(np.zeros(2)) == for_all(np.ones(3))


@given(arrays(3, 4, lowest=-8, highest=8), arrays(2, 3, lowest=-8, highest=8))
def test_softmax_equals_the_oracle(theta, rows):
    shares = softmax(theta, rows)
    for x, share in zip(rows.tolist(), shares, strict=True):
        expected = [oracle.softmax_cross_entropy(theta.tolist(), x, label) for label in range(3)]
        assert -np.log(share) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_softmax_of_huge_scores_warns_of_nothing():
    assert softmax(np.array([[1e6, 0.0], [-1e6, 0.0]]), np.array([1.0])).tolist() == [1.0, 0.0]


@given(st.integers(0, 2**32), st.sampled_from([0.25, 1.0]))
def test_softmax_step_follows_the_gradient_of_the_summed_loss(seed, rate):
    rng = np.random.default_rng(seed)
    theta, rows = drawn(rng, 3, 4), drawn(rng, 2, 3)
    labels = rng.integers(0, 3, 2)
    after = theta.copy()
    softmax_step(after, rows, np.eye(3)[labels], rate)

    for c, f in np.ndindex(3, 4):

        def loss(to, c=c, f=f):
            there = theta.copy()
            there[c, f] = to
            return sum(
                oracle.softmax_cross_entropy(there.tolist(), x, y)
                for x, y in zip(rows.tolist(), labels, strict=True)
            )

        slope = oracle.slope_by_differences(loss, theta[c, f])
        assert after[c, f] == pytest.approx(theta[c, f] - rate * slope, abs=1e-8)
