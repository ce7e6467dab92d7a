"""Small separators many at a time, large ones two: who goes which way is of no account."""

import numpy as np
import pytest

from minout import Learner
from minout.features import Identity
from minout.rules import MarginRule, batch, pool
from oracle.margin import differs, snapshot

RULES = {
    "plain": MarginRule(price=0.01, metric=False, prior=False, columns=False),
    "means": MarginRule(price=0.1, metric=False, prior=True, columns=False),
    "lda": MarginRule(price=0.1, metric=True, prior=True, columns=True),
    "auto": MarginRule(),
}


def walked(rule, dtype="float64", *, then=lambda _: None):
    rng = np.random.default_rng(15)
    labels = rng.integers(0, 6, 90)
    rows = rng.normal(size=(90, 12)) + 0.9 * rng.normal(size=(6, 12))[labels]
    learner = Learner(rule=RULES[rule], features=Identity(dtype))
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=i)
    learner.correct(3, 1)
    learner.forget([10, 11, 12])
    then(learner)
    learner.teach(rows[0] + 1.0, 2)
    return learner


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_small_pools_keep_and_how_a_batch_is_divided_changes_no_bit(rule, dtype, monkeypatch):
    usual = snapshot(walked(rule, dtype))
    monkeypatch.setattr(pool, "SMALL_ROOM", 0)
    assert differs(snapshot(walked(rule, dtype)), usual) == []
    monkeypatch.setattr(batch, "WORTH_DIVIDING", 0)
    assert differs(snapshot(walked(rule, dtype)), usual) == []


@pytest.mark.parametrize("rule", RULES)
def test_the_way_of_large_pools_ends_at_the_same_model(rule, monkeypatch):
    probe = np.random.default_rng(3).normal(size=(40, 12))
    usual = walked(rule, then=Learner.consolidate)
    monkeypatch.setattr(pool, "CHEAP", 0)
    other = walked(rule, then=Learner.consolidate)
    assert other.exceptions == usual.exceptions
    assert other.scores(probe) == pytest.approx(usual.scores(probe), abs=1e-6)
    assert other.audit().ok
    assert usual.audit().ok


def test_a_separator_that_a_batch_cannot_solve_is_settled_the_other_way(monkeypatch):
    wanted = walked("plain", then=Learner.consolidate)
    monkeypatch.setattr(
        "minout.learner._settle.solve_and_look", lambda pools, *_: [None for _ in pools]
    )
    found = walked("plain", then=Learner.consolidate)
    assert found.audit().ok
    probe = np.random.default_rng(3).normal(size=(40, 12))
    assert found.scores(probe) == pytest.approx(wanted.scores(probe), abs=1e-6)


def test_with_one_class_there_is_nothing_to_renew():
    learner = Learner(rule=MarginRule(metric=True, prior=True))
    for row in np.random.default_rng(0).normal(size=(10, 2)):
        learner.teach(row, "only")
    assert not learner._margin.is_due(0)
