"""The classifier keeps the learner's promises under scikit-learn's names."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

from minout import InvalidInputError, Learner, MinoutClassifier, core
from minout.core import WhatIf
from minout.errors import NotConverged
from oracle.margin import saved

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [5.0, 4.0], [4.0, 5.0]])
Y = list("aaabbb")


def test_fit_is_the_learner_taught_row_by_row_and_consolidated():
    learner = Learner()
    learner.teach_many(IRIS.data, NAMES)
    learner.consolidate()
    classifier = MinoutClassifier().fit(IRIS.data, NAMES)
    assert (classifier.decision_function(IRIS.data) == learner.scores(IRIS.data)).all()
    assert (classifier.predict(IRIS.data) == learner.predict(IRIS.data)).all()
    assert (classifier.predict_proba(IRIS.data) == learner.probabilities(IRIS.data)).all()


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({}, {"sample_weight": np.arange(150) % 3}),
        ({"keep": 60}, {}),
        ({"keep": 110}, {"at": np.arange(150.0) % 7, "ids": [f"id {n}" for n in range(150)]}),
        ({"keep": {"per_label": 20}, "regions": 2}, {}),
        ({"keep": "1h"}, {"at": 100.0 * np.arange(150)}),
        ({"memory": "uint8", "refresh": "manual"}, {}),
    ],
    ids=["weights", "the last", "the newest", "per label", "one hour", "codes"],
)
def test_fit_is_partial_fit_and_consolidate_in_all_that_is_saved(settings, given):
    fitted, other = MinoutClassifier(**settings), MinoutClassifier(**settings)
    fitted.fit(IRIS.data, NAMES, **given)
    other.partial_fit(IRIS.data, NAMES, **given).consolidate()
    assert saved(fitted.learner_) == saved(other.learner_)
    assert fitted.ids_ == other.ids_
    assert fitted.misfits_ == other.misfits_ == list(fitted.certificate_.misfits)
    for each in (fitted, other):
        each.partial_fit([[9.0] * 4], ["new"])
    assert fitted.ids_ == other.ids_


def test_fit_starts_anew():
    classifier = MinoutClassifier(**PINS).fit(IRIS.data, NAMES).fit(X, Y)
    assert classifier.classes_.tolist() == ["a", "b"]
    assert classifier.n_features_in_ == 2
    assert classifier.ids_ == classifier.all_ids_ == list(range(6))


PINS = {"C": 5.0, "whiten": True, "lda_prior": True, "standardize": True, "regions": 1}
WHOLE = MinoutClassifier(**PINS, expand=None).partial_fit(IRIS.data[::3], NAMES[::3])


@given(cuts=st.lists(st.integers(0, 50), max_size=5))
def test_many_rows_in_one_call_are_as_many_calls(cuts):
    parts = MinoutClassifier(**PINS, expand=None)
    for start, end in pairwise(sorted({0, *cuts, 50})):
        parts.partial_fit(IRIS.data[::3][start:end], NAMES[::3][start:end])
    assert (WHOLE.decision_function(IRIS.data) == parts.decision_function(IRIS.data)).all()
    assert WHOLE.all_ids_ == parts.all_ids_


def test_announced_classes_are_listed_and_improbable_until_they_come():
    classifier = MinoutClassifier().partial_fit(X, Y, classes=["c", "a", "b"])
    assert classifier.classes_.tolist() == ["a", "b", "c"]
    assert (classifier.predict_proba(X)[:, 2] == 0.0).all()
    assert np.allclose(classifier.predict_proba(X).sum(axis=1), 1.0)
    assert (classifier.decision_function(X)[:, 2] == -np.inf).all()
    assert classifier.predict(X).tolist() == Y
    classifier.partial_fit([[9.0, -9.0]], ["c"])
    assert (classifier.predict_proba([[9.0, -9.0]]).argmax(axis=1) == [2]).all()
    assert MinoutClassifier().fit(X, Y).classes_.tolist() == ["a", "b"]


def test_two_classes_have_one_score_and_others_one_each():
    binary = MinoutClassifier().fit(X, Y)
    assert binary.decision_function(X).shape == (6,)
    assert (binary.decision_function(X) > 0).tolist() == [y == "b" for y in Y]
    assert (binary.decision_function(X) == binary.learner_.scores(X)[:, 1]).all()
    assert MinoutClassifier().fit(X, list("aabbcc")).decision_function(X).shape == (6, 3)


def test_one_class_is_certain():
    classifier = MinoutClassifier().fit(X, ["only"] * 6)
    assert classifier.predict(X).tolist() == ["only"] * 6
    assert classifier.predict_proba(X).tolist() == [[1.0]] * 6
    assert classifier.decision_function(X).tolist() == [[np.inf]] * 6


@pytest.mark.parametrize(
    ("labels", "unknown", "dtype"),
    [
        (np.arange(4), -1, np.int64),
        (np.arange(4), "none of these", object),
        (np.arange(4), True, object),
        (np.arange(4, dtype=np.int8), 300, object),
        (np.arange(4, dtype=np.int8), -1, np.int8),
        (np.arange(4.0), np.nan, np.float64),
        (np.array(list("abcd")), "none of these", "<U13"),
        (np.array(list("abcd")), -1, object),
        (np.array(list("abcd"), dtype=object), "none of these", object),
    ],
)
def test_a_row_in_no_unit_is_called_unknown(labels, unknown, dtype):
    rng = np.random.default_rng(0)
    corners = np.repeat(5.0 * rng.normal(size=(4, 2)), 2, axis=0) + rng.normal(size=(8, 2))
    pinned = MinoutClassifier(whiten=False, lda_prior=False, C=500.0)
    classifier = pinned.fit(corners, np.repeat(labels, 2))
    probes = 5.0 * rng.normal(size=(2000, 2))
    nowhere = classifier.decision_function(probes).max(axis=1) <= 0.0
    assert nowhere.any()
    found = classifier.predict(probes, unknown=unknown)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found[nowhere].tolist(), [unknown] * nowhere.sum())
    assert (found[~nowhere] == classifier.predict(probes)[~nowhere]).all()
    assert (classifier.predict(corners, unknown=unknown) == classifier.predict(corners)).all()


def test_ids_are_the_users_own_or_numbers():
    classifier = MinoutClassifier().partial_fit(X[:2], Y[:2], ids=np.array(["p", "q"]))
    assert classifier.ids_ == ["p", "q"]
    classifier.partial_fit(X[2:4], Y[2:4])
    assert classifier.ids_ == [0, 1]
    assert classifier.all_ids_ == ["p", "q", 0, 1]
    assert MinoutClassifier().fit(X, Y, ids=list("uvwxyz")).all_ids_ == list("uvwxyz")


def test_an_id_taught_again_with_the_same_row_and_label_changes_nothing():
    classifier = MinoutClassifier().partial_fit(X, Y, ids=list("uvwxyz"))
    before = classifier.decision_function(X)
    classifier.partial_fit(X[[5, 0]], ["b", "a"], ids=["z", "u"])
    assert classifier.ids_ == ["z", "u"]
    assert len(classifier.all_ids_) == 6
    assert (classifier.decision_function(X) == before).all()


@pytest.mark.parametrize(
    ("rows", "labels", "ids", "says"),
    [
        (X[:2] + 9, ["a", "b"], ["new", "u"], "stored with another row"),
        (X[[1, 0]], ["a", "b"], ["new", "u"], "stored with another label"),
        (X[:2], ["a", "a"], ["new", "new"], "given to two rows"),
        (X[:2], ["a", "a"], ["new"], "2 labels and 1 id;"),
        (X[:2], ["a", "a"], "nm", "a list with one id per row"),
        (X[:2], ["a", "a"], 7, "a list with one id per row"),
        (X[:2], ["a", "a"], ["new", None], "not a NoneType"),
        (X[:2], ["a", "a"], ["new", 1.5], "not a float"),
        (np.array([[1.0, 2.0], [np.nan, 0.0]]), ["a", "a"], None, "NaN"),
        (np.array([[1.0, 2.0], [1e101, 0.0]]), ["a", "a"], None, "1e\\+100"),
        (X[:2], ["a", None], None, "NoneType"),
        (X[:2], ["new", "new\0"], None, "NUL"),
        (X[:2], ["a"], None, "inconsistent"),
        (np.ma.array(X[:2], mask=[[0, 1], [0, 0]]), ["a", "a"], None, "X holds masked values"),
        (X[:2], np.ma.array(["a", "b"], mask=[0, 1]), None, "y holds masked values"),
    ],
)
def test_a_call_that_is_refused_leaves_nothing_behind(rows, labels, ids, says, monkeypatch):
    classifier = MinoutClassifier().partial_fit(X, Y, ids=list("uvwxyz"))
    monkeypatch.delattr(core, "forget")  # nothing is taught, so nothing must be forgotten
    before = classifier.decision_function(X)
    with pytest.raises(ValueError, match=says):
        classifier.partial_fit(rows, labels, ids=ids)
    for classes, wrong in [
        ([2**70], "64 bits"),
        ([["a"]], "list of labels"),
        ([1], "another type"),
    ]:
        with pytest.raises(InvalidInputError, match=wrong):
            classifier.partial_fit(X[:2], ["a", "a"], classes=classes)
    assert classifier.all_ids_ == list("uvwxyz")
    assert classifier.classes_.tolist() == ["a", "b"]
    assert (classifier.decision_function(X) == before).all()
    assert classifier.ids_ == list("uvwxyz")


def test_a_row_that_only_the_engine_can_refuse_takes_the_whole_call_with_it(monkeypatch):
    classifier = MinoutClassifier().partial_fit(X, Y)
    teach, before = core.teach, classifier.decision_function(X)

    def inseparable(state, x, *rest, **more):
        if x[0] == 1e30:
            raise NotConverged
        return teach(state, x, *rest, **more)

    monkeypatch.setattr(core, "teach", inseparable)
    with pytest.raises(InvalidInputError, match="differ too much"):
        classifier.partial_fit([[9.0, 9.0], [1e30, 0.0]], ["new", "a"], classes=["newer"])
    assert classifier.all_ids_ == list(range(6))
    assert classifier.classes_.tolist() == ["a", "b"]
    assert (classifier.decision_function(X) == before).all()
    assert classifier.audit().ok
    with pytest.raises(InvalidInputError, match="differ too much"):
        MinoutClassifier().partial_fit([[1e30]], ["a"])


def test_a_refused_fit_leaves_the_model_as_it_was():
    classifier = MinoutClassifier().fit(X, Y)
    for rows, labels in [(X[:, :1] * np.nan, Y), (np.ones((6, 3)), [1.5] * 6)]:
        with pytest.raises(ValueError, match=r"NaN|Unknown label type"):
            classifier.fit(rows, labels)
    with pytest.raises(InvalidInputError, match="C"):
        classifier.set_params(C=-1).fit(X[:, :1], Y)
    assert classifier.n_features_in_ == 2
    assert classifier.predict(X).tolist() == Y


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"C": 0}, "C"),
        ({"whiten": "yes"}, "whiten"),
        ({"refresh": "never"}, "refresh"),
        ({"features": "wavelets"}, "features"),
        ({"features": "scattering", "image_shape": (3,)}, "image_shape"),
        ({"features": "scattering"}, "square"),
    ],
)
def test_parameters_are_looked_at_on_first_use(parameters, says):
    classifier = MinoutClassifier(**parameters)
    with pytest.raises(InvalidInputError, match=says):
        classifier.fit(X, Y)
    with pytest.raises(InvalidInputError, match=says):
        classifier.partial_fit(X, Y)
    assert not hasattr(classifier, "classes_")


def test_an_interrupted_call_has_taught_nothing(monkeypatch):
    classifier = MinoutClassifier()
    teach, count = core.teach, []

    def interrupted(*args, **more):
        count.append(args)
        if len(count) == 4:
            raise KeyboardInterrupt
        return teach(*args, **more)

    monkeypatch.setattr(core, "teach", interrupted)
    with pytest.raises(KeyboardInterrupt):
        classifier.partial_fit(X, Y, ids=list("uvwxyz"))
    assert not hasattr(classifier, "classes_")
    classifier.partial_fit(X, Y, ids=list("uvwxyz"))
    before = saved(classifier.learner_)
    count.clear()
    with pytest.raises(KeyboardInterrupt):
        classifier.partial_fit(X, Y)
    assert len(count) == 4
    assert saved(classifier.learner_) == before
    monkeypatch.setattr(core, "consolidate", interrupted)
    count[:] = [()] * 3
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(X[:, :1], Y)
    assert saved(classifier.learner_) == before
    assert classifier.ids_ == classifier.all_ids_ == list("uvwxyz")
    assert classifier.n_features_in_ == 2
    assert classifier.audit().ok


def test_what_if_asks_each_row_alone_and_learns_nothing():
    classifier = MinoutClassifier(**PINS).fit(IRIS.data, NAMES)
    before = classifier.decision_function(IRIS.data)
    asked = classifier.what_if(IRIS.data[:3], ["virginica", "setosa", "new"])
    assert [type(each) for each in asked] == [WhatIf] * 3
    for each, x, y in zip(asked, IRIS.data, ["virginica", "setosa", "new"], strict=False):
        assert each == classifier.learner_.what_if(x, y)
    assert asked[0].interfered
    assert not asked[1].interfered
    assert (classifier.decision_function(IRIS.data) == before).all()


def test_certificates_tell_of_each_row_of_the_call_and_of_the_last_change():
    classifier = MinoutClassifier().partial_fit(X, Y)
    learner, certificates = Learner(), []
    for x, y in zip(X, Y, strict=True):
        certificates.append(learner.teach(x, y).certificate)
    assert classifier.certificates_ == certificates
    assert classifier.certificate_ == certificates[-1]
    assert classifier.consolidate().certificate == classifier.certificate_
    assert classifier.correct(0, "b").certificate == classifier.certificate_
    certificate = classifier.forget([1])
    assert certificate.forgotten == (1,)  # what is kept, and pickled, does not name it
    assert certificate._replace(forgotten=()) == classifier.certificate_
    certificate = classifier.forget_class("a")
    assert certificate._replace(forgotten=()) == classifier.certificate_
    assert classifier.fit(X, Y).certificates_ == [classifier.certificate_]
    assert classifier.certificate_.checked == 6
    assert classifier.reports_ == []


def test_reports_tell_whether_each_row_was_right_and_what_was_refreshed():
    classifier, learner = MinoutClassifier().partial_fit(X, Y), Learner()
    wanted = [learner.teach(x, y) for x, y in zip(X, Y, strict=True)]
    assert list(map(_timeless, classifier.reports_)) == list(map(_timeless, wanted))
    assert any(each.refresh for each in classifier.reports_)
    assert {each.was_right for each in classifier.reports_} >= {None, True}
    twin = pickle.loads(pickle.dumps(classifier))
    assert (twin.reports_, twin.ids_) == (classifier.reports_, classifier.ids_)
    report = classifier.correct(0, "b")
    assert classifier.reports_ == [report]
    assert classifier.ids_ == list(range(6))
    classifier.forget(0)
    assert (classifier.reports_, classifier.ids_) == ([], [1, 2, 3, 4, 5])


def _timeless(report):
    refresh = report.refresh and report.refresh._replace(seconds=0.0)
    return report._replace(refresh=refresh)


def test_plain_arrays_are_taken_as_scikit_learn_takes_them(monkeypatch):
    quick = MinoutClassifier().partial_fit(IRIS.data[::3], NAMES[::3])
    monkeypatch.setattr("minout.estimator_base.is_plain_array", lambda *_: False)
    slow = MinoutClassifier().partial_fit(IRIS.data[::3], NAMES[::3])
    scores = slow.decision_function(IRIS.data)
    monkeypatch.undo()
    assert (quick.decision_function(IRIS.data) == scores).all()
    for wrong in (IRIS.data[:2] * np.nan, IRIS.data[:2, :3], IRIS.data[:0], IRIS.data * np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity|features|0 sample"):
            quick.predict(wrong)


def test_correct_forget_and_forget_class_are_the_learners():
    classifier = MinoutClassifier().partial_fit(X, Y, classes=["a", "b", "c"])
    report = classifier.correct(0, "c")
    assert (report.example_id, report.label) == (0, "c")
    classifier.forget_class("c")
    assert classifier.classes_.tolist() == ["a", "b"]
    classifier.forget(4)
    classifier.forget([5])
    assert classifier.all_ids_ == [1, 2, 3]
    classifier.consolidate()
    other = MinoutClassifier().fit(X[1:4], Y[1:4])
    assert (classifier.decision_function(X) == other.decision_function(X)).all()
    with pytest.raises(InvalidInputError, match="no example 99"):
        classifier.correct(99, "new")
    assert classifier.classes_.tolist() == ["a", "b"]
    with pytest.raises(InvalidInputError, match="One label"):
        classifier.correct(1, ["a", "b"])


def test_numbers_as_labels_can_be_corrected_and_forgotten():
    classifier = MinoutClassifier().fit(X, [True, True, True, False, False, False])
    classifier.correct(0, False)
    assert classifier.classes_.tolist() == [False, True]
    classifier.forget_class(True)
    assert classifier.predict(X).tolist() == [False] * 6
    assert classifier.classes_.dtype == np.bool_


def test_when_everything_is_forgotten_there_is_nothing_to_predict():
    classifier = MinoutClassifier().fit(X, Y)
    classifier.forget(classifier.all_ids_)
    assert classifier.classes_.tolist() == []
    for call in (
        classifier.predict,
        lambda X: classifier.predict(X, unknown="none"),
        classifier.decision_function,
        classifier.predict_proba,
    ):
        with pytest.raises(InvalidInputError, match="forgotten"):
            call(X)
    assert classifier.partial_fit(X, Y).predict(X).tolist() == Y


def test_explain_is_the_learners_for_one_row_in_any_form():
    classifier = MinoutClassifier(**PINS).fit(IRIS.data, NAMES)
    ours = classifier.explain(IRIS.data[100])
    theirs = classifier.learner_.explain(IRIS.data[100])
    for form in (IRIS.data[100:101], IRIS.data[100].tolist(), IRIS.data[100:101].astype("f4")):
        assert classifier.explain(form).label == ours.label
    assert ours.supports == theirs.supports
    assert ours.label == classifier.predict(IRIS.data[100:101])[0]
    total = ours.prior + ours.bias + sum(each.weight for each in ours.supports)
    assert total == pytest.approx(ours.margin)
    with pytest.raises(InvalidInputError, match="one row of numbers"):
        classifier.explain(IRIS.data[:2])
    with pytest.raises(ValueError, match="3 features"):
        classifier.explain(IRIS.data[0, :3])


def test_images_go_through_scattering_by_name():
    digits = load_digits()
    rows, labels = digits.data[:200], digits.target[:200]
    mapped = {"features": "scattering", "regions": 1, "expand": None, "C": 50.0}
    square = MinoutClassifier(**mapped).fit(rows, labels)
    shaped = MinoutClassifier(**mapped, image_shape=[8, 8]).fit(rows, labels)
    assert (square.predict(digits.data[200:300]) == shaped.predict(digits.data[200:300])).all()
    assert square.score(digits.data[200:300], digits.target[200:300]) > 0.9
    assert square.n_features_in_ == 64
    with pytest.raises(InvalidInputError):
        MinoutClassifier(features="scattering", image_shape=(9, 8)).fit(rows, labels)


def lengths(words):
    return [[len(word), word.count("e")] for word in words]


def test_a_function_of_the_users_gets_anything():
    words = ["be", "me", "elephant", "vegetables"]
    classifier = MinoutClassifier(features=lengths).fit(words, ["short", "short", "long", "long"])
    assert classifier.predict(["he", "evergreens"]).tolist() == ["short", "long"]
    classifier.partial_fit(["eh"], ["short"])
    assert classifier.explain("elements").label == "long"
    assert not hasattr(classifier, "n_features_in_")
    for empty in ([], "word", 3):
        with pytest.raises(InvalidInputError):
            classifier.predict(empty)
    with pytest.raises(ValueError, match="inconsistent"):
        classifier.partial_fit(["a", "b"], ["short"])


FITTED = [each for each in vars(MinoutClassifier) if each.endswith("_") and each[0] != "_"]


def test_an_unfitted_classifier_says_so_and_has_no_fitted_attributes():
    for method in ("predict", "predict_proba", "decision_function", "explain", "forget"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(MinoutClassifier(), method)(X)
    assert len(FITTED) > 10
    assert [name for name in FITTED if hasattr(MinoutClassifier(), name)] == []


def test_the_callers_arrays_are_neither_kept_nor_changed():
    rows, labels = X.copy(), np.array(Y)
    classifier = MinoutClassifier().fit(rows, labels)
    before = classifier.decision_function(X)
    rows[:], labels[:] = -1.0, "z"
    assert (classifier.decision_function(X) == before).all()
    one = X[:1].copy()
    classifier.partial_fit(one, ["a"])
    one[:] = 1e9
    assert classifier.audit().ok


def test_the_logarithm_of_a_probability_is_that_of_predict_proba():
    classifier = MinoutClassifier().partial_fit(X, Y, classes=["zebra"])
    with np.errstate(divide="ignore"):
        assert (classifier.predict_log_proba(X) == np.log(classifier.predict_proba(X))).all()
    assert (classifier.predict_log_proba(X)[:, -1] == -np.inf).all()


@pytest.mark.parametrize("dtype", ["U3", bool, float])
def test_a_separator_is_found_by_the_labels_of_the_user(dtype):
    classifier = MinoutClassifier().fit(X, np.array([0, 0, 0, 1, 1, 1]).astype(dtype))
    first, second = classifier.classes_
    weights, bias, supports = classifier.separator(second, first)
    assert X @ weights + bias == pytest.approx(classifier.decision_function(X))
    assert {each.id for each in supports} <= set(range(6))
    with pytest.raises(ValueError, match="needs two labels"):
        classifier.separator(first, first)


SINGULAR = {
    "features": (lambda each: each.predict([[1.0]]), "x has 1 feature, but"),
    "rows": (lambda each: each.teach_many([[1.0, 2.0]], ["a", "b"]), "Got 1 row and 2 labels;"),
    "weights": (
        lambda each: each.teach_many([[1.0, 2.0]], ["a"], weights=[1, 1]),
        "Got 1 row and 2 weights;",
    ),
    "ids": (lambda each: each.correct_many([0], ["a", "b"]), "Got 1 id and 2 labels;"),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_a_count_of_one_is_singular(case):
    learner = Learner()
    learner.teach_many([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    call, words = SINGULAR[case]
    with pytest.raises(InvalidInputError, match=words):
        call(learner)
