"""Probabilities: as sharp as rows that were held out suggest, and the same in any order."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from minout import Learner
from minout.engine import softmax
from minout.errors import InvalidInputError


def taught(X, y, **settings):
    learner = Learner(**settings)
    learner.teach_many(X, y.tolist())
    learner.consolidate()
    return learner


def test_a_softmax_is_normalised_and_survives_large_scores():
    found = softmax(np.array([[0.0, 0.0], [1000.0, -1000.0], [1.0, 1.0 + np.log(3.0)]]))
    assert found == pytest.approx(np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]))


def test_probabilities_rank_like_scores_and_add_up():
    X, y = load_digits(return_X_y=True)
    learner = taught(X[:200], y[:200])
    found, scores = learner.probabilities(X[200:260]), learner.scores(X[200:260])
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert (found.argmax(axis=1) == scores.argmax(axis=1)).all()
    wanted = np.exp(learner.choice.sharpness * scores)
    assert found == pytest.approx(wanted / wanted.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    "settings", [{}, {"C": 5.0, "whiten": True, "lda_prior": True}], ids=["auto", "lda"]
)
def test_no_other_sharpness_makes_held_out_labels_much_likelier(settings):
    X, y = load_breast_cancer(return_X_y=True)
    learner = taught(X[:300], y[:300], **settings)
    own = y[300:].astype(int)

    def surprise(sharpness):
        found = softmax(sharpness * learner.scores(X[300:]))
        return -np.log(found[np.arange(len(own)), own]).mean()

    tried = learner.choice.sharpness * np.array([0.125, 0.5, 2.0, 8.0])
    assert surprise(learner.choice.sharpness) < min(surprise(tried[0]), surprise(tried[3]))
    assert surprise(learner.choice.sharpness) < 1.3 * min(surprise(each) for each in tried[1:3])


def test_probabilities_do_not_depend_on_the_order():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    first, second = taught(X[:150], y[:150]), taught(X[order], y[order])
    assert np.array_equal(first.probabilities(X[150:170]), second.probabilities(X[150:170]))


def test_one_class_is_certain_and_none_is_refused():
    learner = Learner()
    learner.teach([1.0], "a", id=0)
    assert learner.probabilities([[3.0]]).tolist() == [[1.0]]
    learner.forget(0)
    with pytest.raises(InvalidInputError, match="nothing to predict"):
        learner.probabilities([[3.0]])
