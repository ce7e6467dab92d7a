"""The board against the learner itself, after every example."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.maths import Layer
from minout.paper import Closed, Conditional, GradientRule, PaperLearner, Uniform
from minout.paper.evaluate import Board
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
            board = Board(learner.layer, shown, taught=rows[:n])
        else:
            board.follow(x, report)
        assert board.scores().tobytes() == learner.scores(shown).tobytes()
        assert (learner.classes[board.winners()] == learner.predict(shown)).all()


def test_board_stays_close_to_the_learner_off_the_grid():
    rng = np.random.default_rng(2)
    rows, labels = rng.normal(size=(25, 5)), rng.integers(0, 3, 25)
    learner = PaperLearner(range(3), rule=RULE)
    learner.teach(rows[0], int(labels[0]))
    board = Board(learner.layer, rows, taught=rows[:1])
    for x, y in zip(rows[1:], labels[1:].tolist(), strict=True):
        board.follow(x, learner.teach(x, y))
        np.testing.assert_allclose(board.scores(), learner.scores(rows), rtol=0, atol=1e-12)


def test_a_tie_goes_to_the_first_unit():
    board = Board(Layer(np.zeros((3, 2, 1)), np.zeros((3, 2))), np.ones((4, 1)), np.empty((0, 1)))
    assert board.winners().tolist() == [0] * 4


def test_scores_are_the_callers_to_keep():
    board = Board(Layer(np.ones((2, 2, 1)), np.zeros((2, 2))), np.ones((3, 1)), np.empty((0, 1)))
    board.scores()[:, 0] = -1.0
    assert board.scores().tolist() == [[1.0, 1.0]] * 3
    assert board.winners().tolist() == [0] * 3


def test_a_board_of_no_rows_shows_nothing():
    learner = PaperLearner([0, 1], rule=RULE)
    learner.teach([1.0], 0)
    board = Board(learner.layer, np.empty((0, 1)), taught=np.array([[1.0]]))
    board.follow(np.array([2.0]), learner.teach([2.0], 1))
    assert board.scores().shape == (0, 2)
    assert board.winners().tolist() == []


def test_a_board_keeps_no_hold_of_the_callers_arrays():
    rows, labels = stream(3, examples=6, features=4)
    learner = PaperLearner(range(3), rule=RULE)
    learner.teach(rows[0], int(labels[0]))
    shown, first, layer = rows.copy(), rows[:1].copy(), learner.layer
    board = Board(layer, shown, taught=first)
    board.scores()[:] = 0.0
    for array in (shown, first, layer.W, layer.b):
        array[:] = 77.0
    for x, y in zip(rows[1:], labels[1:].tolist(), strict=True):
        row = x.copy()
        board.follow(row, learner.teach(x, y))
        row[:] = 77.0
    assert board.scores().tobytes() == learner.scores(rows).tobytes()


def test_a_board_that_missed_an_example_says_so():
    rows, labels = stream(2, examples=3, features=4)
    learner = PaperLearner(range(3), rule=GradientRule(neurons=2, max_steps=3))
    learner.teach(rows[0], int(labels[0]))
    board = Board(learner.layer, rows, taught=rows[:0])
    with pytest.raises(InvalidInputError, match="followed 0 examples"):
        board.follow(rows[1], learner.teach(rows[1], int(labels[1])))
