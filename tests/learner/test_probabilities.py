"""Probabilities: as sharp as rows that were held out suggest, and the same in any order."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from minout import Learner, MarginRule
from minout.errors import InvalidInputError
from minout.rules import choice as choice_module
from minout.rules import shares


def taught(X, y, rule=None):
    learner = Learner(rule=rule)
    learner.teach_many(X, y.tolist())
    learner.consolidate()
    return learner


def test_shares_are_normalised_and_survive_large_scores():
    found = shares(np.array([[0.0, 0.0], [1000.0, -1000.0], [1.0, 1.0 + np.log(3.0)]]))
    assert found == pytest.approx(np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]))


def test_probabilities_rank_like_scores_and_add_up():
    X, y = load_digits(return_X_y=True)
    learner = taught(X[:200], y[:200])
    found, scores = learner.probabilities(X[200:260]), learner.scores(X[200:260])
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert (found.argmax(axis=1) == scores.argmax(axis=1)).all()
    wanted = np.exp(learner.choice.sharpness * scores)
    assert found == pytest.approx(wanted / wanted.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("rule", [None, MarginRule(price=0.1, metric=True, prior=True)])
def test_no_other_sharpness_makes_held_out_labels_much_likelier(rule):
    X, y = load_breast_cancer(return_X_y=True)
    learner = taught(X[:300], y[:300], rule)
    own = y[300:].astype(int)

    def surprise(sharpness):
        found = shares(sharpness * learner.scores(X[300:]))
        return -np.log(found[np.arange(len(own)), own]).mean()

    tried = learner.choice.sharpness * np.array([0.125, 0.5, 2.0, 8.0])
    assert surprise(learner.choice.sharpness) < min(surprise(tried[0]), surprise(tried[3]))
    assert surprise(learner.choice.sharpness) < 1.3 * min(surprise(each) for each in tried[1:3])


def test_sharpness_is_where_the_likelihood_is_highest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + 1.5 * (np.arange(120) % 2)[:, None]
    labels = np.arange(120) % 2
    digests = rng.integers(0, 2**63, 120).astype(np.uint64)
    shape, price = choice_module.SHAPES[0], 0.1
    found = choice_module.choose(X, labels, digests, (shape,), (price,))
    folds = (digests >> np.uint64(7)) % np.uint64(choice_module.FOLDS)
    products = choice_module._products(X, False)
    scores, own = [], []
    for fold in range(choice_module.FOLDS):
        held = folds == fold
        part = choice_module._scores(products, 2, labels, ~held, shape, (price,))
        scores.append(part[0])
        own.append(labels[held])
    scores, own = np.concatenate(scores), np.concatenate(own)

    def likelihood(sharpness):
        return np.log(shares(sharpness * scores)[np.arange(120), own]).sum()

    grid = np.geomspace(0.2, 20.0, 400)
    best = grid[np.argmax([likelihood(each) for each in grid])]
    assert found.sharpness == pytest.approx(best, rel=0.15)


def test_the_order_is_of_no_account():
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
