"""The tracked against the learner itself, after every example."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.maths import Layer
from minout.paper import Closed, Conditional, GradientRule, PaperLearner, Uniform
from minout.paper.evaluate import TrackedActivations
from oracle.eighths import drawn
from oracle.recording import stream

RULE = GradientRule(neurons=3, learning_rate=0.25, max_steps=15)


@pytest.mark.parametrize("late", [1, 4, 12])
@pytest.mark.parametrize("policy", [Conditional(), Closed(), Uniform(3)], ids=repr)
@pytest.mark.parametrize("parts", [8, 256])
def test_board_shows_the_learners_scores_to_the_last_bit(parts, policy, late):
    rows, labels = stream(parts, examples=25, features=5, parts=parts)
    others = drawn(np.random.default_rng(1), 7, 5, size=2 * parts, parts=parts)
    shown = np.concatenate([rows, others])
    learner = PaperLearner([4, 2, 9], rule=RULE, policy=policy)
    for n, (x, y) in enumerate(zip(rows, learner.classes[labels].tolist(), strict=True), start=1):
        report = learner.teach(x, y)
        if n < late:
            continue
        if n == late:
            tracked = TrackedActivations(learner.layer, shown, taught=rows[:n])
        else:
            tracked.follow(x, report)
        assert tracked.scores().tobytes() == learner.scores(shown).tobytes()
        assert (learner.classes[tracked.winners()] == learner.predict(shown)).all()


def test_board_stays_close_to_the_learner_off_the_grid():
    rng = np.random.default_rng(2)
    rows, labels = rng.normal(size=(25, 5)), rng.integers(0, 3, 25)
    learner = PaperLearner(range(3), rule=RULE)
    learner.teach(rows[0], int(labels[0]))
    tracked = TrackedActivations(learner.layer, rows, taught=rows[:1])
    for x, y in zip(rows[1:], labels[1:].tolist(), strict=True):
        tracked.follow(x, learner.teach(x, y))
        np.testing.assert_allclose(tracked.scores(), learner.scores(rows), rtol=0, atol=1e-12)


def test_a_tie_goes_to_the_first_unit():
    tracked = TrackedActivations(
        Layer(np.zeros((3, 2, 1)), np.zeros((3, 2))), np.ones((4, 1)), np.empty((0, 1))
    )
    assert tracked.winners().tolist() == [0] * 4


def test_scores_are_the_callers_to_keep():
    tracked = TrackedActivations(
        Layer(np.ones((2, 2, 1)), np.zeros((2, 2))), np.ones((3, 1)), np.empty((0, 1))
    )
    tracked.scores()[:, 0] = -1.0
    assert tracked.scores().tolist() == [[1.0, 1.0]] * 3
    assert tracked.winners().tolist() == [0] * 3


def test_a_board_of_no_rows_shows_nothing():
    learner = PaperLearner([0, 1], rule=RULE)
    learner.teach([1.0], 0)
    tracked = TrackedActivations(learner.layer, np.empty((0, 1)), taught=np.array([[1.0]]))
    tracked.follow(np.array([2.0]), learner.teach([2.0], 1))
    assert tracked.scores().shape == (0, 2)
    assert tracked.winners().tolist() == []


def test_a_board_keeps_no_hold_of_the_callers_arrays():
    rows, labels = stream(3, examples=6, features=4)
    learner = PaperLearner(range(3), rule=RULE)
    learner.teach(rows[0], int(labels[0]))
    shown, first, layer = rows.copy(), rows[:1].copy(), learner.layer
    tracked = TrackedActivations(layer, shown, taught=first)
    tracked.scores()[:] = 0.0
    for array in (shown, first, layer.W, layer.b):
        array[:] = 77.0
    for x, y in zip(rows[1:], labels[1:].tolist(), strict=True):
        row = x.copy()
        tracked.follow(row, learner.teach(x, y))
        row[:] = 77.0
    assert tracked.scores().tobytes() == learner.scores(rows).tobytes()


def test_a_board_that_missed_an_example_says_so():
    rows, labels = stream(2, examples=3, features=4)
    learner = PaperLearner(range(3), rule=GradientRule(neurons=2, max_steps=3))
    learner.teach(rows[0], int(labels[0]))
    tracked = TrackedActivations(learner.layer, rows, taught=rows[:0])
    with pytest.raises(InvalidInputError, match="followed 0 examples"):
        tracked.follow(rows[1], learner.teach(rows[1], int(labels[1])))
