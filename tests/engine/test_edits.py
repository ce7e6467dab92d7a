"""Many corrections at once, and other features for a stored example: laws, and all or nothing."""

import copy

import numpy as np
import pytest

from minout import InvalidInputError, Learner
from minout.engine import draft
from minout.errors import NotConverged
from oracle.margin import SETTINGS, everything, model_bits, saved, stream

ROWS, LABELS = stream(8, examples=24, classes=3, features=3, apart=0.6)
NAMES = ["abc"[y] for y in LABELS.tolist()]
IDS = [f"row {i}" for i in range(24)]
FIXES = {
    **{IDS[i]: "abca"["abc".index(NAMES[i]) + 1] for i in (5, 9, 13, 16, 21)},
    "row 11": NAMES[11],
    "row 12": "new",
    "row 20": "new",
}
KINDS = {
    **{kind: SETTINGS[kind] for kind in ("plain", "all", "auto")},
    "far": SETTINGS["lda"] | {"near_classes": 1},
    "regions and hats": {"regions": 2, "expand": 3},
    "codes": {"memory": "uint8"},
    "per label": SETTINGS["plain"] | {"keep": {"per_label": 9}},
    "newest 20": SETTINGS["plain"] | {"keep": 20},
}
KEEP_ALL = [kind for kind in KINDS if "keep" not in KINDS[kind]]


def taught(kind, rows=ROWS, names=NAMES, ids=IDS, **settings):
    learner = Learner(**KINDS[kind], **settings)
    weights = [1.0 + (int(i.split()[1]) % 3) / 2 for i in ids]
    learner.teach_many(rows, names, ids, weights, at=[float(i.split()[1]) for i in ids])
    return learner


@pytest.mark.parametrize("kind", KINDS)
def test_many_corrections_are_the_same_as_one_by_one(kind):
    one, many = taught(kind), taught(kind)
    stored = {i: label for i, label in FIXES.items() if i in one}
    reports = [one.correct(i, label) for i, label in stored.items() if i in one]
    found = many.correct_many(list(stored), list(stored.values()))
    moved = [each.certificate for each in found if each.certificate.moved]
    assert moved == [each.certificate for each in reports if each.certificate.moved]
    assert len(moved) > 4
    assert everything(one) == everything(many)


@pytest.mark.parametrize("kind", KEEP_ALL)
def test_consolidated_it_is_a_learner_that_was_taught_the_right_labels(kind):
    learner = taught(kind)
    learner.correct_many(list(FIXES), list(FIXES.values()))
    other = taught(kind, names=[FIXES.get(i, label) for i, label in zip(IDS, NAMES, strict=True)])
    for each in (learner, other):
        each.consolidate()
    assert model_bits(learner) == model_bits(other)
    assert learner.misfits == other.misfits


@pytest.mark.parametrize("kind", KINDS)
def test_if_any_correction_cannot_be_solved_nothing_has_changed(kind, monkeypatch):
    learner, real, made = taught(kind), draft.settle, 0
    twin, before = copy.deepcopy(learner), everything(learner)
    fixes = {i: label for i, label in FIXES.items() if i in learner}
    limit = None

    def settle(*args):
        nonlocal made
        made += 1
        if limit is not None and made >= limit:
            raise NotConverged("on purpose")
        return real(*args)

    monkeypatch.setattr(draft, "settle", settle)
    copy.deepcopy(learner).correct_many(list(fixes), list(fixes.values()))
    calls = made
    assert calls > 4
    for limit in range(1, calls + 1):  # noqa: B007, read in `settle`
        made = 0
        with pytest.raises(InvalidInputError, match="differ too much in size"):
            learner.correct_many(list(fixes), list(fixes.values()))
        assert everything(learner) == before
    limit = None
    for each in (learner, twin):
        each.correct_many(list(fixes), list(fixes.values()))
        each.teach_many(ROWS + 0.5, NAMES, at=30.0)
        each.consolidate()
    assert everything(learner) == everything(twin)


