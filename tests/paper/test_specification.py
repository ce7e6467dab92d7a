"""The specification against the paper's training in exact fractions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.paper import GradientRule
from minout.paper.equations import GRID
from minout.paper.specification import Layer, Rehearsal, choose, initial_layer, teach
from oracle import sets, training
from oracle.eighths import drawn
from oracle.units import fractions


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("clip", ["hard", "sigmoid"])
@pytest.mark.parametrize("policy", ["none", "conditional", "closed"])
def test_teaching_is_the_paper_in_fractions(policy, clip, reduction):
    rehearsed = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        layer = Layer(drawn(rng, 2, 3, 3), drawn(rng, 2, 3, size=2))
        rows, labels = drawn(rng, 6, 3), rng.integers(0, 2, 6)
        W, b, exact = (fractions(each.tolist()) for each in (*layer, rows))
        knobs = {"learning_rate": 0.5, "reduction": reduction, "clip": clip, "max_steps": 40}
        for n in range(1, 7):
            told = Rehearsal(policy, None, rng)
            traces = teach(layer, rows[:n], labels[:n], GradientRule(neurons=3, **knobs), told)
            judged = training.teach(
                W, b, exact[:n], labels[:n].tolist(), policy, stop_loss=0.1, **knobs
            )
            for trace, steps in zip(traces, judged, strict=True):
                assert [each.tolist() for each in trace.rehearsed] == [
                    chosen for chosen, _ in steps
                ]
                assert [each.tolist() for each in trace.moved] == [moved for _, moved in steps]
                rehearsed += sum(len(chosen) for chosen, _ in steps)
            assert layer.W.tolist() == W
            assert layer.b.tolist() == b
    assert (rehearsed > 0) == (policy != "none")


@st.composite
def situations(draw):
    k = draw(st.integers(1, 4))
    table = draw(st.lists(st.lists(st.booleans(), min_size=k, max_size=k), max_size=6))
    n = len(table) + 1
    winners = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    return np.array(table, dtype=bool).reshape(-1, k), np.array(winners, dtype=np.int64)


@given(situations(), st.integers(0, 7))
def test_policies_choose_what_they_say(situation, budget):
    table, winners = situation
    rng = np.random.default_rng(budget)

    def chosen(policy, budget=None):
        found = choose(Rehearsal(policy, budget, rng), *situation).tolist()
        assert found == sorted(set(found))
        return found

    clipped = [set(np.flatnonzero(row).tolist()) for row in table]
    at_risk = sorted(sets.interfered(clipped, {winners[-1]}))
    assert chosen("none") == []
    assert chosen("conditional") == at_risk
    assert chosen("closed") == sorted(sets.closure(clipped, winners.tolist(), winners[-1]))
    some = chosen("conditional", budget)
    assert len(some) == min(budget, len(at_risk))
    assert set(some) <= set(at_risk)
    assert len(chosen("random", budget)) == min(budget, len(table))


def test_initial_weights_lie_on_the_grid_and_biases_are_0():
    layer = initial_layer(2, 4, GradientRule(neurons=3), np.random.default_rng(5))
    again = np.random.default_rng(5).normal(0.0, 0.3, (2, 3, 4))
    assert (np.rint(layer.W * GRID) == layer.W * GRID).all()
    assert np.abs(layer.W - again).max() <= 0.5 / GRID
    assert (layer.b == np.zeros((2, 3))).all()


@pytest.mark.parametrize(
    "setting",
    [
        {"neurons": 0}, {"neurons": 2.5}, {"max_steps": 0}, {"learning_rate": 0.0},
        {"learning_rate": float("nan")}, {"stop_loss": -1.0}, {"initial_scale": float("inf")},
        {"reduction": "median"}, {"clip": "soft"},
    ],
    ids=["neurons", "half", "steps", "rate", "nan", "loss", "scale", "reduction", "clip"],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused_by_name(setting):
    with pytest.raises(InvalidInputError, match=f"`{next(iter(setting))}`"):
        GradientRule(**setting)
