"""The classifier with rows stored as codes."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

from minout import InvalidInputError, MinoutClassifier, ProductCodec, RowCodec, ScalarCodec
from oracle.codecs import Shrinking

X, Y = load_wine(return_X_y=True)
MEMORIES = {
    "uint8": "uint8",
    "uint4": "uint4",
    "fitted": ScalarCodec.fit(X, bits=4),
    "product": ProductCodec.fit(X, bytes_per_row=4),
}
STRAIGHT = {"regions": 1, "expand": None}
every_memory = pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES)


@every_memory
def test_every_original_is_right_or_listed(memory):
    classifier = MinoutClassifier(memory=memory).fit(X, Y)
    wrong = np.flatnonzero(classifier.predict(X) != Y)
    assert set(wrong.tolist()) <= set(classifier.misfits_)
    assert classifier.audit().ok
    assert classifier.learner_.memory.width == X.shape[1]


@every_memory
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


def test_names_come_back_as_names(tmp_path):
    for memory in ("auto", "uint8", "uint4", "uint2"):
        MinoutClassifier(memory=memory, **STRAIGHT).fit(X[::3], Y[::3]).save(tmp_path / "model")
        assert MinoutClassifier.load(tmp_path / "model").memory == memory
    MinoutClassifier(memory=RowCodec(8), **STRAIGHT).fit(X[::3], Y[::3]).save(tmp_path / "model")
    assert MinoutClassifier.load(tmp_path / "model").memory == RowCodec(8, 13)


def test_columns_in_different_units_need_ranges_in_4_bits_but_not_in_8():
    def score(memory):
        return cross_val_score(MinoutClassifier(memory=memory, **STRAIGHT), X, Y, cv=3).mean()

    floats = score("auto")
    assert score("uint8") > floats - 0.04
    assert score(MEMORIES["fitted"]) > floats - 0.04
    assert score("uint4") < floats - 0.1


def test_a_wrong_memory_is_refused_when_a_model_is_started():
    classifier = MinoutClassifier(memory="uint16")
    with pytest.raises(InvalidInputError, match="`memory` must be"):
        classifier.fit(X, Y)