@pytest.mark.parametrize(
    ("ids", "labels", "words"),
    [
        (["row 3", "nobody"], ["b", "b"], "There is no example 'nobody'"),
        (["row 3", "row 3"], ["a", "b"], "named twice"),
        (["row 3", "row 4"], ["b"], "2 ids and 1 labels"),
        (["row 3", "row 4"], ["b", 7], "another type than before"),
        (["row 3", "row 4"], ["b", 0.5], "whole number or a string"),
        ("row 3", ["b"], "list"),
    ],
    ids=["unknown", "twice", "lengths", "type", "float", "no list"],
)
def test_corrections_that_are_not_valid_change_nothing(ids, labels, words):
    learner = taught("plain")
    before = everything(learner)
    with pytest.raises(InvalidInputError, match=words):
        learner.correct_many(ids, labels)
    assert everything(learner) == before


@pytest.mark.parametrize("kind", KEEP_ALL)
@pytest.mark.parametrize("chosen", ["row 0", "row 7", "row 23"])
def test_an_update_is_forgetting_and_teaching_again_once_consolidated(kind, chosen):
    learner, others = taught(kind), [i for i in range(24) if IDS[i] != chosen]
    new = ROWS[12] + 0.25
    report = learner.update(chosen, new)
    assert (report.example_id, report.label) == (chosen, NAMES[IDS.index(chosen)])
    assert report.certificate.forgotten == ()
    assert learner.audit().ok
    again = taught(
        kind,
        np.vstack([ROWS[others], new]),
        [*(NAMES[i] for i in others), report.label],
        [*(IDS[i] for i in others), chosen],
    )
    for each in (learner, again):
        each.consolidate()
    assert saved(learner) == saved(again)


@pytest.mark.parametrize("kind", KINDS)
def test_many_updates_leave_a_learner_that_agrees_with_itself(kind):
    learner, rng = taught(kind), np.random.default_rng(5)
    for number in range(40):
        stored = learner.ids
        chosen = stored[int(rng.integers(len(stored)))]
        learner.update(chosen, ROWS[int(rng.integers(24))] + number / 64)
        assert learner.ids == [*(i for i in stored if i != chosen), chosen]
    assert learner.audit().ok


def test_an_updated_example_keeps_weight_label_and_earlier_labels():
    learner = taught("plain")
    learner.correct("row 5", "b")
    learner.correct("row 5", "c")
    had, weight = learner.corrected["row 5"], learner.weight("row 5")
    learner.update("row 5", [1.0, 2.0, 3.0])
    row, label = learner.example("row 5")
    assert (row.tolist(), label, learner.weight("row 5")) == ([1.0, 2.0, 3.0], "c", weight)
    assert learner.corrected["row 5"] == had
    assert learner.update("row 5", [1.0, 2.0, 3.0]).certificate.moved == ()


def test_an_updated_example_keeps_its_time():
    learner = taught("newest 20")
    oldest = learner.ids[0]
    time = learner.time(oldest)
    learner.update(oldest, [1.0, 2.0, 3.0])
    assert learner.time(oldest) == time
    assert learner.teach([0.0, 0.0, 1.0], "a", at=99.0).certificate.forgotten == (oldest,)


def test_the_only_example_can_be_updated():
    learner = Learner()
    learner.teach([1.0, 2.0], "a", id=0)
    learner.update(0, [3.0, 4.0])
    assert learner.example(0)[0].tolist() == [3.0, 4.0]
    learner.teach([0.0, 0.0], "b", id=1)
    learner.update(1, [5.0, -5.0])
    assert learner.predict([[3.0, 4.0], [5.0, -5.0]]).tolist() == ["a", "b"]
    assert learner.audit().ok


@pytest.mark.parametrize(
    ("id", "row", "words"),
    [
        ("nobody", [1.0, 2.0, 3.0], "There is no example 'nobody'"),
        ("row 3", [1.0, 2.0], "2 features"),
        ("row 3", [1.0, np.nan, 3.0], "NaN or infinity"),
    ],
    ids=["unknown", "narrow", "nan"],
)
def test_an_update_that_is_not_valid_changes_nothing(id, row, words):
    learner = taught("plain")
    before = everything(learner)
    with pytest.raises(InvalidInputError, match=words):
        learner.update(id, row)
    assert everything(learner) == before


def test_an_update_that_cannot_be_solved_changes_nothing(monkeypatch):
    learner = taught("plain")
    before = everything(learner)

    def settle(*_):
        raise NotConverged("on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(draft, "settle", settle)
        with pytest.raises(InvalidInputError, match="differ too much in size"):
            learner.update("row 3", ROWS[10])
    assert everything(learner) == before
