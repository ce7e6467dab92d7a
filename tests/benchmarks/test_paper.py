"""The two sides of the benchmark do the same work."""

import numpy as np
import pytest

from benchmarks import paper
from benchmarks.paper import growth, speed
from minout.streams import digits

DATA = digits()
FEW = DATA._replace(test_rows=DATA.test_rows[:20], test_labels=DATA.test_labels[:20])


def test_both_sides_learn_the_same_to_the_last_bit():
    ticks: list[int] = []
    found = speed(FEW, 2, lambda: ticks.append(1))
    assert found.examples == found.same_ids_rehearsed == len(ticks) == 20
    assert found.same_weights
    assert found.same_curves
    assert found.seconds > 0
    assert found.specification_seconds > 0


def test_a_side_that_differs_is_seen(monkeypatch):
    monkeypatch.setattr(paper, "TRAINING", paper.TRAINING._replace(learning_rate=0.02))
    found = speed(FEW, 1)
    assert found.same_ids_rehearsed < 10
    assert not found.same_weights
    assert not found.same_curves


@pytest.mark.parametrize("stored", [5, 40])
def test_growth_leaves_both_sides_with_the_same_weights(monkeypatch, stored):
    learners, layers = [], []
    new_learner, teach = paper.new_paper_learner, paper._teach

    def keep_learner(*args, **kwargs):
        learners.append(new_learner(*args, **kwargs))
        return learners[-1]

    def keep_layer(layer, stream, i):
        layers.append(layer)
        return teach(layer, stream, i)

    monkeypatch.setattr(paper, "new_paper_learner", keep_learner)
    monkeypatch.setattr(paper, "_teach", keep_layer)
    assert growth(FEW, stored, more=3).stored == stored
    (learner,) = learners
    assert len(learner) == stored + 3
    assert all(np.array_equal(a, b) for a, b in zip(learner.layer, layers[-1], strict=True))
