"""The accuracy matrix against a learner whose answers are known in advance."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.paper import GradientRule, PaperLearner
from minout.paper.evaluate import task_matrix
from minout.streams import Stream


class LastLabel:
    """Predicts the label that it was taught last: it forgets everything else."""

    def __init__(self):
        self.taught = []

    def teach(self, x, y):
        self.taught.append((x.tolist(), y))

    def predict(self, X):
        return np.full(len(X), self.taught[-1][1])


def stream(labels, tasks):
    rows = np.arange(len(labels), dtype=np.float64)[:, None]
    return Stream(rows, np.array(labels, dtype=np.int64), np.array(tasks, dtype=np.int64))


TESTS = [
    (np.zeros((4, 1)), np.array([0, 0, 0, 1])),
    (np.zeros((2, 1)), np.array([1, 0])),
    (np.zeros((1, 1)), np.array([7])),
]


def test_matrix_holds_the_accuracy_on_each_test_after_each_task():
    learner, ticks = LastLabel(), []
    R = task_matrix(
        learner,
        stream([1, 0, 0, 1, 7], [0, 0, 1, 1, 2]),
        TESTS,
        tick=lambda: ticks.append(len(learner.taught)),
    )
    assert R.tolist() == [[0.75, 0.5, 0.0], [0.25, 0.5, 0.0], [0.0, 0.0, 1.0]]
    assert learner.taught == [([0.0], 1), ([1.0], 0), ([2.0], 0), ([3.0], 1), ([4.0], 7)]
    assert ticks == [1, 2, 3, 4, 5]


def test_matrix_of_a_real_learner_equals_a_dull_measurement():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], 5)
    rows = rng.integers(-8, 9, (15, 4)) / 8 + labels[:, None]
    tests = [(rng.integers(-8, 9, (6, 4)) / 8 + t, np.full(6, t)) for t in range(3)]
    rule = GradientRule(neurons=3, learning_rate=0.25, max_steps=20)
    learner, twin = (PaperLearner(range(3), rule=rule) for _ in range(2))
    R = task_matrix(learner, Stream(rows, labels, labels), tests)
    for i in range(3):
        for x in rows[5 * i : 5 * i + 5]:
            twin.teach(x, i)
        for j, (X, y) in enumerate(tests):
            hits = [p == t for p, t in zip(twin.predict(X).tolist(), y.tolist(), strict=True)]
            assert R[i, j] == sum(hits) / 6


@pytest.mark.parametrize(
    "tasks",
    [[0, 1, 0], [1, 0, 2], [0, 2, 2], [0, 0, 1], [0, 0, 0], [1, 2, 3], [-1, 0, 1], []],
    ids=str,
)
def test_tasks_that_do_not_come_one_by_one_are_refused_before_anything_is_taught(tasks):
    learner = LastLabel()
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        task_matrix(learner, stream([0] * len(tasks), tasks), TESTS)
    assert learner.taught == []


def test_no_example_is_left_out_in_silence():
    learner = LastLabel()
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        task_matrix(learner, stream([0] * 4, [-1, 0, 1, 2]), TESTS)
    assert learner.taught == []


def test_an_empty_stream_is_refused_even_without_tests():
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        task_matrix(LastLabel(), stream([], []), [])
