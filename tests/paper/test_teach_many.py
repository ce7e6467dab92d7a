"""Many at a time are the same as one by one, and are checked before the first is learned."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.paper import GradientRule, PaperLearner, Uniform, activations
from oracle.recording import stream
from oracle.snapshot import snapshot

ROWS, LABELS = stream(4, examples=30, features=3)
RULE = GradientRule(neurons=3, learning_rate=0.5, max_steps=5)


def made(classes=range(3)):
    return PaperLearner(classes, rule=RULE, policy=Uniform(2))


def taught(count):
    learner = made()
    for x, y in zip(ROWS[:count], LABELS[:count].tolist(), strict=True):
        learner.teach(x, y)
    return learner


@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS.tolist(), tuple(LABELS.tolist()), LABELS.astype(np.uint8)],
    ids=["array", "list", "tuple", "uint8"],
)
def test_many_at_a_time_are_the_same_as_one_by_one(labels):
    one, many, reports = made(), made(), []
    for x, y in zip(ROWS, LABELS.tolist(), strict=True):
        reports.append(one.teach(x, y))
    found = many.teach_many(ROWS[:10], labels[:10]) + many.teach_many(ROWS[10:], labels[10:])
    for mine, its in zip(reports, found, strict=True):
        assert (mine.example_id, mine.label, mine.steps) == (its.example_id, its.label, its.steps)
        assert mine.losses.tobytes() == its.losses.tobytes()
    assert snapshot(many) == snapshot(one)
    assert many.ids == [*range(30)]


def test_labels_may_come_from_a_generator():
    learner = made()
    learner.teach_many(ROWS[:5], (y for y in LABELS[:5].tolist()))
    assert snapshot(learner) == snapshot(taught(5))


GOOD = [[1.0, 2.0, 3.0]] * 2
REFUSED = {
    "NaN in the second row": ([[1.0, 2.0, 3.0], [1.0, np.nan, 0.0]], [0, 1], "NaN or infinity"),
    "a ragged row": ([[1.0, 2.0, 3.0], [1.0, 2.0]], [0, 1], "differ in length"),
    "one row": ([1.0, 2.0, 3.0], [0, 1, 2], "shape"),
    "an unknown label": (GOOD, [0, 7], "The label 7 is not one of the 3 classes"),
    "a label of another type": (GOOD, [0, "one"], "The label 'one' is not one of"),
    "a list as a label": (GOOD, [0, [1]], "A label is a whole number or a string, not a list"),
    "too few labels": (GOOD, [0], "2 rows and 1 labels"),
    "too many labels": (GOOD, [0, 1, 2], "2 rows and 3 labels"),
    "no rows": ([], [0], "shape"),
    "no labels": (GOOD, [], "2 rows and 0 labels"),
    "a number": (GOOD, 7, "`y` is a list with one label for each row, but got int"),
    "None": (GOOD, None, "`y` is a list with one label for each row, but got NoneType"),
    "a string": (GOOD, "01", "`y` is a list with one label for each row, but got str"),
    "a number in an array": (GOOD, np.array(1), "`y` is a list with one label for each row"),
    "a column of labels": (GOOD, np.array([[0], [1]]), "`y` is a list with one label"),
}


@pytest.mark.parametrize("count", [0, 8])
@pytest.mark.parametrize(("rows", "labels", "words"), REFUSED.values(), ids=REFUSED)
def test_if_one_is_refused_nothing_has_changed(rows, labels, words, count):
    learner = taught(count)
    before = snapshot(learner)
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$") as caught:
        learner.teach_many(rows, labels)
    assert words in str(caught.value)
    assert snapshot(learner) == before


def test_rows_of_another_width_are_refused():
    learner = taught(8)
    with pytest.raises(InvalidInputError, match=r"^x has 2 features, .* taught with 3"):
        learner.teach_many([[1.0, 2.0], [1.0, 0.0]], [0, 1])
    assert snapshot(learner) == snapshot(taught(8))


@pytest.mark.parametrize("count", [0, 8])
def test_more_than_the_learner_can_hold_are_refused_before_the_first(monkeypatch, count):
    monkeypatch.setattr(activations, "LIMIT", 20)
    learner = taught(count)
    before = snapshot(learner)
    with pytest.raises(InvalidInputError, match=r"stops at 20 of them; nothing was learned\.$"):
        learner.teach_many(ROWS[count:][: 21 - count], LABELS[count:][: 21 - count])
    assert snapshot(learner) == before
    learner.teach_many(ROWS[count:20], LABELS[count:20])
    assert snapshot(learner) == snapshot(taught(20))


@pytest.mark.parametrize("rows", [[], np.empty((0, 3))], ids=["list", "array"])
def test_nothing_is_learned_from_nothing(rows):
    learner = taught(4)
    assert learner.teach_many(rows, []) == []
    assert snapshot(learner) == snapshot(taught(4))


def test_an_interruption_keeps_the_examples_before_it():
    class Stop(Uniform):
        def choose(self, at_risk, rng):
            if len(at_risk.stored) == 3:
                raise KeyboardInterrupt
            return super().choose(at_risk, rng)

    learner = PaperLearner(range(3), rule=RULE, policy=Stop(2))
    with pytest.raises(KeyboardInterrupt):
        learner.teach_many(ROWS[:6], LABELS[:6])
    assert snapshot(learner) == snapshot(taught(3))


def test_ids_cannot_be_given():
    with pytest.raises(TypeError, match="id"):
        made().teach(ROWS[0], 0, id=5)
    with pytest.raises(TypeError, match="ids"):
        made().teach_many(ROWS[:1], [0], ids=[5])
