"""A classifier whose model is kept in a folder."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from minout import InvalidInputError, Learner, MinoutClassifier
from minout.errors import UnwritableError

X, y = load_wine(return_X_y=True)


def bits(classifier, tmp_path):
    """Return the bytes of the saved model."""
    file = tmp_path / "bits.minout"
    classifier.save(file)
    return file.read_bytes()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "wines"


@pytest.mark.parametrize("durability", ["batch", "example"])
def test_a_model_in_a_folder_has_the_bits_of_one_in_ram(folder, tmp_path, durability):
    plain = MinoutClassifier().fit(X[::2], y[::2], at=0.0)
    kept = MinoutClassifier(store=folder, durability=durability).fit(X[::2], y[::2], at=0.0)
    for each in (plain, kept):
        each.partial_fit(X[1:20:2], y[1:20:2], at=1.0)
        each.correct(0, 2)
        each.forget(3)
    kept.learner_.close()
    again = MinoutClassifier(store=folder)
    assert bits(kept, tmp_path) == bits(plain, tmp_path)
    np.testing.assert_array_equal(again.predict(X), plain.predict(X))
    again.partial_fit(X[21:30], y[21:30], at=2.0)
    plain.partial_fit(X[21:30], y[21:30], at=2.0)
    assert bits(again, tmp_path) == bits(plain, tmp_path)


def test_fit_refuses_a_folder_that_holds_a_model(folder, tmp_path):
    kept = MinoutClassifier(store=folder).fit(X, y)
    before = bits(kept, tmp_path)
    with pytest.raises(InvalidInputError, match=r"already a model in .*wines, and `fit` starts"):
        kept.fit(X, y)
    with pytest.raises(InvalidInputError, match="already a model"):
        clone(kept).fit(X, y)
    assert bits(kept, tmp_path) == before


def test_a_fit_that_fails_leaves_no_folder(folder):
    with pytest.raises(ValueError, match="NaN"):
        MinoutClassifier(store=folder).fit(np.full_like(X, np.nan), y)
    assert not folder.exists()


def test_labels_of_another_process_are_decoded(folder):
    one = MinoutClassifier(store=folder, durability="example")
    one.partial_fit(X[:5], ["a"] * 5)
    other = MinoutClassifier(store=folder, durability="example")
    other.partial_fit(X[60:65], ["a longer label"] * 5)
    one.partial_fit(X[65:66], ["a longer label"])
    assert one.classes_.tolist() == ["a", "a longer label"]
    assert other.learner_.reload()
    assert other.all_ids_ == list(range(11))
    assert set(one.predict(X)) <= {"a", "a longer label"}


def test_other_parameters_than_those_of_the_model_are_refused(folder):
    MinoutClassifier(store=folder, C=2.0).fit(X, y).learner_.close()
    with pytest.raises(InvalidInputError, match=r"was made with C=2\.0, not 3\.0"):
        MinoutClassifier(store=folder, C=3.0).partial_fit(X, y)


def test_a_pickle_is_not_connected_with_the_folder(folder):
    kept = MinoutClassifier(store=folder).fit(X, y)
    twin = pickle.loads(pickle.dumps(kept))
    twin.forget(0)
    assert 0 in kept.all_ids_
    kept.learner_.close()
    assert 0 in Learner.open(folder, read_only=True)
    with pytest.raises(UnwritableError, match="has been closed; open it again"):
        kept.forget(1)
    assert kept.predict(X[:1]).shape == (1,)
