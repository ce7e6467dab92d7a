"""The three sets, the rule for many neurons, and the theorem that they rest on."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from minout import maths
from oracle import sets as oracle
from oracle.eighths import arrays
from oracle.units import sigmoid

NEURONS = 4
TABLES = st.lists(st.lists(st.booleans(), min_size=NEURONS, max_size=NEURONS), max_size=8).map(
    lambda rows: np.array(rows, dtype=bool).reshape(-1, NEURONS)
)
NEURON = st.integers(0, NEURONS - 1)
SETS_OF_NEURONS = st.sets(NEURON)


def as_sets(table):
    return [set(np.flatnonzero(row)) for row in table]


def where(mask):
    return set(np.flatnonzero(mask))


@st.composite
def updates(draw):
    """Draws a unit, rows, a set J, and the unit after an update of J alone."""
    k, d, n = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 8))
    W, b = draw(arrays(k, d, lowest=-8, highest=8)), draw(arrays(k, lowest=-8, highest=8))
    rows = draw(arrays(n, d, lowest=-8, highest=8))
    J = sorted(draw(st.sets(st.integers(0, k - 1))))
    after_W, after_b = W.copy(), b.copy()
    after_W[J] += draw(arrays(len(J), d, lowest=-800, highest=800))
    after_b[J] += draw(arrays(len(J), lowest=-800, highest=800))
    return J, maths.activations(W, b, rows), maths.activations(after_W, after_b, rows)


@given(st.lists(st.integers(-16, 16), min_size=1, max_size=6))
def test_clipped_equals_the_oracle(eighths):
    a = np.array(eighths) / 8
    assert where(maths.clipped(a)) == oracle.clipped_hard(a.tolist())
    assert where(maths.clipped_above(a)) == oracle.clipped_above(a.tolist())


@given(st.integers(-50 * 2**24, 10 * 2**24) | st.integers(-36865000, -36861000))
def test_sigmoid_clip_is_the_papers_threshold_moved_before_the_sigmoid(steps):
    a = steps / 2**24  # the second range is close about log(0.1 / 0.9)
    assert bool(maths.clipped(np.float64(a), maths.SIGMOID_CLIP)) == (sigmoid(a) < 0.1)


@given(TABLES, NEURON)
def test_partition_equals_the_oracle(table, neuron):
    ours = maths.partition(table, neuron)
    assert tuple(where(mask) for mask in ours) == oracle.three_sets(as_sets(table), neuron)


@given(TABLES, NEURON)
def test_partition_is_disjoint_and_complete(table, neuron):
    assert (np.sum(maths.partition(table, neuron), axis=0) == 1).all()


@given(TABLES, SETS_OF_NEURONS)
def test_interfered_equals_the_oracle(table, neurons):
    expected = oracle.interfered(as_sets(table), neurons)
    assert where(maths.interfered(table, neurons)) == expected
    assert where(maths.interfered(table, (j for j in neurons))) == expected


@given(TABLES, NEURON)
def test_interfered_of_one_neuron_is_s1_and_s2(table, neuron):
    sets = maths.partition(table, neuron)
    assert (maths.interfered(table, [neuron]) == (sets.s1 | sets.s2)).all()


@given(TABLES, SETS_OF_NEURONS, SETS_OF_NEURONS)
def test_moving_more_neurons_interferes_with_no_fewer_examples(table, neurons, more):
    fewer = maths.interfered(table, neurons)
    assert (fewer <= maths.interfered(table, neurons | more)).all()


@given(updates())
def test_theorem_holds_for_minout_and_any_set_of_neurons(update):
    J, before, after = update
    outside = ~maths.interfered(maths.clipped(before), J)
    assert (maths.clipped_minout(after)[outside] == maths.clipped_minout(before)[outside]).all()
    assert (maths.clipped_minout(before)[outside] == 0).all()


@given(updates())
def test_theorem_holds_for_clipped_maxout_and_any_set_of_neurons(update):
    J, before, after = update
    outside = ~maths.interfered(maths.clipped_above(before), J)
    assert (maths.clipped_maxout(after)[outside] == maths.clipped_maxout(before)[outside]).all()
    assert (maths.clipped_maxout(before)[outside] == 0).all()


@settings(max_examples=50)
@given(updates())
def test_every_interfered_example_is_moved_by_some_update(update):
    J, before, _ = update
    assume(J)
    lifted, sunk = before.copy(), before.copy()
    lifted[:, J] += 1000.0
    sunk[:, J] -= 1000.0
    h = maths.clipped_minout(before)
    moves = (maths.clipped_minout(lifted) != h) | (maths.clipped_minout(sunk) != h)
    assert (moves == maths.interfered(maths.clipped(before), J)).all()


@settings(max_examples=50)
@given(updates())
def test_unclipped_maxout_has_no_safe_example(update):
    J, before, _ = update
    assume(J)
    after = before.copy()
    after[:, J] += 1000.0
    assert (maths.maxout(after) != maths.maxout(before)).all()


def test_unclipped_maxout_moves_at_a_point_that_another_line_won():  # Fig. 1
    W, b = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 0.5, -1.0])
    x_new, x_1, x_2 = np.array([[0.0], [0.5], [1.75]])
    rows = np.array([x_new, x_1, x_2])
    before = maths.activations(W, b, rows)
    assert maths.maxout_winner(before).tolist() == [1, 1, 2]
    after = maths.activations(W, b + np.array([0.0, 1.0, 0.0]), rows)
    assert maths.maxout_winner(after).tolist() == [1, 1, 1]
    assert maths.maxout(before)[2] == 0.75
    assert maths.maxout(after)[2] == 1.5


@given(st.data(), st.integers(1, 3), st.integers(0, 6))
def test_interfered_if_fixed_is_sharing_in_some_unit(data, m, n):
    number = st.integers(0, 2)
    winners = data.draw(st.lists(st.lists(number, min_size=m, max_size=m), min_size=n, max_size=n))
    new = data.draw(st.lists(number, min_size=m, max_size=m))
    expected = [any(old[i] == new[i] for i in range(m)) for old in winners]
    table = np.array(winners, dtype=np.int64).reshape(n, m)
    assert maths.interfered_if_fixed(table, np.array(new)).tolist() == expected


def test_sharing_one_neuron_in_one_unit_is_enough_to_interfere():
    # Two units of two neurons; the old row shares its neuron with the new one in unit 0 alone, so
    # the paper's "for all i" would call it safe. The update is too small to change any winner.
    W = np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    b = np.array([[0.0, 0.0], [-2.0, 2.0]])
    new, old = np.array([1.0]), np.array([3.0])

    def winners(b, x):
        return np.array([maths.maxout_winner(maths.activations(W[i], b[i], x)) for i in range(2)])

    def h(b, x):
        return [float(maths.maxout(maths.activations(W[i], b[i], x))) for i in range(2)]

    at_new, at_old = winners(b, new), winners(b, old)
    assert (at_new == at_old).tolist() == [True, False]
    moved = b.copy()
    moved[[0, 1], at_new] += 0.125
    assert (winners(moved, old) == at_old).all()
    assert h(moved, old) == [h(b, old)[0] + 0.125, h(b, old)[1]]
    assert maths.interfered_if_fixed(at_old[None], at_new).tolist() == [True]


@pytest.mark.parametrize("neurons", [[], [0], [1, 0], [0, 1]])
def test_of_no_examples_none_is_interfered(neurons):
    assert maths.interfered(np.zeros((0, 2), dtype=bool), neurons).tolist() == []
