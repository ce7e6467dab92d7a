"""Ids are the numbers of the examples; a copy of a learner is a learner of its own."""

import copy
import pickle

import numpy as np
import pytest

from minout.paper import Closed, GradientRule, PaperLearner, Uniform
from oracle.recording import stream
from oracle.snapshot import snapshot

ROWS, LABELS = stream(7, examples=12, features=3)
RULE = GradientRule(neurons=3, learning_rate=0.5, max_steps=5)
UNIFORM = Uniform(2)


def taught(count, policy=UNIFORM):
    learner = PaperLearner(range(3), rule=RULE, policy=policy, seed=3)
    for x, y in zip(ROWS[:count], LABELS[:count].tolist(), strict=True):
        learner.teach(x, y)
    return learner


@pytest.mark.parametrize("count", [0, 1, 9])
def test_what_is_in_a_learner_is_what_ids_lists(count):
    learner = taught(count)
    assert learner.ids == [*range(count)]
    assert [number for number in range(-3, count + 3) if number in learner] == learner.ids
    assert [number for number in range(20) if np.int64(number) in learner] == learner.ids


@pytest.mark.parametrize("other", [True, False, 0.0, 1.0, "0", None, (0,), [0], np.bool_(True)])
def test_what_only_equals_a_number_is_no_id(other):
    assert other not in taught(3)


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
}


@pytest.mark.parametrize("policy", [Uniform(2), Closed()], ids=["uniform", "closed"])
@pytest.mark.parametrize("count", [0, 8])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_goes_on_to_the_same_bits_and_leaves_the_original_alone(copied, count, policy):
    learner = taught(count, policy)
    before = snapshot(learner)
    other = copied(learner)
    assert snapshot(other) == before
    assert (other.rule, other.policy, other.ids) == (learner.rule, learner.policy, learner.ids)
    other.teach_many(ROWS[count:], LABELS[count:])
    assert snapshot(learner) == before
    learner.teach_many(ROWS[count:], LABELS[count:])
    assert snapshot(learner) == snapshot(other) == snapshot(taught(12, policy))
    other._check()


def test_classes_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        taught(0).classes[0] = 9


@pytest.mark.parametrize("unknown", [-1, "none of these"])
@pytest.mark.parametrize("classes", [[0, 1, 2], ["a", "b", "c"]], ids=["numbers", "words"])
def test_where_every_unit_is_clipped_predict_says_unknown(classes, unknown):
    learner = PaperLearner(classes, rule=RULE)
    learner.teach_many(ROWS, [classes[y] for y in LABELS])
    X = np.random.default_rng(0).normal(size=(40, 3)) * 3
    clipped = learner.scores(X).max(axis=1) <= learner.threshold
    assert clipped.any()
    assert not clipped.all()
    plain = learner.predict(X)
    said = learner.predict(X, unknown=unknown)
    assert said.tolist() == [
        unknown if c else p for c, p in zip(clipped, plain.tolist(), strict=True)
    ]
