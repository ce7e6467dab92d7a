"""A model may be changed while it is consolidated: what was changed is in the result."""

import numpy as np
import pytest

from minout import Learner, steps, store
from oracle.margin import stream

ROWS, LABELS = stream(5, examples=40, features=3, apart=0.5)
NAMES = ["abc"[y] for y in LABELS.tolist()]
PINNED = {"C": 5.0, "whiten": False, "lda_prior": False, "standardize": True}
KINDS = {
    "all": PINNED,
    "newest": PINNED | {"keep": 38},
    "per label": PINNED | {"keep": {"per_label": 12}},
    "codes": PINNED | {"memory": "uint8", "expand": None},
}


def changes(other):
    stored = [each for each in other.ids if isinstance(each, str)]
    other.teach(ROWS[0] + 0.1, "a", id="gone")
    other.teach(ROWS[0] + 0.1, "a", id="late", weight=2.0)
    other.teach([9.0, 9.0, 9.0], "new")
    other.forget("gone")
    other.correct(stored[-1], "b" if other.example(stored[-1])[1] != "b" else "c")
    other.forget(stored[-3:-1])
    other.update(stored[-4], ROWS[4] + 0.2)
    other.correct(stored[-5], other.example(stored[-5])[1], weight=3.0)


def swaps(other):
    """Exchange two labels that have as many examples as the window keeps."""
    a, b = ([n for n in other.ids if other.example(n)[1] == y] for y in "ab")
    other.forget(b[-1])
    other.correct(a[-1], "b")
    other.correct(b[0], "a")  # it was taught before the other one
    other.teach(ROWS[7] + 0.1, "b", id="late")


def forgets_all(other):
    other.forget(other.ids)
    other.teach(ROWS[1], "z", id="only")


def nothing(other):
    other.notes["seen"] = True
    with other.turn():
        pass


def widens(other):
    other.widen(1)
    other.teach([0.0, 0.0, 0.0, 1.0], "wide", id="wide")


def keeps_fewer(other):
    other.set_keep(20)


def taught(learner):
    learner.teach_many(ROWS, NAMES, ids=[f"e{i}" for i in range(len(ROWS))])
    return learner


def known(learner):
    return {
        each: (learner.example(each)[0].tolist(), learner.example(each)[1], learner.weight(each))
        for each in learner.ids
    }


CASES = [
    *((kind, changes) for kind in KINDS),
    ("per label", swaps),
    ("all", forgets_all),
    ("all", nothing),
    ("all", widens),
    ("all", keeps_fewer),
]


@pytest.mark.parametrize(("kind", "change"), CASES)
@pytest.mark.parametrize("who", ["another process", "another thread"])
def test_what_others_change_meanwhile_is_in_the_result(tmp_path, monkeypatch, kind, change, who):
    file = tmp_path / "model"
    learner = taught(Learner.open(file, **KINDS[kind]))
    expected = taught(Learner(**KINDS[kind]))
    change(expected)
    other = Learner.open(file) if who == "another process" else learner
    compute, calls = steps.consolidate, []

    def consolidate(state, executor):
        found = compute(state, executor)
        if not calls:
            change(other)  # it does not wait: nobody holds the lock
        calls.append(None)
        return found

    monkeypatch.setattr(steps, "consolidate", consolidate)
    learner.consolidate()
    assert len(calls) == (2 if change in (widens, keeps_fewer) else 1)
    assert learner.is_consolidated == (change in (nothing, widens, keeps_fewer))
    assert known(learner) == known(expected)
    assert learner.corrected == expected.corrected
    assert learner.audit().ok
    assert store.audit(file).ok
    other.reload()
    rows = np.array([learner.example(each)[0] for each in learner.ids])
    if len(learner.classes) > 1:
        assert (other.scores(rows) == learner.scores(rows)).all()
    for each in (learner, expected):
        each.consolidate()
        each.teach(rows[0], learner.classes.tolist()[0])  # the next free id is the same
    assert learner.ids == expected.ids
    for each in (learner, expected):
        each.consolidate()
    if len(learner.classes) > 1:
        assert (learner.scores(rows) == expected.scores(rows)).all()
        reopened = Learner.open(file, read_only=True)
        assert (reopened.scores(rows) == expected.scores(rows)).all()


def test_an_entry_of_the_log_keeps_its_id_when_it_is_repeated(tmp_path, monkeypatch):
    learner = taught(Learner.open(tmp_path / "model", **PINNED))
    compute = steps.consolidate

    def consolidate(state, executor):
        found = compute(state, executor)
        learner.teach([9.0, 9.0, 9.0], "new", id="late")
        return found

    monkeypatch.setattr(steps, "consolidate", consolidate)
    learner.consolidate()
    entries = store.read_log(tmp_path / "model")
    assert [each.action for each in entries if each.id == "late"] == ["teach"]
