"""Accuracy, counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.metrics import accuracy


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
