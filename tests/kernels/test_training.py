"""A compiled step against the formulas of maths, on numbers whose sums are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
from minout.kernels import GradientStep
from oracle.eighths import arrays, drawn
from oracle.units import first_least


@given(st.integers(1, 5).flatmap(lambda k: arrays(k, 3, lowest=-2, highest=2)))
def test_least_is_the_lowest_of_the_winners(a):
    for column in range(3):
        values = a[:, column].tolist()
        assert kernels.least(a, column) == (first_least(values), min(values))
        assert kernels.least(a, column)[0] == maths.minout_winner(a[:, column])


@given(
    st.integers(1, 5).flatmap(lambda k: arrays(k, 4, lowest=-2, highest=2)),
    st.lists(st.integers(0, 3), max_size=6),
)
def test_least_of_many_columns_is_that_of_each(a, columns):
    winners, values = kernels.least_of(a, np.array(columns, dtype=np.int64))
    each = [kernels.least(a, column) for column in columns]
    assert list(zip(winners.tolist(), values.tolist(), strict=True)) == each


@st.composite
def choices(draw):
    """Draws activations a (k, n + 2), whom to rehearse among the first n - 1, and targets (n,)."""
    k, n = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    a = draw(arrays(k, n + 2, lowest=-20, highest=20))
    a[:, n:] = -100.0  # columns beyond the new row's hold no row
    chosen = sorted(draw(st.sets(st.integers(0, n - 2), max_size=n - 1))) if n > 1 else []
    targets = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return a, np.array(chosen, dtype=np.int64), np.array(targets)


@given(
    choices(),
    st.sampled_from([1.0, 0.5, 1 / 3]),
    st.sampled_from([2.0**-30, 0.01, 0.1, 0.7, 3.0]),
)
def test_gradient_step_is_the_twin_of_winner_and_step(case, rehearsal_weight, rate):
    a, chosen, targets = case
    taken = kernels.gradient_step(a, chosen, targets, rehearsal_weight, rate)
    used = np.append(chosen, len(targets) - 1)
    weights = np.append(np.full(len(chosen), rehearsal_weight), 1.0)
    winners = maths.minout_winner(a[:, used].T)
    steps = maths.step(a[:, used].min(axis=0), targets[used], weights, rate)
    assert taken.rows.tolist() == used.tolist()
    assert taken.winners.tolist() == winners.tolist()
    assert taken.steps.tolist() == steps.tolist()
    assert taken.moved.tolist() == sorted(set(winners[steps != 0.0].tolist()))


def test_gradient_step_agrees_with_step_on_every_eighth():
    a = np.arange(-400, 401)[None] / 8
    for target in (True, False):
        targets = np.full(a.shape[1], target)
        taken = kernels.gradient_step(a, np.arange(800), targets, 1.0, 0.37)
        assert (taken.steps == maths.step(a[0], targets, np.ones(801), 0.37)).all()


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 6), st.integers(0, 12))
def test_follow_moves_the_activations_as_the_weights_move(seed, k, n, rows_used):
    rng = np.random.default_rng(seed)
    W, b, rows = drawn(rng, k, 3), drawn(rng, k), drawn(rng, n, 3)
    taken = GradientStep(
        rows=rng.integers(0, n, rows_used),
        winners=rng.integers(0, k, rows_used),
        steps=rng.integers(-2, 3, rows_used) * rng.choice([0.125, 2.0**-24], rows_used),
        moved=np.arange(k),
    )
    taken = taken._replace(moved=np.unique(taken.winners[taken.steps != 0.0]))
    a = np.full((k, n + 2), 7.0)
    a[:, :n] = maths.activations(W, b, rows).T
    products = np.full((n + 2, n + 2), np.nan)
    products[:n, :n] = rows @ rows.T + 1.0
    kernels.follow(a, products, taken, n)
    for row, winner, step in zip(*taken[:3], strict=True):
        W[winner] += step * rows[row]
        b[winner] += step
    assert (a[:, :n] == maths.activations(W, b, rows).T).all()
    assert (a[:, n:] == 7.0).all()


@given(arrays(3, 5, lowest=-2, highest=2), st.lists(st.integers(0, 2), max_size=4))
@pytest.mark.parametrize("threshold", [maths.HARD_CLIP, maths.SIGMOID_CLIP, 0.125])
def test_clipped_equals_the_formula(threshold, a, neurons):
    said = kernels.clipped(a, np.array(neurons, dtype=np.int64), threshold, 4)
    assert said.shape == (len(neurons), 4)
    assert said.dtype == np.bool_
    assert (said == maths.clipped(a[neurons][:, :4], threshold)).all()
