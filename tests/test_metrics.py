"""Accuracy, its interval, and forgetting, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.metrics import accuracy, forgetting_from_best, wilson_interval
from oracle.eighths import arrays


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=9))
def test_accuracy_is_the_share_of_equal_labels(pairs):
    predicted, labels = (np.array(each) for each in zip(*pairs, strict=True))
    assert accuracy(predicted, labels) == sum(p == t for p, t in pairs) / len(pairs)


@given(st.integers(1, 4).flatmap(lambda t: arrays(t, t, lowest=0, highest=8)))
def test_forgetting_is_the_best_before_the_end_minus_the_end(R):
    earlier = range(len(R) - 1)
    lost = [max(R[i, j] for i in earlier) - R[-1, j] for j in earlier]
    assert forgetting_from_best(R) == pytest.approx(sum(lost) / len(lost) if lost else 0.0)


@given(st.integers(1, 50), st.integers(0, 50))
def test_the_interval_solves_wilsons_equation_and_holds_the_share(n, right):
    right = min(right, n)
    low, high = wilson_interval(right, n)
    assert 0.0 <= low <= right / n <= high <= 1.0
    for p in (low, high):  # an end is a share from which what was seen is 1.96 deviations away
        assert abs(right / n - p) == pytest.approx(1.959964 * np.sqrt(p * (1 - p) / n), abs=1e-6)
