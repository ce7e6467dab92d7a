"""What a learner refuses, in a sentence, and what it takes although it looks odd."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from minout import InvalidInputError, Learner
from minout.features import Identity
from oracle.margin import (
    SETTINGS,
    everything,
    in_regions,
    margins_by_label,
    model_bits,
    reloaded,
    stream,
)

PLAIN = SETTINGS["plain"]
PINS = {
    "auto": {},
    "plain": {"whiten": False, "lda_prior": False, "standardize": False},
    "scaled": {"whiten": False, "lda_prior": False, "standardize": True},
    "lda": {"whiten": True, "lda_prior": True, "standardize": False},
    "all": {"whiten": True, "lda_prior": True, "standardize": True},
}


def taught(*, words=False, **settings):
    """Teach the ids "a", "b", … and a few numbers of its own."""
    rows, labels = stream(2, examples=12)
    learner = Learner(**settings)
    names = ["fig", "pear", "plum"] if words else [0, 1, 2]
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        learner.teach(x, names[y], id="abcdef"[i] if i < 6 else None)
    return learner


def refused(learner, call, *args, **kwargs):
    """Assert that a call is refused in one sentence or two, and changes nothing."""
    before = everything(learner)
    with pytest.raises(InvalidInputError) as caught:
        getattr(learner, call)(*args, **kwargs)
    assert everything(learner) == before
    sentence = str(caught.value)
    assert re.fullmatch(r"[A-Z`x].*[.]", sentence, re.DOTALL), sentence
    assert "\n" not in sentence
    return sentence


def assert_sound(learner):
    """Assert that each example is fitted or a misfit, by the audit and by the predictions."""
    audit = learner.audit()
    assert audit.ok, audit.differences
    view, misfits = learner.inspect(), set(learner.misfits)
    for each in view.separators.values():
        assert np.isfinite(each.w).all()
        assert np.isfinite(each.b)
    examples = {example_id: learner.example(example_id) for example_id in learner.ids}
    expanded = in_regions(learner, view, examples)
    for example_id, (row, label) in examples.items():
        found = margins_by_label(view, *expanded[example_id]).values()
        if example_id not in misfits and all(abs(m) > error for m, error in found):
            assert learner.predict([row]).tolist() == [label]


@pytest.mark.parametrize("call", ["teach_many", "predict", "scores"])
def test_wide_sparse_rows_are_named_as_such(call):
    learner = Learner()
    learner.teach_many([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    wide = csr_array(np.eye(2, 1_025))
    args = (wide, [0, 1]) if call == "teach_many" else (wide,)
    assert "X is sparse and has 1,025 columns" in refused(learner, call, *args)


ROWS = {
    "nan": ([1.0, float("nan"), 0.0], "NaN"),
    "infinity": ([1.0, float("inf"), 0.0], "NaN or infinity"),
    "narrow": ([1.0, 2.0], "x has 2 features, but this learner was taught with 3"),
    "wide": ([1.0, 2.0, 3.0, 4.0], "x has 4 features"),
    "empty": ([], "x has 0 features"),
    "nested": ([[1.0, 2.0, 3.0]] * 2, "one row"),
    "scalar": (3.0, "one row"),
    "none": (None, "one row"),
    "text": ("abc", "one row"),
    "words": (["a", "b", "c"], "one row"),
    "a gap": ([1.0, None, 2.0], "one row"),
    "ragged": ([[1.0], [2.0, 3.0]], "differ in length"),
    "complex": ([1.0 + 2.0j, 0.0, 0.0], "one row"),
    "beyond": ([1e101, 0.0, 0.0], "beyond 1e\\+100"),
    "far beyond": ([-1e200, 0.0, 0.0], "beyond 1e\\+100"),
}


def without(word):
    """Return the rows whose sentence does not have a word, as parameters with names."""
    kept = {name: each for name, each in ROWS.items() if word not in each[1]}
    return {"argvalues": [*kept.values()], "ids": [*kept]}


@pytest.mark.parametrize(("x", "sentence"), ROWS.values(), ids=[*ROWS])
@pytest.mark.parametrize("call", ["teach", "what_if"])
def test_what_is_not_a_row_is_refused(call, x, sentence):
    assert re.search(sentence, refused(taught(), call, x, 1))


@pytest.mark.parametrize(("x", "sentence"), **without("features"))
def test_a_first_row_that_is_refused_leaves_the_learner_untaught(x, sentence):
    learner = Learner()
    assert re.search(sentence, refused(learner, "teach", x, 1))
    learner.teach([1.0, 2.0, 3.0, 4.0, 5.0], 1)
    assert len(learner) == 1


def test_labels_from_numpy_are_labels():
    learner = taught()
    learner.teach([1.0, 2.0, 3.0], np.int8(1), id=np.int64(77))
    assert learner.classes.tolist() == [0, 1, 2]
    assert 77 in learner
    learner.correct(np.int64(77), np.uint8(2))
    assert reloaded(learner).example(77)[1] == 2
    words = taught(words=True)
    words.teach([1.0, 2.0, 3.0], np.str_("fig"), id=np.str_("z"))
    assert words.classes.tolist() == ["fig", "pear", "plum"]
    assert type(words.ids[-1]) is str


def test_minus_zero_is_the_same_row_as_zero():
    learner = Learner()
    learner.teach([0.0, 1.0], 0, id="a")
    learner.teach([-0.0, 1.0], 0, id="a")
    assert len(learner) == 1
    learner.teach([-0.0, 1.0], 1, id="b")
    assert set(learner.misfits) == {"a", "b"}


@pytest.mark.parametrize(
    ("other", "remedy"), [("row", "`update`"), ("label", "`correct`")], ids=["row", "label"]
)
def test_an_id_taught_again_with_another_row_or_label_is_told_what_to_do(other, remedy):
    learner = taught()
    row, label = learner.example("a")
    row = row.tolist()
    args = ([each + 1.0 for each in row], label) if other == "row" else (row, (label + 1) % 3)
    sentence = refused(learner, "teach", *args, id="a")
    assert f"another {other}" in sentence
    assert remedy in sentence


def test_a_class_whose_last_example_is_forgotten_leaves():
    learner = taught(words=True)
    gone = learner.inspect().members["fig"]
    assert gone
    for example_id in gone:
        assert "fig" in learner.classes.tolist()
        learner.forget(example_id)
        assert_sound(learner)
    assert learner.classes.tolist() == ["pear", "plum"]
    assert learner.scores([[0.0, 0.0, 0.0]]).shape == (1, 2)
    assert "No example has the label 'fig'." in refused(learner, "forget_class", "fig")
    learner.teach([9.0, 9.0, 9.0], "fig")
    assert learner.classes.tolist() == ["fig", "pear", "plum"]
    assert_sound(learner)


@pytest.mark.parametrize("refresh", ["auto", "manual"])
@pytest.mark.parametrize("renewed", [False, True])
@pytest.mark.parametrize("how", ["forget", "forget_class"])
def test_when_every_example_is_forgotten_a_learner_starts_again(refresh, renewed, how):
    learner = taught(refresh=refresh)
    if how == "forget":
        learner.forget(learner.ids)
    else:
        for label in learner.classes.tolist():
            learner.forget_class(label)
    if renewed:
        learner.consolidate()
    assert (len(learner), learner.ids, learner.misfits) == (0, [], [])
    assert learner.classes.tolist() == []
    assert "nothing to predict" in refused(learner, "predict", [[1.0, 2.0, 3.0]])
    refused(learner, "forget", "a")
    refused(learner, "teach", [1.0, 2.0], 0)
    assert learner.suspects(3) == []
    assert_sound(learner)
    again, fresh = learner, Learner(refresh=refresh)
    rows, labels = stream(5, examples=20)
    for x, y in zip(rows + 50.0, labels.tolist(), strict=True):
        for each in (again, fresh):
            each.teach(x, "new"[y])
            assert_sound(each)
    assert model_bits(again) == model_bits(fresh)
    again.consolidate()
    assert_sound(again)


@pytest.mark.parametrize("refresh", ["auto", "manual"])
@pytest.mark.parametrize("pins", PINS)
def test_a_row_under_two_labels_makes_misfits_of_both(pins, refresh):
    learner = Learner(**PINS[pins], refresh=refresh)
    learner.teach([0.1, 0.7], "fig", id="a")
    report = learner.teach([0.1, 0.7], "pear", id="b")
    assert set(learner.misfits) == {"a", "b"}
    assert set(report.certificate.misfits) == {"a", "b"}
    rng = np.random.default_rng(3)
    for i in range(12):
        learner.teach(rng.normal(size=2) + 5 * (i % 2), ["fig", "pear"][i % 2])
        assert {"a", "b"} <= set(learner.misfits)
        assert_sound(learner)
    learner.consolidate()
    assert {"a", "b"} <= set(learner.misfits)
    assert {"a", "b"} <= set(learner.audit().misfits)
    certificate = learner.forget("b")
    assert "a" in certificate.cleared or "a" in learner.misfits
    assert_sound(learner)


@pytest.mark.parametrize("pins", PINS)
@pytest.mark.parametrize(("refresh", "constant"), [("auto", -7e5), ("manual", 0.1)])
def test_constant_columns_are_no_trouble(pins, refresh, constant):
    rng = np.random.default_rng(4)
    learner = Learner(**PINS[pins], refresh=refresh)
    for i in range(90):  # overlapping, so that separators are also found by w
        learner.teach([rng.normal() + i % 2, constant, rng.normal()], i % 2)
    assert_sound(learner)
    learner.consolidate()
    assert_sound(learner)
    learner.teach([0.5, constant + 1.0, 0.5], 0)
    assert_sound(learner)
    learner.consolidate()
    assert_sound(learner)


@pytest.mark.parametrize("pins", PINS)
@pytest.mark.parametrize("refresh", ["auto", "manual"])
def test_one_class_only_is_learned_and_predicted(pins, refresh):
    learner = Learner(**PINS[pins], refresh=refresh)
    rng = np.random.default_rng(6)
    for i in range(7):
        report = learner.teach(rng.normal(size=2), "only", id=i)
        assert report.certificate.moved == ()
    assert learner.predict([[5.0, 5.0]]).tolist() == ["only"]
    assert learner.scores([[5.0, 5.0]]).tolist() == [[np.inf]]
    assert learner.predict([[5.0, 5.0]], unknown="none").tolist() == ["only"]
    assert learner.misfits == []
    assert learner.what_if([1.0, 1.0], "only").interfered == ()
    assert learner.suspects(9) == []
    assert_sound(learner)
    learner.consolidate()
    assert_sound(learner)
    learner.forget(3)
    for i in range(12):
        learner.teach(rng.normal(size=2) + 1, ["only", "other"][i % 2])
        assert_sound(learner)


@pytest.mark.parametrize("pins", PINS)
@pytest.mark.parametrize(
    ("refresh", "size"),
    [("auto", 1e-300), ("manual", 1e-155), ("auto", 1e100), ("manual", 1e100)],
)
def test_rows_of_any_size_are_learned(pins, refresh, size):
    learner = Learner(**PINS[pins], refresh=refresh)
    rng = np.random.default_rng(8)
    for i in range(12):
        row = np.clip(rng.normal(size=2) / 9 + i % 2 / 2, -1, 1) * size
        before = everything(learner)
        try:
            learner.teach(row, i % 2)
        except InvalidInputError:  # the scale is not renewed while an example is taught
            assert refresh == "manual"
            assert size > 1e12
            assert everything(learner) == before
    assert_sound(learner)
    learner.consolidate()
    assert_sound(learner)


def test_float32_rows_have_their_own_bound():
    learner = Learner(features=Identity("float32"))
    learner.teach([1.0, 2.0], 0)
    assert "beyond 1e+15" in refused(learner, "teach", [1e16, 0.0], 0)
    learner.teach([1e15, 0.0], 1)
    learner.teach([-1e15, 3.0], 0)
    assert_sound(learner)


@settings(max_examples=25)
@example(["a", "a\0"])
@example(["\0"])
@given(st.lists(st.text(max_size=3), min_size=1, max_size=5, unique=True))
def test_any_string_is_a_label_or_refused(names):
    learner = Learner(**PLAIN)
    taken = []
    for i, name in enumerate(names):
        try:
            learner.teach([float(i), float(i * i)], name)
            taken.append(name)
        except InvalidInputError:
            pass
    if taken:
        assert learner.classes.tolist() == sorted(taken)
        assert all(each in taken for each in learner.predict([[0.0, 0.0], [3.0, 1.0]]).tolist())


@pytest.mark.parametrize(
    ("call", "args"),
    [
        ("predict", ([[1.0]],)),
        ("scores", ([[1.0]],)),
        ("correct", (0, 1)),
        ("forget", (0,)),
        ("forget_class", (0,)),
        ("consolidate", ()),
        ("audit", ()),
        ("suspects", (3,)),
        ("expected_accuracy", ()),
        ("partition", ()),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_learner_that_knows_nothing_says_so(call, args):
    learner = Learner()
    assert "not been taught anything yet" in refused(learner, call, *args)
    assert learner.ids == learner.misfits == learner.pending == []
    assert len(learner) == 0
    assert learner.classes.tolist() == []
    assert 0 not in learner
    assert learner.what_if([1.0], 0).neurons == {}


@pytest.mark.parametrize("features", ["pixels", 7])
def test_a_feature_map_that_there_is_not_is_refused(features):
    with pytest.raises(InvalidInputError, match=rf"features is {features!r}.*\.$"):
        Learner(features=features)


def test_only_ids_are_found_in_a_learner():
    learner = Learner()
    learner.teach_many(np.eye(3), [0, 1, 0])
    assert 1 in learner
    assert np.int64(1) in learner
    for other in (True, np.True_, 1.0, None, [1]):
        assert other not in learner
