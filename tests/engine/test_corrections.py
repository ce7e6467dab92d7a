"""What is remembered of corrections, and that nothing is remembered of what was forgotten."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import InvalidInputError, Learner
from minout.features import Identity
from oracle.margin import SETTINGS, everything, loaded, saved, stream

ROWS, LABELS = stream(8, examples=24, features=3, apart=0.6)
NAMES = [["apple", "banana", "cherry"][y] for y in LABELS.tolist()]


def taught(**pinned):
    learner = Learner(**pinned)
    learner.teach_many(ROWS, NAMES, [f"row <{i}>" for i in range(24)])
    return learner


AFTERWARDS = {
    "at once": lambda learner: learner,
    "after a file": lambda learner: loaded(saved(learner)),
    "in a copy": copy.deepcopy,
    "after consolidation": lambda learner: (learner.consolidate(), learner)[1],
    "after more": lambda learner: (learner.teach_many(ROWS + 1.0, NAMES), learner)[1],
    "after forgetting others": lambda learner: (learner.forget(["row <0>"]), learner)[1],
}


@pytest.mark.parametrize("afterwards", AFTERWARDS)
@pytest.mark.parametrize("many", [False, True], ids=["teach", "teach_many"])
def test_an_old_label_that_is_taught_again_is_taken_for_the_present_one(afterwards, many):
    learner = taught()
    learner.correct("row <3>", "plum")
    learner.correct("row <3>", "quince")
    learner = AFTERWARDS[afterwards](learner)
    before = everything(learner)
    for label in (NAMES[3], "plum", "quince"):
        if many:
            (report,) = learner.teach_many([ROWS[3]], [label], ["row <3>"])
        else:
            report = learner.teach(ROWS[3], label, id="row <3>")
        assert (report.example_id, report.label) == ("row <3>", "quince")
        assert report.certificate.moved == ()
        assert report.refresh is None
        assert everything(learner) == before


def test_a_learner_says_whether_it_is_consolidated():
    learner = taught()
    assert not learner.is_consolidated
    learner.consolidate()
    assert learner.is_consolidated
    before = everything(learner)
    with pytest.raises(InvalidInputError):
        learner.teach_many([ROWS[0] + 9.0, ROWS[0]], [NAMES[0], NAMES[0]], ["new", "row <3>"])
    assert everything(learner) == before
    learner.correct("row <3>", "plum")
    assert not learner.is_consolidated


def test_a_label_that_it_never_had_and_another_row_are_refused():
    learner = taught()
    learner.correct("row <3>", "plum")
    before = everything(learner)
    for row, label in [(ROWS[3], "quince"), (ROWS[3] + 1.0, NAMES[3]), (ROWS[3] + 1.0, "plum")]:
        with pytest.raises(InvalidInputError, match="is stored with another"):
            learner.teach(row, label, id="row <3>")
        with pytest.raises(InvalidInputError, match="is stored with another"):
            learner.teach_many([row], [label], ["row <3>"])
        assert everything(learner) == before


def test_an_example_that_is_corrected_there_and_back_has_both_labels_known():
    learner = taught()
    learner.correct("row <3>", "plum")
    learner.correct("row <3>", NAMES[3])
    for label in ("plum", NAMES[3]):
        assert learner.teach(ROWS[3], label, id="row <3>").label == NAMES[3]
    assert "plum" not in learner.classes


def test_an_id_that_was_forgotten_and_taught_again_has_no_earlier_labels():
    learner = taught()
    learner.correct("row <3>", "plum")
    learner.forget("row <3>")
    assert learner.teach(ROWS[3], "quince", id="row <3>").label == "quince"
    for label in (NAMES[3], "plum"):
        with pytest.raises(InvalidInputError, match="another label"):
            learner.teach(ROWS[3], label, id="row <3>")


@settings(max_examples=30)
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


@pytest.mark.parametrize("corrected", [0, 1, 2], ids=["taught", "corrected", "corrected twice"])
@pytest.mark.parametrize("how", ["forget", "forget_class"])
def test_forgetting_leaves_no_trace_of_an_id(how, corrected):
    learner = taught()
    learner.teach([9.0, 9.0, 9.0], "single", id="a secret name")
    for label in ["plum", "alone"][:corrected]:
        learner.correct("a secret name", label)
    assert b"a secret name" in saved(learner)
    if how == "forget":
        learner.forget("a secret name")
    else:
        learner.forget_class(["single", "plum", "alone"][corrected])
    assert b"secret" not in saved(learner)
    learner.consolidate()
    assert b"secret" not in saved(learner)
    assert b"secret" not in saved(loaded(saved(learner)))


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("kind", ["plain", "all", "auto"])
def test_forgetting_and_consolidating_leaves_no_trace_of_a_row(place, kind):
    secret, learner = np.array([0.123456789, 9.87654321, -5.4321]), Learner(**SETTINGS[kind])
    if place == "first":
        learner.teach(secret, NAMES[0], id="secret")
    learner.teach_many(ROWS, NAMES)
    if place == "last":
        learner.teach(secret, NAMES[0], id="secret")
    assert secret[:1].tobytes() in saved(learner)
    learner.forget("secret")
    learner.consolidate()
    content = saved(learner)
    assert not any(number.tobytes() in content for number in secret)


@pytest.mark.parametrize("renewed", [False, True], ids=["at once", "consolidated"])
def test_forgetting_a_class_leaves_no_trace_of_its_label(renewed):
    learner = taught()
    learner.teach([9.0, 9.0, 9.0], "a secret label", id="it")
    learner.correct("row <3>", "a secret label")
    learner.correct("row <3>", "plum")
    learner.correct("row <4>", "a secret label")
    learner.correct("it", "plum")
    learner.correct("it", "a secret label")
    assert learner.forget_class("a secret label")
    if renewed:
        learner.consolidate()
    assert b"secret" not in saved(learner)
    assert "row <3>" in learner
    assert "row <4>" not in learner
    assert learner.teach(ROWS[3], NAMES[3], id="row <3>").label == "plum"
    with pytest.raises(InvalidInputError, match="another label"):
        learner.teach(ROWS[3], "a secret label", id="row <3>")


def test_forgetting_equals_never_having_learned_once_consolidated():
    learner, other = taught(), Learner()
    learner.teach([9.0, 9.0, 9.0], "single", id="gone")
    learner.correct("gone", "plum")
    learner.forget("gone")
    other.teach_many(ROWS, NAMES, [f"row <{i}>" for i in range(24)])
    for each in (learner, other):
        each.consolidate()
    assert saved(learner) == saved(other)


def test_a_refresh_that_cannot_be_is_put_off_and_the_example_is_corrected():
    pins = {"whiten": False, "lda_prior": False, "standardize": False}
    learner = Learner(**pins, features=Identity("float32"))
    for i in range(40):
        learner.teach([i * 1e-43], "a", id=i)
    learner.teach([1e-39], "b", id="b")
    assert learner.correct(3, "b").refresh is None
    assert learner.correct("b", "c").refresh is None
    assert [learner.example(each)[1] for each in (3, "b", 4)] == ["b", "c", "a"]
    assert learner.audit().ok
