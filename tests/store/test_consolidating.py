"""A model may be changed while it is consolidated: what was changed is in the result."""

import pytest

from minout import Learner, steps
from oracle.margin import stream

ROWS, LABELS = stream(5, examples=40, features=3, apart=0.5)
NAMES = ["abc"[y] for y in LABELS.tolist()]
PINNED = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": True}


def changes(other):
    other.teach(ROWS[0] + 0.1, "a", id="late")
    other.teach([9.0, 9.0, 9.0], "new", id="new")
    other.correct("e1", "b" if NAMES[1] != "b" else "c")
    other.forget(["e2", "e3"])
    other.update("e4", ROWS[4] + 0.2)


def widens(other):
    other.widen(1)
    other.teach([0.0, 0.0, 0.0, 1.0], "wide", id="wide")


@pytest.mark.parametrize("change", [changes, widens])
@pytest.mark.parametrize("kind", ["another process", "another thread"])
def test_what_others_change_meanwhile_is_in_the_result(tmp_path, monkeypatch, change, kind):
    learner = Learner.open(tmp_path / "model", **PINNED)
    learner.teach_many(ROWS, NAMES, ids=[f"e{i}" for i in range(len(ROWS))])
    expected = Learner(**PINNED)
    expected.teach_many(ROWS, NAMES, ids=[f"e{i}" for i in range(len(ROWS))])
    change(expected)
    other = Learner.open(tmp_path / "model") if kind == "another process" else learner
    compute, pending = steps.consolidate, [change]

    def consolidate(state):
        found = compute(state)
        while pending:
            pending.pop()(other)  # it does not wait: nobody holds the lock
        return found

    monkeypatch.setattr(steps, "consolidate", consolidate)
    learner.consolidate()
    assert {each: learner.example(each)[1] for each in learner.ids} == {
        each: expected.example(each)[1] for each in expected.ids
    }
    assert learner.corrected == expected.corrected
    assert learner.is_consolidated
    assert learner.audit().ok
    expected.consolidate()
    probe = learner.inspect(), expected.inspect()
    assert [w.tobytes() for w in (probe[0].origin, probe[0].K)] == [
        w.tobytes() for w in (probe[1].origin, probe[1].K)
    ]
    rows = [learner.example(each)[0] for each in learner.ids]
    assert (learner.scores(rows) == expected.scores(rows)).all()
    reopened = Learner.open(tmp_path / "model", read_only=True)
    assert (reopened.scores(rows) == expected.scores(rows)).all()
