"""A call that cannot be solved is refused, and then nothing has changed, to the last bit."""

import copy

import numpy as np
import pytest

from long import LONG
from minout import InvalidInputError, Learner
from minout.core import draft
from minout.errors import NotConverged
from minout.features import Identity
from oracle.margin import SETTINGS, everything, reloaded, stream

ROWS, LABELS = stream(8, examples=70, classes=4, features=3, apart=0.6)
NAMES = ["abcd"[y] for y in LABELS.tolist()]
TOO_DIFFERENT = "differ too much in size"


def fail_from(patch, first):
    """Let the settling of separators fail from that call on; return how often it was called."""
    real, made = draft.settle, 0

    def settle(*args):
        nonlocal made
        made += 1
        if first is not None and made >= first:
            raise NotConverged("on purpose")
        return real(*args)

    patch.setattr(draft, "settle", settle)
    return lambda: made


def is_refused(call):
    """Return whether a call is refused because numbers differ too much in size."""
    try:
        call()
    except InvalidInputError as error:
        if TOO_DIFFERENT not in str(error):
            raise
        return True
    return False


def taught(count, **settings):
    learner = Learner(**settings)
    for i in range(count):
        learner.teach(ROWS[i], NAMES[i], id=f"row {i}")
    return learner


def emptied(**settings):
    learner = taught(9, **settings)
    learner.forget(learner.ids)
    return learner


def of_two_classes(count, **settings):
    learner = Learner(**settings)
    for x, name in zip(ROWS, NAMES, strict=True):
        if name in "ab" and len(learner) < count:
            learner.teach(x, name)
    return learner


def with_gaps(**settings):
    learner = taught(16, **settings)
    learner.forget(["row 3", "row 8"])
    learner.correct("row 5", "a" if NAMES[5] != "a" else "b")
    return learner


STARTS = {
    "nothing": lambda: Learner(**SETTINGS["loose"]),
    "nothing left": lambda: emptied(**SETTINGS["loose"]),
    "two classes": lambda: of_two_classes(7, **SETTINGS["plain"]),
    "auto": lambda: taught(12),
    "manual": lambda: taught(12, **SETTINGS["lda"], refresh="manual"),
    "gaps": lambda: with_gaps(**SETTINGS["all"], features=Identity("float32")),
    "far": lambda: taught(12, **SETTINGS["all"], near_classes=1, features=Identity("float32")),
    "far gaps": lambda: with_gaps(**SETTINGS["means"], near_classes=1),
    "far later": lambda: taught(12, **SETTINGS["lda"], near_classes=4),
    "named": lambda: taught(12, **SETTINGS["loose"]),
}
POINTS = 40 if LONG else 4
"""At so many of its calls, evenly spread, the settling of separators fails."""


def more(start):
    """Return what is taught on top: new labels between known ones, and over 40 rows."""
    names = [name.upper() if i % 5 == 3 else name for i, name in enumerate(NAMES[20:])]
    return ROWS[20:], names, [f"more {i}" for i in range(50)] if start == "named" else None


def go_on(learner):
    learner.teach_many(ROWS[:30] + 0.5, NAMES[:30])
    learner.correct(learner.ids[3], "c")
    learner.forget(learner.ids[5:8])
    steps = everything(learner)
    learner.consolidate()
    return steps, everything(learner)


@pytest.mark.parametrize("start", STARTS)
def test_if_any_row_of_many_cannot_be_solved_nothing_has_changed(start, monkeypatch):
    learner, twin = STARTS[start](), STARTS[start]()
    before = everything(learner)
    with monkeypatch.context() as patch:
        calls = fail_from(patch, None)
        taken = copy.deepcopy(learner)
        reports = taken.teach_many(*more(start))
    assert len(taken.classes) > len(learner.classes)
    if start.startswith("far"):
        assert any(each.is_far for each in taken.inspect().separators.values())
        assert any(each.is_far for each in learner.inspect().separators.values()) != (
            start == "far later"
        )
    assert any(report.refresh for report in reports) == (start != "manual")
    for first in range(1, calls() + 1, max(calls() // POINTS, 1)):
        with monkeypatch.context() as patch:
            fail_from(patch, first)
            with pytest.raises(InvalidInputError, match=TOO_DIFFERENT):
                learner.teach_many(*more(start))
        assert everything(learner) == before, first
    assert learner.ids == twin.ids
    assert learner.classes.tolist() == twin.classes.tolist()
    assert go_on(learner) == go_on(twin)


@pytest.mark.parametrize("start", ["nothing left", "auto", "gaps", "far gaps"])
@pytest.mark.parametrize("call", ["teach", "correct", "forget"])
def test_a_step_that_cannot_be_solved_changes_nothing(call, start, monkeypatch):
    learner, twin = STARTS[start](), STARTS[start]()
    before, refused = everything(learner), 0
    steps = {
        "teach": [lambda x=x, y=y: learner.teach(x, y) for x in ROWS[20:23] for y in "abX"],
        "correct": [lambda i=i, y=y: learner.correct(i, y) for i in learner.ids[:4] for y in "abX"],
        "forget": [lambda i=i: learner.forget([i]) for i in learner.ids],
    }
    for step in steps[call]:
        with monkeypatch.context() as patch:
            fail_from(patch, 1)
            was_refused = is_refused(step)
        if was_refused:
            assert everything(learner) == before
            refused += 1
        else:
            learner = STARTS[start]()  # this step had nothing to settle
    assert refused > 0 or start == "nothing left"
    assert go_on(learner) == go_on(twin)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("small", [1e-39, 2e-43])
def test_numbers_that_are_tiny_in_float32_are_told_apart(whiten, small):
    learner = Learner(
        whiten=whiten, lda_prior=False, standardize=False, features=Identity("float32")
    )
    learner.teach([0.0], "a")
    assert learner.teach([small], "b").refresh is not None
    assert learner.predict(np.array([[0.0], [small]], dtype=np.float32)).tolist() == ["a", "b"]
    assert np.isfinite(learner.scores([[0.0], [small], [1.0]])).all()
    assert learner.audit().ok
    assert reloaded(learner).ids == [0, 1]
