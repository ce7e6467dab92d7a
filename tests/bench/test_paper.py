"""The two sides of the benchmark do the same work."""

import numpy as np
import pytest

from minout.bench import growth, paper, speed
from minout.streams import digits


def test_both_sides_learn_the_same_to_the_last_bit():
    ticks: list[int] = []
    told = speed(digits(), 3, lambda: ticks.append(1))
    assert told.examples == told.same_ids_rehearsed == len(ticks) == 30
    assert told.same_weights
    assert told.same_curves
    assert told.seconds > 0
    assert told.specification_seconds > 0


def test_a_side_that_differs_is_seen(monkeypatch):
    monkeypatch.setattr(paper, "TRAINING", paper.TRAINING._replace(learning_rate=0.02))
    told = speed(digits(), 2)
    assert told.same_ids_rehearsed < 20
    assert not told.same_weights
    assert not told.same_curves


@pytest.mark.parametrize("stored", [5, 40])
def test_growth_leaves_both_sides_with_the_same_weights(monkeypatch, stored):
    layers = []
    learner = paper.Learner

    class Kept(learner):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            layers.append(self)

    teach = paper._teach

    def kept(layer, stream, i):
        layers.append(layer)
        return teach(layer, stream, i)

    monkeypatch.setattr(paper, "Learner", Kept)
    monkeypatch.setattr(paper, "_teach", kept)
    told = growth(digits(), stored, more=3)
    assert told.stored == stored
    assert len(layers[0]) == stored + 3
    assert all(np.array_equal(a, b) for a, b in zip(layers[0].layer, layers[-1], strict=True))
