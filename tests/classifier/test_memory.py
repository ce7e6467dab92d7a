"""The classifier with rows stored as codes."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from minout import InvalidInputError, MinoutClassifier, ScalarCodec
from oracle.codecs import Shrinking

X, Y = load_wine(return_X_y=True)
STRAIGHT = {"regions": 1, "expand": None}


@pytest.mark.parametrize("memory", ["uint8", ScalarCodec.fit(X, bits=4)], ids=["uint8", "fitted"])
def test_it_can_be_copied_saved_and_loaded(memory, tmp_path):
    classifier = MinoutClassifier(memory=memory, **STRAIGHT).fit(X, Y)
    classifier.save(tmp_path / "model")
    expected = classifier.predict_proba(X).tobytes()
    for other in (
        MinoutClassifier.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(classifier)),
        clone(classifier).fit(X, Y),
    ):
        assert other.predict_proba(X).tobytes() == expected
        mine, its = classifier.get_params()["memory"], other.get_params()["memory"]
        assert mine == its or mine.fingerprint == its.fingerprint


def test_a_users_codec_is_passed_to_load(tmp_path):
    codec = Shrinking(X.shape[1])
    classifier = MinoutClassifier(memory=codec, **STRAIGHT).fit(X, Y)
    classifier.save(tmp_path / "model")
    with pytest.raises(InvalidInputError, match="pass it as `memory`"):
        MinoutClassifier.load(tmp_path / "model")
    other = MinoutClassifier.load(tmp_path / "model", memory=codec)
    assert other.memory is codec
    assert other.predict(X).tolist() == classifier.predict(X).tolist()
