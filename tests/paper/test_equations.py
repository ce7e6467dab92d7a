"""The paper's equations against the same formulas in loops and fractions, and its theorem."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from minout import maths
from minout.paper import equations as eq
from oracle import loss, sets, units
from oracle.eighths import arrays

NEURONS = 4
TABLES = st.lists(st.lists(st.booleans(), min_size=NEURONS, max_size=NEURONS), max_size=8).map(
    lambda rows: np.array(rows, dtype=bool).reshape(-1, NEURONS)
)
NEURON = st.integers(0, NEURONS - 1)


@st.composite
def cases(draw):
    """Draw a unit W (k, d), b (k,) and rows (n, d), small enough for ties to be common."""
    n, k, d = draw(st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4)))
    return tuple(draw(arrays(*shape, lowest=-8, highest=8)) for shape in ((k, d), (k,), (n, d)))


@st.composite
def updates(draw):
    """Draw a set J of neurons, and a unit's activations before and after an update of J alone."""
    W, b, rows = draw(cases())
    J = sorted(draw(st.sets(st.integers(0, len(b) - 1))))
    after_W, after_b = W.copy(), b.copy()
    after_W[J] += draw(arrays(len(J), W.shape[1], lowest=-800, highest=800))
    after_b[J] += draw(arrays(len(J), lowest=-800, highest=800))
    return J, eq.activations(W, b, rows), eq.activations(after_W, after_b, rows)


def exactly(case):
    W, b, rows = (units.fractions(each.tolist()) for each in case)
    return [units.activations(W, b, x) for x in rows]


def where(mask):
    return set(np.flatnonzero(mask).tolist())


@given(cases())
def test_units_equal_the_oracle(case):
    a, judged = eq.activations(*case), exactly(case)
    assert a.tolist() == judged
    for ours, theirs in [
        (eq.maxout, units.maxout),
        (eq.clipped_maxout, units.clipped_maxout),
        (eq.clipped_minout, units.clipped_minout),
        (eq.maxout_winner, units.first_largest),
    ]:
        assert ours(a).tolist() == [theirs(each) for each in judged], ours.__name__
    for ours, theirs in [(eq.sigmoid_minout, units.sigmoid_minout), (eq.gate, units.gate)]:
        np.testing.assert_allclose(ours(a), [theirs(each) for each in judged], rtol=1e-14)


@given(cases())
def test_negated_weights_mirror_the_unit(case):  # eq. (12), (13)
    W, b, rows = case
    mirrored = -eq.clipped_minout(eq.activations(-W, -b, rows))
    assert (eq.clipped_maxout(eq.activations(W, b, rows)) == mirrored).all()


def test_sigmoid_of_a_huge_number_is_0_or_1_without_a_warning():
    assert eq.sigmoid(np.array([-1e300, -1e3, 0.0, 1e3, 1e300])).tolist() == [0, 0, 0.5, 1, 1]


@given(st.integers(1, 3), cases())
def test_theta_holds_all_that_the_output_needs(m, case):  # eq. (6)
    W, b, rows = case
    x = rows[0]
    Ws = np.stack([np.roll(W, i, axis=0) * (i + 1) for i in range(m)])
    bs = np.stack([np.roll(b, i) for i in range(m)])
    a = np.stack([eq.activations(*unit, x) for unit in zip(Ws, bs, strict=True)])
    weights, biases = eq.theta(Ws, bs, eq.maxout_winner(a))
    assert (weights @ x + biases == eq.maxout(a)).all()


@given(st.lists(st.integers(-16, 16), min_size=1, max_size=6))
def test_clipped_neurons_equal_the_oracle(eighths):
    a = np.array(eighths) / 8
    assert where(eq.clipped(a)) == sets.clipped_hard(a.tolist())
    assert where(eq.clipped_above(a)) == sets.clipped_above(a.tolist())


@given(st.integers(-50 * 2**24, 10 * 2**24) | st.integers(-36865000, -36861000))
def test_sigmoid_clip_is_the_papers_threshold_moved_before_the_sigmoid(steps):
    a = steps / 2**24  # the second range is close about log(0.1 / 0.9)
    assert bool(eq.clipped(np.float64(a), eq.SIGMOID_CLIP)) == (units.sigmoid(a) < 0.1)


@given(TABLES, NEURON, st.sets(NEURON))
def test_the_three_sets_and_the_rule_for_many_neurons_equal_the_oracle(table, neuron, neurons):
    clipped = [where(row) for row in table]
    found = maths.partition(table, neuron)
    assert tuple(where(mask) for mask in found) == sets.three_sets(clipped, neuron)
    assert where(maths.interfered(table, neurons)) == sets.interfered(clipped, neurons)
    assert (maths.interfered(table, [neuron]) == (found.s1 | found.s2)).all()


@given(updates())
def test_an_update_of_j_changes_no_output_unless_all_clipped_neurons_are_in_j(update):
    J, before, after = update
    for h, clipped in ((eq.clipped_minout, eq.clipped), (eq.clipped_maxout, eq.clipped_above)):
        outside = ~maths.interfered(clipped(before), J)
        assert (h(after)[outside] == h(before)[outside]).all()
        assert (h(before)[outside] == 0).all()


@settings(max_examples=50)
@given(updates())
def test_every_interfered_example_is_moved_by_some_update(update):
    J, before, _ = update
    assume(J)
    lifted, sunk = before.copy(), before.copy()
    lifted[:, J] += 1000.0
    sunk[:, J] -= 1000.0
    h = eq.clipped_minout(before)
    moves = (eq.clipped_minout(lifted) != h) | (eq.clipped_minout(sunk) != h)
    assert (moves == maths.interfered(eq.clipped(before), J)).all()
    assert (eq.maxout(lifted) != eq.maxout(before)).all()  # unclipped maxout has no S3


def test_sharing_one_neuron_in_one_unit_is_enough_to_interfere():
    # Two units of two neurons; the old row shares its neuron with the new one in unit 0 alone, so
    # the paper's "for all i" would call it safe. The update is too small to change any winner.
    W = np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    b = np.array([[0.0, 0.0], [-2.0, 2.0]])
    new, old = np.array([1.0]), np.array([3.0])

    def at(b, x, what):
        return np.array([what(eq.activations(W[i], b[i], x)) for i in range(2)])

    at_new, at_old = at(b, new, eq.maxout_winner), at(b, old, eq.maxout_winner)
    assert (at_new == at_old).tolist() == [True, False]
    moved = b.copy()
    moved[[0, 1], at_new] += 0.125
    assert (at(moved, old, eq.maxout_winner) == at_old).all()
    assert (at(moved, old, eq.maxout) - at(b, old, eq.maxout)).tolist() == [0.125, 0.0]
    assert eq.interfered_if_fixed(at_old[None], at_new).tolist() == [True]
    assert eq.interfered_if_fixed(1 - at_new[None], at_new).tolist() == [False]


@given(st.floats(-30, 30), st.booleans())
def test_the_loss_is_the_textbooks_and_its_slope_is_the_error(a, positive):
    found = eq.cross_entropy(np.array(a), np.array(positive))
    assert found == pytest.approx(loss.cross_entropy(a, positive), rel=1e-12)
    slope = loss.slope_by_differences(lambda at: loss.cross_entropy(at, positive), a)
    assert units.sigmoid(a) - positive == pytest.approx(slope, abs=1e-7)  # what a step goes down
