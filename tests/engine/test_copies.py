"""A learner that is copied or pickled goes on to the same bits."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris

from minout import Encoder, Identity, Learner

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target].tolist()


def doubled(batch):
    return 2.0 * np.asarray(batch)


def through_pickle(learner, folder):
    return pickle.loads(pickle.dumps(learner))


def through_deepcopy(learner, folder):
    return copy.deepcopy(learner)


def through_copy(learner, folder):
    return copy.copy(learner)


def through_a_read_only_map(learner, folder):
    joblib.dump(learner, folder / "learner")
    return joblib.load(folder / "learner", mmap_mode="r")


WAYS = [through_pickle, through_deepcopy, through_copy, through_a_read_only_map]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("settings", [{}, {"C": 5.0, "whiten": False, "refresh": "manual"}])
def test_a_copy_goes_on_to_the_same_bits(way, settings, tmp_path):
    learner = Learner(**settings)
    learner.teach_many(IRIS.data[::2], NAMES[::2], ids=[f"e{i}" for i in range(75)])
    learner.forget(["e3", "e40"])
    learner.correct("e5", NAMES[-1])
    learner.notes["mine"] = {"a": (1, 2)}
    learner.teach(IRIS.data[1], NAMES[1])
    other = way(learner, tmp_path)
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
    assert (other.scores(IRIS.data) == learner.scores(IRIS.data)).all()
    assert other.audit() == learner.audit()
    other.forget(other.ids[:20])
    other.notes.clear()
    assert len(learner) == 75 - 2 + 1 + 37
    assert learner.notes


@pytest.mark.parametrize("way", WAYS[:3])
def test_a_copy_knows_the_last_move(way, tmp_path):
    learner = Learner()
    learner.teach_many(IRIS.data[:120], NAMES[:120])
    report = learner.teach([9.0, 9.0, 9.0, 9.0], "setosa")
    assert report.certificate.moved
    assert way(learner, tmp_path).partition() == learner.partition()


@pytest.mark.parametrize("way", WAYS[:3])
def test_a_learner_that_was_taught_nothing_is_copied(way, tmp_path):
    other = way(Learner(C=3.0, features=Identity("float32")), tmp_path)
    assert (other.settings.C, other.features, len(other)) == (3.0, Identity("float32"), 0)
    other.teach([1.0], "a")


def test_a_pickle_holds_a_function_of_the_users():
    learner = Learner(features=Encoder(doubled, name="doubled"))
    learner.teach_many(IRIS.data, NAMES)
    other = pickle.loads(pickle.dumps(learner))
    assert other.features.function is doubled
    assert (other.scores(IRIS.data) == learner.scores(IRIS.data)).all()


def plain_types(value):
    if isinstance(value, dict):
        return {dict} | set().union(*map(plain_types, (*value.keys(), *value.values())))
    if isinstance(value, list | tuple):
        return {type(value)} | set().union(*map(plain_types, value))
    return {type(value)}


def test_the_state_names_no_types_of_minout():
    learner = Learner()
    learner.teach_many(IRIS.data, NAMES)
    found = plain_types(learner.__getstate__())
    assert found <= {dict, list, tuple, str, int, float, bool, type(None), np.ndarray}


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
