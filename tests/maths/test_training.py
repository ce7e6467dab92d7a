"""The specification of training against the paper's loop in exact fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import maths
from minout.maths import Layer, Training
from oracle import sets, training
from oracle.eighths import drawn
from oracle.loss import GRID
from oracle.units import activations, fractions

CHOOSE = {
    "none": maths.choose_none,
    "conditional": maths.choose_conditional,
    "closed": maths.choose_closed,
}
THRESHOLD = {"hard": maths.HARD_CLIP, "sigmoid": maths.SIGMOID_CLIP}


def judged(policy, clip, reduction, seed, *, examples=6, rate=0.5, cap=40):
    """Teaches a small stream both ways and compares every step and every weight."""
    rng = np.random.default_rng(seed)
    m, k, d = 2, 3, 3
    layer = Layer(drawn(rng, m, k, d), drawn(rng, m, k, size=2))
    rows, labels = drawn(rng, examples, d), rng.integers(0, m, examples)
    W, b, exact = (fractions(each.tolist()) for each in (*layer, rows))
    hyper = Training(rate, reduction, 0.1, cap, THRESHOLD[clip])
    rehearsed = 0
    for n in range(1, examples + 1):
        traces = maths.teach(layer, rows[:n], labels[:n], CHOOSE[policy], hyper)
        judge = training.teach(
            W,
            b,
            exact[:n],
            labels[:n].tolist(),
            policy,
            clip=clip,
            reduction=reduction,
            learning_rate=rate,
            stop_loss=0.1,
            max_steps=cap,
        )
        for trace, steps in zip(traces, judge, strict=True):
            assert [each.tolist() for each in trace.rehearsed] == [chosen for chosen, _ in steps]
            assert [each.tolist() for each in trace.moved] == [moved for _, moved in steps]
            rehearsed += sum(len(chosen) for chosen, _ in steps)
        assert layer.W.tolist() == W
        assert layer.b.tolist() == b
    return rehearsed


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
@pytest.mark.parametrize("policy", ["none", "conditional", "closed"])
def test_teach_equals_the_paper_in_fractions(policy, clip, reduction):
    rehearsed = sum(judged(policy, clip, reduction, seed) for seed in range(3))
    assert (rehearsed > 0) == (policy != "none")


@st.composite
def choices(draw):
    k = draw(st.integers(1, 4))
    row = st.lists(st.booleans(), min_size=k, max_size=k)
    table = draw(st.lists(row, max_size=6))
    neuron = st.integers(0, k - 1)
    winners = draw(st.lists(neuron, min_size=len(table), max_size=len(table)))
    return np.array(table, dtype=bool).reshape(-1, k), np.array(winners, int), draw(neuron)


@given(choices())
def test_choices_equal_the_oracle(choice):
    table, winners, neuron = choice
    clipped = [set(np.flatnonzero(row)) for row in table]
    conditional = sets.interfered(clipped, {neuron})
    closed = sets.closure(clipped, winners.tolist(), neuron)
    assert maths.choose_none(*choice).tolist() == []
    assert maths.choose_conditional(*choice).tolist() == sorted(conditional)
    assert maths.choose_closed(*choice).tolist() == sorted(closed)
    assert conditional <= closed


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([0.1, 0.3, 4.0]))
def test_initial_weights_lie_on_the_grid_and_biases_are_0(seed, scale):
    layer = maths.initial_layer(2, 3, 4, scale, np.random.default_rng(seed))
    drawn_again = np.random.default_rng(seed).normal(0.0, scale, (2, 3, 4))
    assert layer.W.shape == (2, 3, 4)
    assert (layer.b == np.zeros((2, 3))).all()
    assert (np.rint(layer.W * GRID) == layer.W * GRID).all()
    assert np.abs(layer.W - drawn_again).max() <= 0.5 / GRID


def test_scores_are_the_least_activations():
    rng = np.random.default_rng(3)
    layer, rows = Layer(drawn(rng, 2, 3, 4), drawn(rng, 2, 3)), drawn(rng, 5, 4)
    expected = [
        [min(activations(layer.W[i], layer.b[i], x)) for i in range(2)] for x in rows.tolist()
    ]
    assert maths.scores(layer, rows).tolist() == expected


def test_a_fitted_row_moves_nothing():
    layer = Layer(np.array([[[8.0]], [[-8.0]]]), np.zeros((2, 1)))
    traces = maths.teach(layer, np.array([[1.0]]), np.array([0]), maths.choose_closed, Training())
    assert [(trace.rehearsed, trace.moved) for trace in traces] == [([], []), ([], [])]
    assert layer.W.tolist() == [[[8.0]], [[-8.0]]]
    assert all(trace.loss < 0.1 for trace in traces)


def test_a_unit_stops_at_the_cap_with_the_loss_it_has():
    layer = Layer(np.zeros((1, 1, 1)), np.zeros((1, 1)))
    (trace,) = maths.teach(
        layer,
        np.array([[1.0]]),
        np.array([0]),
        maths.choose_none,
        Training(learning_rate=0.125, max_steps=1),
    )
    assert len(trace.moved) == 1
    assert layer.W.tolist() == [[[0.0625]]]  # 0.125 · σ(0)
    assert trace.loss == pytest.approx(np.log1p(np.exp(-0.125)))


def test_a_step_too_small_for_the_grid_moves_no_neuron():
    layer = Layer(np.zeros((1, 2, 1)), np.zeros((1, 2)))
    (trace,) = maths.teach(
        layer,
        np.array([[1.0]]),
        np.array([0]),
        maths.choose_none,
        Training(learning_rate=2.0**-30, max_steps=2),
    )
    assert [each.tolist() for each in trace.moved] == [[], []]
    assert (layer.W == 0.0).all()
