"""Small separators are settled many at a time, large ones in threads: the answers are the same."""

import numpy as np
import pytest

from minout import Learner
from minout.engine import batch, pool
from minout.features import Identity
from oracle.margin import SETTINGS, differs, last_move, saved

KINDS = ["plain", "means", "all", "auto"]


def walked(kind, dtype="float64", *, then=lambda _: None):
    rng = np.random.default_rng(15)
    labels = rng.integers(0, 6, 90)
    rows = rng.normal(size=(90, 12)) + 0.9 * rng.normal(size=(6, 12))[labels]
    learner = Learner(**SETTINGS[kind], features=Identity(dtype))
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, y, id=i)
    learner.correct(3, 1)
    learner.forget([10, 11, 12])
    then(learner)
    learner.teach(rows[0] + 1.0, 2)
    return learner


def assert_same(first, second):
    assert differs(saved(first), saved(second)) == []
    assert last_move(first) == last_move(second)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_small_pools_keep_and_how_a_batch_is_divided_changes_no_bit(kind, dtype, monkeypatch):
    usual = walked(kind, dtype)
    monkeypatch.setattr(pool, "SMALL_ROOM", 0)
    assert_same(walked(kind, dtype), usual)
    monkeypatch.setattr(batch, "WORTH_DIVIDING", 0)
    assert_same(walked(kind, dtype), usual)


@pytest.mark.parametrize("kind", KINDS)
def test_the_way_of_large_pools_ends_at_the_same_model(kind, monkeypatch):
    probe = np.random.default_rng(3).normal(size=(40, 12))
    usual = walked(kind, then=Learner.consolidate)
    monkeypatch.setattr(pool, "CHEAP", 0)
    other = walked(kind, then=Learner.consolidate)
    assert other.misfits == usual.misfits
    assert other.scores(probe) == pytest.approx(usual.scores(probe), abs=1e-6)
    assert other.audit().ok
    assert usual.audit().ok


def test_a_separator_that_a_batch_cannot_solve_is_settled_the_other_way(monkeypatch):
    wanted = walked("plain", then=Learner.consolidate)
    monkeypatch.setattr(
        "minout.engine.settle.solve_and_measure", lambda pools, *_: [None for _ in pools]
    )
    found = walked("plain", then=Learner.consolidate)
    assert found.audit().ok
    probe = np.random.default_rng(3).normal(size=(40, 12))
    assert found.scores(probe) == pytest.approx(wanted.scores(probe), abs=1e-6)


def test_with_one_class_there_is_nothing_to_renew():
    learner = Learner(whiten=True, lda_prior=True)
    for row in np.random.default_rng(0).normal(size=(10, 2)):
        learner.teach(row, "only")
    assert not learner.what_if([0.5, 0.5], "only").refresh
    assert learner.teach([0.5, 0.5], "only").refresh is None
