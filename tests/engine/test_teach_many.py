"""Many at a time are the same as one by one, and are checked before the first is learned."""

import numpy as np
import pytest

from minout import Encoder, Learner
from minout.errors import InvalidInputError
from oracle.margin import differs, everything, last_move, saved

ROWS = np.random.default_rng(0).integers(-8, 9, (30, 3)) / 8
LABELS = [i % 3 for i in range(30)]


@pytest.mark.parametrize("features", ["identity", "random_fourier"])
@pytest.mark.parametrize("ids", [None, [f"row {i}" for i in range(30)]], ids=["numbers", "names"])
def test_many_at_a_time_are_the_same_as_one_by_one(features, ids):
    one, many = Learner(features=features), Learner(features=features)
    reports = [
        one.teach(x, y, id=None if ids is None else ids[i])
        for i, (x, y) in enumerate(zip(ROWS, LABELS, strict=True))
    ]
    found = many.teach_many(ROWS[:10], LABELS[:10], None if ids is None else ids[:10])
    found += many.teach_many(ROWS[10:], LABELS[10:], None if ids is None else ids[10:])
    for mine, its in zip(reports, found, strict=True):
        assert (mine.example_id, mine.certificate) == (its.example_id, its.certificate)
    assert differs(saved(one), saved(many)) == []
    assert last_move(one) == last_move(many)


@pytest.mark.parametrize(
    ("rows", "labels", "ids", "words"),
    [
        ([[1.0, 2.0, 3.0], [1.0, np.nan, 0.0]], [0, 1], None, "NaN or infinity"),
        ([[1.0, 2.0], [1.0, 0.0]], [0, 1], None, "2 features"),
        ([[1.0, 2.0, 3.0]] * 2, [0, "one"], None, "another type than before"),
        ([[1.0, 2.0, 3.0]] * 2, [0, 0.5], None, "whole number or a string"),
        ([[1.0, 2.0, 3.0]] * 2, [0], None, "2 rows and 1 labels"),
        ([[1.0, 2.0, 3.0]] * 2, [0, 1], ["x"], "1 ids"),
        ([[1.0, 2.0, 3.0]] * 2, [0, 1], ["x", "x"], "given to two rows"),
        ([[1.0, 2.0, 3.0]] * 2, [0, 1], ["x", None], "not a NoneType"),
        ([[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]], [0, 1], ["x", "old"], "another row"),
    ],
    ids=["nan", "narrow", "types", "float", "labels", "ids", "twice", "none", "another"],
)
def test_if_one_is_refused_nothing_has_changed(rows, labels, ids, words):
    learner = Learner()
    learner.teach_many(ROWS[:4], LABELS[:4], ["old", 1, 2, 3])
    before = everything(learner)
    with pytest.raises(InvalidInputError, match=words):
        learner.teach_many(rows, labels, ids)
    assert everything(learner) == before


def test_labels_of_two_types_are_refused_by_a_learner_that_knows_none():
    learner = Learner()
    with pytest.raises(InvalidInputError, match="another type"):
        learner.teach_many(ROWS[:2], [0, "one"])
    assert len(learner) == 0


def test_an_encoder_is_called_once_for_all():
    calls = []

    def encode(batch):
        calls.append(len(batch))
        return [[len(word), word.count("a")] for word in batch]

    learner = Learner(features=Encoder(encode, name="words"))
    learner.teach_many(["anna", "bob", "clara"], [1, 0, 1])
    assert calls == [3]
    assert learner.predict(["anna", "bob"]).tolist() == [1, 0]
    learner.teach_many([], [])
    assert len(learner) == 3


def test_a_stored_example_can_be_looked_at():
    learner = Learner()
    learner.teach_many(ROWS[:4], LABELS[:4], ["a", "b", "c", "d"])
    row, label = learner.example("b")
    assert (row.tolist(), label) == (ROWS[1].tolist(), 1)
    row[:] = 0.0
    assert learner.audit().ok
    with pytest.raises(InvalidInputError, match="There is no example 'z'"):
        learner.example("z")
