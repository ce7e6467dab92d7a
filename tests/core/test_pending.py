"""Examples with a low margin in a separator with a large pool wait until settling it pays."""

import numpy as np
import pytest

from minout import Learner
from minout.core import separators
from oracle.margin import SETTINGS, model_bits


def overlapping(examples, *, features=3, apart=1.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, examples)
    rows = rng.normal(size=(examples, features))
    rows[:, 0] += apart * labels
    return rows, labels


def taught(rows, labels, **settings):
    learner, moves = Learner(**settings), 0
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        moves += bool(learner.teach(x, "ab"[y], id=i).certificate.moved)
    return learner, moves


@pytest.fixture
def many_wait(monkeypatch):
    monkeypatch.setattr(separators, "LARGE_POOL", 4)
    monkeypatch.setattr(separators, "PENDING_SHARE", 5.0)


def waiting(**settings):
    """Return a learner in which several examples wait, some of them misfits."""
    rows, labels = overlapping(40)
    learner, _ = taught(rows, labels, **{"refresh": "manual", **SETTINGS["plain"], **settings})
    assert len(learner.pending) > 5
    assert set(learner.pending) & set(learner.misfits)
    assert set(learner.pending) - set(learner.misfits)
    return learner


@pytest.mark.parametrize("kind", ["plain", "all"])
def test_the_consolidated_model_is_that_of_settling_at_once(kind, monkeypatch):
    rows, labels = overlapping(300)
    waited, moves = taught(rows, labels, **SETTINGS[kind])
    monkeypatch.setattr(separators, "PENDING_SHARE", 0.0)
    at_once, more = taught(rows, labels, **SETTINGS[kind])
    assert moves < more
    for learner in (waited, at_once):
        learner.consolidate()
        assert learner.pending == []
    assert model_bits(waited) == model_bits(at_once)
    assert waited.misfits == at_once.misfits


def test_only_fitted_examples_wait_where_a_check_is_costly(monkeypatch):
    monkeypatch.setattr(separators, "COSTLY", 0)
    monkeypatch.setattr(separators, "FITTED_SHARE", 5.0)
    rows, labels = overlapping(60)
    learner = Learner(refresh="manual", **SETTINGS["plain"])
    waited = 0
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        misfits = learner.misfits if i else []
        report = learner.teach(x, "ab"[y], id=i)
        if report.pending:
            waited += 1
            assert report.certificate.moved == ()
            assert learner.misfits == misfits
            assert 0.0 < report.certificate.least_margin < 0.5
    assert waited > 3
    assert learner.audit().ok


@pytest.mark.usefixtures("many_wait")
def test_a_correction_is_settled_at_once():
    learner = waiting()
    example = next(i for i in learner.ids if i not in learner.pending)
    label = learner.example(example)[1]
    report = learner.correct(example, "b" if label == "a" else "a")
    assert report.pending == ()
    assert report.certificate.moved
    assert learner.pending == []


@pytest.mark.usefixtures("many_wait")
def test_a_report_and_what_if_say_that_nothing_moves():
    learner = waiting()
    row = learner.example(learner.pending[0])[0]
    label = learner.example(learner.pending[0])[1]
    assert learner.what_if(row, label).neurons == {}
    report = learner.teach(row, label, id="again")
    assert report.certificate.moved == ()
    assert {frozenset(pair) for pair in report.pending} == {frozenset("ab")}
    assert "again" in learner.pending
    assert report.certificate.least_margin < 0.5


@pytest.mark.usefixtures("many_wait")
def test_what_waits_can_be_forgotten_or_corrected():
    learner = waiting()
    first, second, *_ = learner.pending
    learner.forget(first)
    assert first not in learner.pending
    label = learner.example(second)[1]
    learner.correct(second, "b" if label == "a" else "a")
    assert second not in learner.pending
    assert learner.audit().ok


@pytest.mark.usefixtures("many_wait")
def test_a_separator_does_not_lean_on_what_was_forgotten():
    learner = waiting()
    learner.settle()
    (separator,) = learner.inspect().separators.values()
    used = [i for i, alpha in zip(separator.ids, separator.alpha, strict=True) if alpha > 0.0]
    assert learner.forget(used[0]).moved
    assert learner.explain(learner.example(used[1])[0]).forgotten == 0.0
