"""Corrections, updates, and many at once: laws, all or nothing, and no trace of what is gone."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import InvalidInputError, Learner
from minout.core import draft
from minout.errors import NotConverged
from oracle.margin import SETTINGS, everything, model_bits, reloaded, saved, stream

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


@pytest.mark.parametrize("ids", [None, IDS], ids=["numbers", "names"])
def test_many_at_a_time_are_the_same_as_one_by_one(ids):
    one, many = Learner(), Learner()
    reports = [
        one.teach(x, y, id=None if ids is None else ids[i])
        for i, (x, y) in enumerate(zip(ROWS, NAMES, strict=True))
    ]
    found = many.teach_many(ROWS[:10], NAMES[:10], None if ids is None else ids[:10])
    found += many.teach_many(ROWS[10:], NAMES[10:], None if ids is None else ids[10:])
    for mine, its in zip(reports, found, strict=True):
        assert (mine.example_id, mine.certificate) == (its.example_id, its.certificate)
    assert everything(one) == everything(many)


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


@pytest.mark.parametrize("kind", ["plain", "far", "regions and hats", "per label"])
def test_if_any_correction_cannot_be_solved_nothing_has_changed(kind, monkeypatch):
    learner, real, made = taught(kind), draft.settle, []
    before, fixes = everything(learner), {i: y for i, y in FIXES.items() if i in learner}

    def settle(*args):
        made.append(True)
        if len(made) >= limit:
            raise NotConverged("on purpose")
        return real(*args)

    monkeypatch.setattr(draft, "settle", settle)
    for limit in range(1, 6):  # noqa: B007, read in `settle`
        made.clear()
        with pytest.raises(InvalidInputError, match="differ too much in size"):
            learner.correct_many(list(fixes), list(fixes.values()))
        assert everything(learner) == before


@pytest.mark.parametrize(
    ("ids", "labels", "words"),
    [
        (["row 3", "nobody"], ["b", "b"], "There is no example 'nobody'"),
        (["row 3", "row 3"], ["a", "b"], "named twice"),
        (["row 3", "row 4"], ["b", 7], "another type than before"),
    ],
    ids=["unknown", "twice", "type"],
)
def test_corrections_that_are_not_valid_change_nothing(ids, labels, words):
    learner = taught("plain")
    before = everything(learner)
    with pytest.raises(InvalidInputError, match=words):
        learner.correct_many(ids, labels)
    assert everything(learner) == before


@pytest.mark.parametrize("kind", KEEP_ALL)
def test_an_update_is_forgetting_and_teaching_again_once_consolidated(kind):
    chosen = {"plain": "row 0", "far": "row 23"}.get(kind, "row 7")
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


AFTERWARDS = {
    "at once": lambda learner: learner,
    "after a file": reloaded,
    "in a copy": copy.deepcopy,
    "after consolidation": lambda learner: (learner.consolidate(), learner)[1],
    "after more": lambda learner: (learner.teach_many(ROWS + 1.0, NAMES), learner)[1],
    "after forgetting others": lambda learner: (learner.forget(["row 0"]), learner)[1],
}


@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_an_old_label_that_is_taught_again_is_taken_for_the_present_one(afterwards):
    learner = taught("auto")
    learner.correct("row 3", "plum")
    learner.correct("row 3", "quince")
    learner = AFTERWARDS[afterwards](learner)
    before = everything(learner)
    for label in (NAMES[3], "plum", "quince"):
        (many,) = learner.teach_many([ROWS[3]], [label], ["row 3"])
        for report in (many, learner.teach(ROWS[3], label, id="row 3")):
            assert (report.example_id, report.label) == ("row 3", "quince")
            assert report.certificate.moved == ()
            assert report.refresh is None
        assert everything(learner) == before


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4)), max_size=12),
    st.sampled_from([*SETTINGS]),
)
def test_any_corrections_are_those_of_a_dictionary(corrections, kind):
    learner, words = Learner(**SETTINGS[kind]), ["p", "q", "r", "s", "t"]
    labels = {i: [words[int(LABELS[i])]] for i in range(8)}
    learner.teach_many(ROWS[:8], [had[0] for had in labels.values()], [*labels])
    for i, word in corrections:
        report = learner.correct(i, words[word])
        assert (report.example_id, report.label) == (i, words[word])
        labels[i].append(words[word])
    before = everything(learner)
    for i, had in labels.items():
        assert learner.example(i)[1] == had[-1]
        for word in words:
            if word in had:
                assert learner.teach(ROWS[i], word, id=i).label == had[-1]
            else:
                with pytest.raises(InvalidInputError, match="another label"):
                    learner.teach(ROWS[i], word, id=i)
    assert everything(learner) == before
    assert learner.audit().ok


def content(learner):
    """Return the bytes of the file that a learner saves."""
    return learner.__getstate__()["model"]


@pytest.mark.parametrize("corrected", [0, 2], ids=["taught", "corrected twice"])
@pytest.mark.parametrize("how", ["forget", "forget_class"])
def test_forgetting_leaves_no_trace_of_an_id(how, corrected):
    learner = taught("auto")
    learner.teach([9.0, 9.0, 9.0], "single", id="a secret name")
    for label in ["plum", "alone"][:corrected]:
        learner.correct("a secret name", label)
    assert b"a secret name" in content(learner)
    if how == "forget":
        learner.forget("a secret name")
    else:
        learner.forget_class(["single", "plum", "alone"][corrected])
    assert b"secret" not in content(learner)
    learner.consolidate()
    assert b"secret" not in content(learner)
    assert b"secret" not in content(reloaded(learner))


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("kind", ["plain", "auto"])
def test_forgetting_and_consolidating_leaves_no_trace_of_a_row(place, kind):
    secret, learner = np.array([0.123456789, 9.87654321, -5.4321]), Learner(**SETTINGS[kind])
    if place == "first":
        learner.teach(secret, NAMES[0], id="secret")
    learner.teach_many(ROWS, NAMES)
    if place == "last":
        learner.teach(secret, NAMES[0], id="secret")
    assert secret[:1].tobytes() in content(learner)
    learner.forget("secret")
    learner.consolidate()
    assert not any(number.tobytes() in content(learner) for number in secret)


def test_forgetting_a_class_leaves_no_trace_of_its_label():
    learner = taught("auto")
    learner.teach([9.0, 9.0, 9.0], "a secret label", id="it")
    learner.correct("row 3", "a secret label")
    learner.correct("row 3", "plum")
    learner.correct("row 4", "a secret label")
    learner.correct("it", "plum")
    learner.correct("it", "a secret label")
    assert learner.forget_class("a secret label")
    assert b"secret" not in content(learner)
    assert "row 3" in learner
    assert "row 4" not in learner
    assert learner.teach(ROWS[3], NAMES[3], id="row 3").label == "plum"
    with pytest.raises(InvalidInputError, match="another label"):
        learner.teach(ROWS[3], "a secret label", id="row 3")
