"""Sample weights and class weights: rows count by them, and bad ones are refused."""

import copy

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from minout import InvalidInputError, MinoutClassifier
from oracle.margin import clusters, saved

X, Y = clusters(1, classes=3, each=12, features=3, apart=0.7)
Y = np.array(Y)
WEIGHTS = np.random.default_rng(0).choice([0.5, 1.0, 4.0], len(Y))
PINNED = {"C": 5.0, "regions": 1, "expand": None}


def probabilities(classifier):
    return classifier.predict_proba(X)


def equal(found):
    return pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_rows_of_weight_0_are_left_out(way):
    weights = np.where(np.arange(len(Y)) % 3, WEIGHTS, 0.0)
    kept, ids = weights > 0.0, [f"r{i}" for i in range(len(Y))]
    one, two = MinoutClassifier(), MinoutClassifier()
    getattr(one, way)(X, Y, sample_weight=weights, ids=ids, at=range(len(Y)))
    left = [f"r{i}" for i in np.flatnonzero(kept)]
    given = {"sample_weight": weights[kept], "ids": left, "at": np.flatnonzero(kept)}
    getattr(two, way)(X[kept], Y[kept], **given)
    assert saved(one.learner_) == saved(two.learner_)
    assert one.all_ids_ == left


def test_class_weights_are_the_weights_of_all_rows_of_a_label():
    named = MinoutClassifier(class_weight={0: 5.0, 2: 0.25}).fit(X, Y, WEIGHTS)
    by_hand = MinoutClassifier().fit(X, Y, WEIGHTS * np.array([5.0, 1.0, 0.25])[Y])
    assert probabilities(named).tolist() == probabilities(by_hand).tolist()
    stream = MinoutClassifier(class_weight={0: 5.0, 2: 0.25})
    for i in range(len(Y)):
        stream.partial_fit(X[i : i + 1], Y[i : i + 1], sample_weight=WEIGHTS[i : i + 1])
    stream.consolidate()
    assert probabilities(stream) == equal(probabilities(named))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_balanced_is_the_formula_of_scikit_learn(weights):
    few = np.flatnonzero((Y > 0) | (np.arange(len(Y)) % 2 == 0))
    given = None if weights is None else weights[few]
    found = MinoutClassifier(class_weight="balanced").fit(X[few], Y[few], given)
    if given is None:
        wanted = compute_sample_weight("balanced", Y[few])
    else:
        total = np.bincount(Y[few], given)
        wanted = given * (total.sum() / (3 * total))[Y[few]]
    assert [found.learner_.weight(i) for i in found.ids_] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("setting", [{0: 5.0, 2: 0.25}, "balanced"], ids=["named", "balanced"])
@pytest.mark.parametrize("copied", ["as it is", "loaded"])
def test_a_corrected_example_has_the_class_weight_of_its_new_label(setting, copied, tmp_path):
    one = MinoutClassifier(class_weight=setting).fit(X[:30], Y[:30], WEIGHTS[:30])
    if copied == "loaded":
        one.save(tmp_path / "model")
        one = MinoutClassifier.load(tmp_path / "model")
        assert one.class_weight == setting
    i, label = 4, int((Y[4] + 1) % 3)
    factors = {int(y): one.learner_.weight(k) / WEIGHTS[k] for k, y in enumerate(Y[:30])}
    assert len(set(factors.values())) == 3
    two = copy.deepcopy(one)
    one.correct(i, label)
    assert one.learner_.weight(i) == pytest.approx(WEIGHTS[i] * factors[label])
    two.forget(i)
    two.learner_.teach(X[i], label, id=i, weight=WEIGHTS[i] * factors[label])
    for each in (one, two):
        each.consolidate()
    assert probabilities(one) == equal(probabilities(two))
    weight = one.learner_.weight(i)
    one.correct(i, label)  # its own label: nothing changes
    assert one.learner_.weight(i) == weight


BAD = {
    "negative": ({"sample_weight": [-1.0] * 4}, "not -1.0"),
    "missing": ({"sample_weight": [1.0, np.nan, 1.0, 1.0]}, "not nan"),
    "infinite": ({"sample_weight": [1.0, np.inf, 1.0, 1.0]}, "not inf"),
    "all zero": ({"sample_weight": [0.0] * 4}, "zero"),
    "too small": ({"sample_weight": [1e-10] * 4}, "not 1e-10"),
    "too large": ({"sample_weight": [1e10] * 4}, "not 1e10|not 10000000000.0"),
    "too few": ({"sample_weight": [1.0]}, "4 rows, but 1 sample weight;"),
    "two columns": ({"sample_weight": np.ones((4, 2))}, "shape"),
    "words": ({"sample_weight": ["a"] * 4}, "one number per row"),
    "times": ({"at": [1.0, 2.0]}, "4 rows and 2 times"),
    "ids": ({"ids": ["a"], "sample_weight": [0.0, 1.0, 1.0, 1.0]}, "4 rows, but 1 id;"),
}


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
@pytest.mark.parametrize("case", BAD)
def test_bad_weights_are_refused_in_one_sentence_and_change_nothing(way, case):
    given, expected = BAD[case]
    classifier = MinoutClassifier(**PINNED).fit(X, Y)
    before = saved(classifier.learner_)
    with pytest.raises(InvalidInputError, match=expected) as refused:
        getattr(classifier, way)(X[:4], Y[:4], **given)
    assert str(refused.value).count(". ") == 0
    assert str(refused.value).endswith(".")
    assert saved(classifier.learner_) == before


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("even", "not 'even'"),
        ([1.0, 2.0], "not list"),
        ({0: 0.0}, "not 0.0"),
        ({0: "a"}, "not a str"),
        ({"a": 1.0}, "another type"),
        ({0: 1e9}, "row 1, its sample weight times its class weight"),
    ],
    ids=["word", "list", "zero", "text", "label", "product"],
)
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_bad_class_weights_are_refused_in_one_sentence(way, setting, expected):
    classifier = MinoutClassifier(class_weight=setting)
    with pytest.raises(InvalidInputError, match=expected) as refused:
        getattr(classifier, way)([[0.0], [1.0]], [1, 0], sample_weight=[1.0, 2.0])
    assert str(refused.value).count(". ") == 0
    assert not hasattr(classifier, "classes_")


def test_fit_refuses_a_class_weight_for_a_label_that_is_misspelt():
    misspelt = MinoutClassifier(class_weight={"cat": 2.0, "dgo": 3.0})
    with pytest.raises(InvalidInputError, match="'dgo', which is not in y, and none for 'dog'"):
        misspelt.fit([[0.0], [1.0]], ["cat", "dog"])
    assert not hasattr(misspelt, "classes_")
    misspelt.partial_fit([[0.0], [1.0]], ["cat", "dog"])  # it may come later
    others = MinoutClassifier(class_weight={"cat": 2.0, "dog": 3.0, "emu": 4.0})
    others.fit([[0.0], [1.0]], ["cat", "dog"])  # every label has one: as in scikit-learn
    assert [others.learner_.weight(each) for each in others.all_ids_] == [2.0, 3.0]


def test_partial_fit_refuses_balanced_class_weights():
    new, fitted = (MinoutClassifier(class_weight="balanced") for _ in range(2))
    fitted.fit(X, Y)
    before = saved(fitted.learner_)
    for each in (new, fitted):
        with pytest.raises(InvalidInputError, match="needs all labels at once"):
            each.partial_fit(X[:1], Y[:1])
    assert saved(fitted.learner_) == before
