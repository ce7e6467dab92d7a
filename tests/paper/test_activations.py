"""The table of activations: it grows without losing a bit, and says when it is full."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.paper import Closed, GradientRule, PaperLearner, activations
from oracle.recording import stream
from oracle.snapshot import snapshot

RULE = GradientRule(neurons=3, learning_rate=0.25, max_steps=5)


@pytest.mark.parametrize("limit", [8, 12])
def test_a_full_table_refuses_the_next_example_and_keeps_the_rest(monkeypatch, limit):
    monkeypatch.setattr(activations, "LIMIT", limit)
    rows, labels = stream(4, examples=limit + 1, features=3)
    learner = PaperLearner(range(3), rule=RULE, policy=Closed())
    for x, y in zip(rows[:limit], labels[:limit].tolist(), strict=True):
        learner.teach(x, y)
    assert learner._units.activations._products.shape == (limit, limit)
    before = snapshot(learner)
    for _ in range(2):
        with pytest.raises(InvalidInputError, match=rf"stops at {limit} of them.*\.$"):
            learner.teach(rows[limit], int(labels[limit]))
        assert snapshot(learner) == before
    learner._check()
    assert len(learner) == limit
    assert len(learner.predict(rows)) == limit + 1


def test_growing_loses_nothing():
    rows, labels = stream(5, examples=35, features=3)
    learner = PaperLearner(range(3), rule=RULE, policy=Closed())
    for n, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True), start=1):
        learner.teach(x, y)
        kept = learner._units.activations
        for unit, (W, b) in enumerate(zip(*learner.layer, strict=True)):
            assert (kept.of_unit(unit)[:, :n] == (rows[:n] @ W.T + b).T).all()
        assert (kept._products[:n, :n] == rows[:n] @ rows[:n].T + 1.0).all()


@pytest.mark.parametrize("damage", ["activation", "weight", "index"])
def test_check_sees_a_learner_that_tells_two_stories(damage):
    rows, labels = stream(6, examples=5, features=3)
    learner = PaperLearner(range(3), rule=RULE)
    for x, y in zip(rows, labels.tolist(), strict=True):
        learner.teach(x, y)
    learner._check()
    units = learner._units
    if damage == "activation":
        units.activations._a[1, 2, 3] += 0.001
    elif damage == "weight":
        units.layer.b[0, 1] -= 0.001
    else:
        units.index.replace(0, [1], ~units.activations.clipped(0, np.array([1]), -2.2, 5))
    with pytest.raises(AssertionError, match="differ"):
        learner._check()
