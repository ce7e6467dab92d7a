"""A classifier that is copied, pickled or saved goes on as if nothing had happened."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris

from minout import (
    Encoder,
    InvalidInputError,
    Learner,
    MinoutClassifier,
)

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]


def through_pickle(classifier, folder):
    return pickle.loads(pickle.dumps(classifier))


def through_joblib(classifier, folder):
    joblib.dump(classifier, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def through_deepcopy(classifier, folder):
    return copy.deepcopy(classifier)


def through_a_file(classifier, folder):
    classifier.save(folder / "model.minout")
    return type(classifier).load(folder / "model.minout")


WAYS = [through_pickle, through_joblib, through_deepcopy, through_a_file]
LABELS = {
    "words": NAMES,
    "objects": NAMES.astype(object),
    "numbers": IRIS.target,
    "bytes": IRIS.target.astype(np.int8),
    "floats": IRIS.target.astype(float),
    "truths": IRIS.target > 0,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", list(LABELS))
def test_a_copy_goes_on_to_the_same_bits(way, kind, tmp_path):
    X, y = IRIS.data, LABELS[kind]
    classifier = MinoutClassifier(C=50.0).partial_fit(X[::2], y[::2], classes=y[:1])
    copied = way(classifier, tmp_path)
    assert copied.get_params() == classifier.get_params()
    assert copied.classes_.dtype == classifier.classes_.dtype
    for each in (classifier, copied):
        each.partial_fit(X[1::2], y[1::2])
    assert (copied.decision_function(X) == classifier.decision_function(X)).all()
    assert copied.predict(X).tolist() == classifier.predict(X).tolist()
    assert copied.all_ids_ == classifier.all_ids_
    assert copied.certificate_ == classifier.certificate_
    copied.forget_class(y[0])
    assert len(classifier.all_ids_) == 150  # and it is nobody else's


@pytest.mark.parametrize("way", WAYS)
def test_names_of_columns_and_announced_labels_travel(way, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(IRIS.data, columns=list("abcd"))
    classifier = MinoutClassifier().partial_fit(frame, NAMES, classes=["zebra"])
    copied = way(classifier, tmp_path)
    assert copied.feature_names_in_.tolist() == list("abcd")
    assert copied.n_features_in_ == 4
    assert copied.classes_.tolist() == ["setosa", "versicolor", "virginica", "zebra"]
    with pytest.raises(ValueError, match="same order"):
        copied.predict(frame[list("dcba")])
    with pytest.warns(UserWarning, match="valid feature names"):
        copied.predict(IRIS.data)


def test_a_loaded_one_has_no_certificate_yet(tmp_path):
    copied = through_a_file(MinoutClassifier().fit(IRIS.data, NAMES), tmp_path)
    assert copied.ids_ == []
    assert not hasattr(copied, "certificate_")
    copied.consolidate()
    assert copied.certificate_.checked > 0


def test_parameters_and_maps_come_back(tmp_path):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    classifier = MinoutClassifier(features="scattering", image_shape=(8, 8), refresh="manual")
    copied = through_a_file(classifier.fit(X[:50], y[:50]), tmp_path)
    assert copied.get_params() == classifier.get_params()
    assert (copied.decision_function(X[:99]) == classifier.decision_function(X[:99])).all()
    copied.fit(X[:50], y[:50])
    assert (copied.decision_function(X[:99]) == classifier.decision_function(X[:99])).all()


def doubled(batch):
    return 2.0 * np.asarray(batch)


def test_a_function_of_the_users_is_passed_again(tmp_path):
    encoder = Encoder(doubled, name="doubled")
    classifier = MinoutClassifier(features=encoder).fit(IRIS.data, NAMES)
    classifier.save(tmp_path / "model")
    with pytest.raises(InvalidInputError, match="pass it as `features`"):
        MinoutClassifier.load(tmp_path / "model")
    copied = MinoutClassifier.load(tmp_path / "model", features=encoder)
    assert (copied.predict(IRIS.data) == classifier.predict(IRIS.data)).all()
    assert copied.features is encoder


@pytest.mark.parametrize("labels", [NAMES, IRIS.target])
def test_a_plain_learner_becomes_a_classifier(labels, tmp_path):
    learner = Learner()
    for x, y in zip(IRIS.data, labels, strict=True):
        learner.teach(x, y)
    learner.save(tmp_path / "model")
    classifier = MinoutClassifier.load(tmp_path / "model")
    assert (classifier.decision_function(IRIS.data) == learner.scores(IRIS.data)).all()
    assert classifier.classes_.tolist() == learner.classes.tolist()
    with pytest.raises(ValueError, match="3 features"):
        classifier.predict(IRIS.data[:, :3])
    assert classifier.n_features_in_ == 4
    assert len(classifier.partial_fit(IRIS.data[:2], labels[:2]).all_ids_) == 152


def test_a_classifier_is_a_learner_to_those_who_want_one(tmp_path):
    classifier = MinoutClassifier().fit(IRIS.data, NAMES)
    classifier.save(tmp_path / "model")
    learner = Learner.load(tmp_path / "model")
    assert (learner.scores(IRIS.data) == classifier.decision_function(IRIS.data)).all()
