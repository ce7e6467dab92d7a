"""A learner that is copied or pickled says the same, and goes on by itself."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

from minout import Encoder, Identity, Learner
from oracle.margin import model_bits

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target].tolist()


def doubled(batch):
    return 2.0 * np.asarray(batch)


def through_pickle(learner):
    return pickle.loads(pickle.dumps(learner))


def through_deepcopy(learner):
    return copy.deepcopy(learner)


def through_copy(learner):
    return copy.copy(learner)


WAYS = [through_pickle, through_deepcopy, through_copy]


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_says_the_same_and_goes_on_by_itself(way):
    manual = {"C": 5.0, "whiten": False, "refresh": "manual"}
    learner = Learner(**manual if way is through_deepcopy else {})
    learner.teach_many(IRIS.data[::2], NAMES[::2], ids=[f"e{i}" for i in range(75)])
    learner.forget(["e3", "e40"])
    learner.correct("e5", NAMES[-1])
    learner.notes["mine"] = {"a": [1, 2]}
    learner.teach(IRIS.data[1], NAMES[1])
    other = way(learner)
    assert (other.ids, other.misfits, other.corrected) == (
        learner.ids,
        learner.misfits,
        learner.corrected,
    )
    assert (other.settings, other.choice, other.notes) == (
        learner.settings,
        learner.choice,
        learner.notes,
    )
    assert (other.scores(IRIS.data) == learner.scores(IRIS.data)).all()
    for each in (learner, other):
        each.teach_many(IRIS.data[3::4], NAMES[3::4])
        assert each.audit().ok
    assert other.predict(IRIS.data).tolist() == learner.predict(IRIS.data).tolist()
    for each in (learner, other):
        each.consolidate()
    assert model_bits(other) == model_bits(learner)
    other.forget(other.ids[:20])
    other.notes.clear()
    assert len(learner) == 75 - 2 + 1 + 37
    assert learner.notes


@pytest.mark.parametrize("way", WAYS)
def test_a_learner_that_was_taught_nothing_is_copied(way):
    other = way(Learner(C=3.0, features=Identity("float32")))
    assert (other.settings.C, other.features, len(other)) == (3.0, Identity("float32"), 0)
    other.teach([1.0], "a")


def test_a_pickle_holds_a_function_of_the_users():
    learner = Learner(features=Encoder(doubled, name="doubled"))
    learner.teach_many(IRIS.data, NAMES)
    other = pickle.loads(pickle.dumps(learner))
    assert other.features.function is doubled
    assert (other.scores(IRIS.data) == learner.scores(IRIS.data)).all()


def test_the_state_names_no_types_of_minout():
    learner = Learner()
    learner.teach_many(IRIS.data, NAMES)
    assert {type(each) for each in learner.__getstate__().values()} == {bytes}


def test_a_separator_is_the_margin_between_two_labels():
    learner = Learner()
    learner.teach_many(IRIS.data, NAMES)
    asked = 0
    for x in IRIS.data[::10]:
        said = learner.explain(x)
        regions = said.region, said.runner_up_region
        weights, bias, supports = learner.separator(said.label, said.runner_up, regions)
        (row,) = learner.expanded([x])
        assert weights @ row + bias == pytest.approx(said.margin, abs=1e-9)
        assert {each.id for each in supports} == {each.id for each in said.supports}
        asked += 1
    assert asked == 15
    a, b = "versicolor", "virginica"
    one, other = learner.separator(a, b), learner.separator(b, a)
    assert (one.weights == -other.weights).all()
    assert (one.bias, one.supports) == (-other.bias, other.supports)
    assert {each.label for each in one.supports} == {a, b}
    assert [each.alpha for each in one.supports] == sorted(
        (each.alpha for each in one.supports), reverse=True
    )
    assert all(each.alpha > 0 for each in one.supports)
    one.weights[:] = 0.0
    assert learner.audit().ok
