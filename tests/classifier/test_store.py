"""A classifier whose model is kept in a file."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from minout import InvalidInputError, Learner, MinoutClassifier
from minout.errors import UnwritableError
from oracle.margin import saved

X, y = load_wine(return_X_y=True)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "wines.minout"


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_a_model_in_a_file_has_the_bits_of_one_in_ram(file, durability):
    plain = MinoutClassifier().fit(X[::2], y[::2], at=0.0)
    kept = MinoutClassifier(store=file, durability=durability).fit(X[::2], y[::2], at=0.0)
    for each in (plain, kept):
        each.partial_fit(X[1:20:2], y[1:20:2], at=1.0)
        each.correct(0, 2)
        each.forget(3)
    kept.learner_.close()
    again = MinoutClassifier(store=file)
    assert saved(kept.learner_) == saved(plain.learner_)
    np.testing.assert_array_equal(again.predict(X), plain.predict(X))
    for each in (again, plain):
        each.partial_fit(X[21:30], y[21:30], at=2.0)
        each.consolidate()
    assert saved(again.learner_) == saved(plain.learner_)


def test_fit_refuses_a_file_that_holds_a_model(file):
    kept = MinoutClassifier(store=file).fit(X, y)
    before = saved(kept.learner_)
    with pytest.raises(InvalidInputError, match=r"model in .*wines\.minout, and `fit` starts"):
        kept.fit(X, y)
    with pytest.raises(InvalidInputError, match="already a model"):
        clone(kept).fit(X, y)
    assert saved(kept.learner_) == before


def test_a_fit_that_fails_leaves_no_file(file):
    with pytest.raises(ValueError, match="NaN"):
        MinoutClassifier(store=file).fit(np.full_like(X, np.nan), y)
    assert not file.exists()


def test_other_parameters_than_those_of_the_model_are_refused(file):
    MinoutClassifier(store=file, C=2.0).fit(X, y).learner_.close()
    with pytest.raises(InvalidInputError, match=r"was made with C=2\.0, not 3\.0"):
        MinoutClassifier(store=file, C=3.0).partial_fit(X, y)


def test_a_pickle_is_not_connected_with_the_file(file):
    kept = MinoutClassifier(store=file).fit(X, y)
    twin = pickle.loads(pickle.dumps(kept))
    twin.forget(0)
    assert 0 in kept.all_ids_
    kept.learner_.close()
    assert 0 in Learner.open(file, read_only=True)
    with pytest.raises(UnwritableError, match="has been closed; open it again"):
        kept.forget(1)
    assert kept.predict(X[:1]).shape == (1,)


ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])


def two_on(file, labels):
    """Return two classifiers on one file, which has four rows."""
    one, other = (MinoutClassifier(store=file, durability="full") for _ in range(2))
    one.partial_fit(ROWS, labels)
    other.predict(ROWS)
    return one, other


def test_a_wider_label_of_one_classifier_is_not_narrowed_by_another(file):
    one, other = two_on(file, np.array([1, 2, 1, 2], dtype=np.int8))
    one.partial_fit([[50.0, -50.0]], np.array([1000]))
    other.partial_fit([[6.0, 5.0]], np.array([2], dtype=np.int8), sample_weight=[1.0])
    for each in (one, other, MinoutClassifier(store=file)):
        assert each.predict([[50.0, -50.0]]).tolist() == [1000]


def test_classes_that_two_classifiers_announce_are_all_kept(file):
    one, other = two_on(file, ["a", "b", "a", "b"])
    one.partial_fit([[5.0, 5.0]], ["a"], classes=["x"])
    other.partial_fit([[6.0, 5.0]], ["a"], classes=["y"])
    other.correct(0, "b")
    one.forget(1)
    assert one.classes_.tolist() == other.classes_.tolist() == ["a", "b", "x", "y"]


def test_a_change_that_is_not_committed_does_not_announce(file, monkeypatch):
    one, other = two_on(file, ["a", "b", "a", "b"])

    def full(*_):
        raise UnwritableError("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr("minout.store.File.commit", full)
        with pytest.raises(UnwritableError, match="full"):
            one.partial_fit([[5.0, 5.0]], ["a"], classes=["x"])
    other.partial_fit([[6.0, 5.0]], ["a"], classes=["y"])
    one.partial_fit([[7.0, 5.0]], ["a"])
    assert one.classes_.tolist() == ["a", "b", "y"]


def test_clone_and_get_params_do_not_open_the_file(file, monkeypatch):
    MinoutClassifier(store=file).fit(X, y).learner_.close()
    fresh = MinoutClassifier(store=file)
    monkeypatch.setattr("minout.estimator_base.Learner", None)
    assert clone(fresh).get_params() == fresh.get_params()
    assert pickle.loads(pickle.dumps(fresh)).store == file
    with pytest.raises(AttributeError, match="open"):
        fresh.classes_  # noqa: B018


def test_a_classifier_that_only_predicts_writes_nothing(file):
    with Learner.open(file) as learner:
        learner.teach_many(ROWS, ["a", "b", "a", "b"])
    reader = MinoutClassifier(store=file)
    reader.predict(ROWS)
    with Learner.open(file) as learner:
        learner.teach([3.0, 3.0], "a")
    reader.learner_.close()
    assert Learner.open(file, read_only=True).notes == {}


def test_a_file_that_cannot_be_written_to_can_be_predicted_from(file, monkeypatch):
    MinoutClassifier(store=file).fit(X, y).learner_.close()
    real = Learner.open

    def forbidden(*args, read_only=False, **settings):
        if not read_only:
            raise UnwritableError("It is read-only.")
        return real(*args, read_only=read_only, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(Learner, "open", forbidden)
        reader = MinoutClassifier(store=file)
        assert reader.score(X, y) > 0.9
        changes = (
            lambda: reader.partial_fit(X[:1], y[:1], ids=["new"]),
            lambda: reader.correct(0, 1),
            lambda: reader.forget(0),
            reader.consolidate,
        )
        for change in changes:
            with pytest.raises(UnwritableError, match="It is read-only"):
                change()
    reader.partial_fit(X[:1], y[:1], ids=["new"])
    assert "new" in reader.all_ids_


def test_other_class_weights_than_those_of_the_model_are_refused(file):
    weights = {"a": 2.0}
    labels = ["a", "b", "a", "b"]
    MinoutClassifier(store=file, class_weight=weights).partial_fit(ROWS, labels).learner_.close()
    for other in ({"a": 5.0, "b": 7.0}, "balanced", None):
        with pytest.raises(InvalidInputError, match=r"was made with class_weight={'a': 2\.0}, not"):
            MinoutClassifier(store=file, class_weight=other).predict(ROWS)
    same = MinoutClassifier(store=file, class_weight=weights)
    same.partial_fit([[9.0, 9.0]], ["a"], ids=["z"])
    assert same.learner_.weight("z") == 2.0


def test_durability_without_a_file_is_refused():
    for way in ("fit", "partial_fit"):
        with pytest.raises(InvalidInputError, match="name the file as `store`"):
            getattr(MinoutClassifier(durability="full"), way)(X, y)


FORGET = {
    "forget": lambda each: each.forget("secret id"),
    "forget_class": lambda each: each.forget_class("a secret label"),
    "corrected": lambda each: (each.correct("secret id", "cat"), each.forget("secret id")),
}
SECRET = {
    "announced": lambda file: MinoutClassifier(store=file).partial_fit(
        ROWS,
        ["cat", "dog", "cat", "a secret label"],
        classes=["a secret label", "emu"],
        ids=[1, 2, 3, "secret id"],
    ),
    "balanced": lambda file: MinoutClassifier(store=file, class_weight="balanced").fit(
        ROWS, ["cat", "dog", "cat", "a secret label"], ids=[1, 2, 3, "secret id"]
    ),
}


@pytest.mark.parametrize("how", FORGET)
@pytest.mark.parametrize("way", SECRET)
def test_a_forgotten_label_is_in_no_file_after_compact(file, way, how):
    classifier = SECRET[way](file)
    FORGET[how](classifier)
    others = ["cat", "dog", *(["emu"] if way == "announced" else [])]
    assert classifier.classes_.tolist() == others
    classifier.learner_.compact()
    classifier.learner_.close()
    files = list(file.parent.iterdir())
    assert file in files
    assert [each.name for each in files if b"secret" in each.read_bytes()] == []
