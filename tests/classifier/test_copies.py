"""A classifier that is copied, pickled or saved goes on as if nothing had happened."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from minout import Encoder, InvalidInputError, Learner, MinoutClassifier, ScalarCodec
from oracle.codecs import Shrinking

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
OWN = "minout.estimator.MinoutClassifier"
STRAIGHT = {"C": 50.0, "regions": 1, "expand": None}


def through_pickle(classifier, folder):
    return pickle.loads(pickle.dumps(classifier))


def through_deepcopy(classifier, folder):
    return copy.deepcopy(classifier)


def through_skops(classifier, folder):
    """The only type to trust is the classifier's own."""
    io = pytest.importorskip("skops.io", reason="skops is not installed")
    io.dump(classifier, folder / "model.skops")
    assert io.get_untrusted_types(file=folder / "model.skops") == [OWN]
    return io.load(folder / "model.skops", trusted=[OWN])


def through_a_file(classifier, folder):
    classifier.save(folder / "model.minout")
    return type(classifier).load(folder / "model.minout")


WAYS = [through_pickle, through_deepcopy, through_skops, through_a_file]
LABELS = {
    "words": NAMES,
    "objects": NAMES.astype(object),
    "bytes": IRIS.target.astype(np.int8),
    "floats": IRIS.target.astype(float),
    "truths": IRIS.target > 0,
}
CASES = [(way, kind) for way in WAYS for kind in LABELS if way in WAYS[::3] or kind == "words"]


@pytest.mark.parametrize(("way", "kind"), CASES)
def test_a_copy_goes_on_to_the_same_bits(way, kind, tmp_path):
    X, y = IRIS.data, LABELS[kind]
    classifier = MinoutClassifier(**STRAIGHT).partial_fit(X[::2], y[::2], classes=y[:1])
    copied = way(classifier, tmp_path)
    assert copied.get_params() == classifier.get_params()
    assert copied.classes_.dtype == classifier.classes_.dtype
    if way is not through_a_file:
        assert copied.certificate_ == classifier.certificate_
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
    classifier = MinoutClassifier(**STRAIGHT).partial_fit(frame, NAMES, classes=["zebra"])
    copied = way(classifier, tmp_path)
    assert copied.feature_names_in_.tolist() == list("abcd")
    assert copied.n_features_in_ == 4
    assert copied.classes_.tolist() == ["setosa", "versicolor", "virginica", "zebra"]
    with pytest.raises(ValueError, match="same order"):
        copied.predict(frame[list("dcba")])
    with pytest.warns(UserWarning, match="valid feature names"):
        copied.predict(IRIS.data)


def test_a_loaded_one_has_no_certificate_yet(tmp_path):
    copied = through_a_file(MinoutClassifier(**STRAIGHT).fit(IRIS.data, NAMES), tmp_path)
    assert copied.ids_ == []
    assert not hasattr(copied, "certificate_")
    copied.consolidate()
    assert copied.certificate_.checked > 0


X, Y = load_digits(return_X_y=True)
SETTINGS = {
    "scattering": {"features": "scattering", "image_shape": (8, 8), "refresh": "manual"},
    "projection": {"features": "projection"},
    "uint8": {"memory": "uint8"},
    "fitted": {"memory": ScalarCodec.fit(X, bits=4)},
}


@pytest.mark.parametrize("case", SETTINGS)
def test_parameters_maps_and_codecs_come_back(case, tmp_path):
    rows = sparse.csr_array(X[:50]) if case == "projection" else X[:50]
    classifier = MinoutClassifier(**SETTINGS[case], **STRAIGHT).fit(rows, Y[:50])
    copied = through_a_file(classifier, tmp_path)
    mine, its = classifier.get_params(), copied.get_params()
    for each in (mine, its):
        each["memory"] = getattr(each["memory"], "fingerprint", each["memory"])
    assert mine == its
    assert copied.n_features_in_ == 64
    for other in (copied, through_pickle(classifier, tmp_path), clone(copied).fit(rows, Y[:50])):
        assert (other.decision_function(X[:99]) == classifier.decision_function(X[:99])).all()


def doubled(batch):
    return 2.0 * np.asarray(batch)


@pytest.mark.parametrize(
    "own", [{"features": Encoder(doubled, name="doubled")}, {"memory": Shrinking(4)}]
)
def test_a_function_or_a_codec_of_the_users_is_passed_again(own, tmp_path):
    ((name, value),) = own.items()
    classifier = MinoutClassifier(**own, **STRAIGHT).fit(IRIS.data, NAMES)
    classifier.save(tmp_path / "model")
    with pytest.raises(InvalidInputError, match=f"pass it as `{name}`"):
        MinoutClassifier.load(tmp_path / "model")
    copied = MinoutClassifier.load(tmp_path / "model", **own)
    assert (copied.predict(IRIS.data) == classifier.predict(IRIS.data)).all()
    assert getattr(copied, name) is value


@pytest.mark.parametrize("labels", [NAMES, IRIS.target], ids=["str", "int"])
def test_a_learner_becomes_a_classifier_and_the_other_way_round(labels, tmp_path):
    learner = Learner(**STRAIGHT)
    learner.teach_many(IRIS.data, labels.tolist())
    learner.save(tmp_path / "model")
    classifier = MinoutClassifier.load(tmp_path / "model")
    assert (classifier.decision_function(IRIS.data) == learner.scores(IRIS.data)).all()
    assert classifier.classes_.tolist() == learner.classes.tolist()
    with pytest.raises(ValueError, match="3 features"):
        classifier.predict(IRIS.data[:, :3])
    assert classifier.n_features_in_ == 4
    assert len(classifier.partial_fit(IRIS.data[:2], labels[:2]).all_ids_) == 152
    classifier.save(tmp_path / "again")
    again = Learner.load(tmp_path / "again")
    assert (again.scores(IRIS.data) == classifier.decision_function(IRIS.data)).all()
