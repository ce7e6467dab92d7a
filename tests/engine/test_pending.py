"""Examples with a low margin in a separator with a large pool wait until settling it pays."""

import copy

import numpy as np
import pytest

from minout import Learner, engine
from minout.engine import separators
from oracle.margin import SETTINGS, everything, loaded, margins_by_label, model_bits, saved
from oracle.states import new_state, teach, written


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


def test_overlapping_classes_move_a_separator_rarely_once_its_pool_is_large():
    rows, labels = overlapping(1_200)
    learner, _ = taught(rows[:600], labels[:600])
    moves = sum(
        bool(learner.teach(x, "ab"[y]).certificate.moved)
        for x, y in zip(rows[600:], labels[600:], strict=True)
    )
    audit = learner.audit()
    assert audit.ok, audit.differences
    (separator,) = learner.inspect().separators.values()
    assert len(separator.ids) > 400
    assert moves < 60


@pytest.mark.parametrize("kind", ["plain", "all", "auto"])
def test_the_consolidated_model_is_that_of_settling_at_once(kind, monkeypatch):
    rows, labels = overlapping(500)
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
def test_what_waits_is_fitted_or_listed():
    learner = waiting()
    view, listed = learner.inspect(), set(learner.misfits)
    for example in learner.pending:
        row, label = learner.example(example)
        (margin, _), *_ = margins_by_label(view, row, label).values()
        assert margin < 0.5
        assert (margin <= 0.0) == (example in listed)


@pytest.mark.usefixtures("many_wait")
def test_settling_lets_nobody_wait_and_a_second_call_changes_nothing():
    learner = waiting()
    certificate = learner.settle()
    assert [frozenset(pair) for pair in certificate.moved] == [frozenset("ab")]
    assert learner.pending == []
    assert learner.audit().ok
    before = everything(learner)
    assert learner.settle().moved == ()
    assert everything(learner) == before


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
def test_what_waits_is_saved_and_copied():
    learner = waiting()
    for other in (loaded(saved(learner)), copy.deepcopy(learner)):
        assert other.pending == learner.pending
        assert everything(other) == everything(learner)
    rows, labels = overlapping(30, seed=1)
    other = loaded(saved(learner))
    for each in (learner, other):
        each.teach_many(rows, ["ab"[y] for y in labels])
    assert everything(other) == everything(learner)


@pytest.mark.usefixtures("many_wait")
def test_changes_that_let_examples_wait_can_be_taken_back_and_made_twice():
    rows, labels = overlapping(60)
    state = new_state(3, **SETTINGS["plain"], refresh="manual")
    for i in range(40):
        teach(state, rows[i], "ab"[labels[i]], i)
    before, rollback = written(state), engine.Rollback(state)
    waited = 0
    for i in range(40, 60):
        delta = engine.teach(state, rows[i], "ab"[labels[i]], i)
        waited += bool(delta.certificate.pending)
        rollback.record(delta)
        engine.apply(state, delta)
        after = written(state)
        engine.apply(state, delta)
        assert written(state) == after
    assert waited > 3
    engine.apply(state, rollback.delta())
    assert written(state) == before
