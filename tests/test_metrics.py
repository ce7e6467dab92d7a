"""Accuracy, forgetting and transfer, by hand and by the identities between them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.metrics import (
    accuracy,
    average_accuracy_at_end,
    backward_transfer_from_diagonal,
    forgetting_from_best,
    forgetting_from_diagonal,
)
from oracle.eighths import arrays

# After task 0: 1, 1/4, 0. After task 1: 3/4, 1/2, 1/4. At the end: 1/4, 3/4, 1.
R = np.array([[1.0, 0.25, 0.0], [0.75, 0.5, 0.25], [0.25, 0.75, 1.0]])
ALL = [
    average_accuracy_at_end,
    backward_transfer_from_diagonal,
    forgetting_from_best,
    forgetting_from_diagonal,
]
MATRICES = st.integers(1, 4).flatmap(lambda t: arrays(t, t, lowest=0, highest=8))


def test_each_measure_on_a_matrix_worked_by_hand():
    assert average_accuracy_at_end(R) == pytest.approx(2 / 3)
    assert backward_transfer_from_diagonal(R) == ((0.25 - 1.0) + (0.75 - 0.5)) / 2
    assert forgetting_from_diagonal(R) == 0.25
    assert forgetting_from_best(R) == ((1.0 - 0.25) + (0.5 - 0.75)) / 2


def test_best_may_lie_after_the_diagonal():
    later = np.array([[0.5, 0.0, 0.0], [0.875, 0.5, 0.0], [0.5, 0.5, 0.5]])
    assert forgetting_from_diagonal(later) == 0.0
    assert forgetting_from_best(later) == 0.375 / 2


def test_what_is_foreseen_before_a_task_counts_as_best_too():
    foreseen = np.array([[0.5, 1.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.5]])
    assert forgetting_from_best(foreseen) == 0.25


@given(MATRICES)
def test_measures_equal_their_definitions(R):
    t = len(R)
    end = R[-1].tolist()
    assert average_accuracy_at_end(R) == sum(end) / t
    if t > 1:
        lost = [R[j, j] - end[j] for j in range(t - 1)]
        best = [max(R[i, j] for i in range(t - 1)) - end[j] for j in range(t - 1)]
        assert forgetting_from_diagonal(R) == pytest.approx(sum(lost) / (t - 1), abs=1e-15)
        assert forgetting_from_best(R) == pytest.approx(sum(best) / (t - 1), abs=1e-15)


@given(MATRICES)
def test_forgetting_is_backward_transfer_turned_round_and_best_is_no_less(R):
    assert forgetting_from_diagonal(R) == -backward_transfer_from_diagonal(R)
    assert forgetting_from_best(R) >= forgetting_from_diagonal(R)


@pytest.mark.parametrize("measure", ALL[1:])
def test_one_task_has_nothing_to_forget(measure):
    value = measure(np.array([[0.7]]))
    assert value == 0.0
    assert math.copysign(1.0, value) == 1.0  # a table should not print -0.0


def test_the_average_of_one_task_is_its_accuracy():
    assert average_accuracy_at_end(np.array([[0.7]])) == 0.7


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4,), (0, 0), (2, 2, 2), ()])
def test_a_matrix_that_is_not_square_is_refused(measure, shape):
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        measure(np.zeros(shape))


@given(MATRICES)
def test_measures_leave_the_matrix_alone(R):
    before = R.copy()
    for measure in ALL:
        measure(R)
    assert (before == R).all()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=9))
def test_accuracy_is_the_share_of_equal_labels(pairs):
    predicted, labels = (np.array(each) for each in zip(*pairs, strict=True))
    assert accuracy(predicted, labels) == sum(p == t for p, t in pairs) / len(pairs)


def test_accuracy_of_words_and_a_plain_float():
    value = accuracy(np.array(["a", "b"]), np.array(["a", "a"]))
    assert value == 0.5
    assert type(value) is float


@pytest.mark.parametrize(("predicted", "labels"), [([], []), ([1], [1, 2]), ([[1]], [1])])
def test_accuracy_of_nothing_or_of_unequal_lengths_is_refused(predicted, labels):
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        accuracy(np.array(predicted), np.array(labels))
