"""So many rows of each class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.streams import Data, pick_per_class

SEEDS = st.integers(0, 2**32)


def numbered(labels):
    """Data whose rows hold their own number."""
    rows = np.arange(len(labels), dtype=float)[:, None]
    return Data("numbered", rows, np.array(labels), rows[:1], np.array(labels[:1]), (1, 1))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), SEEDS, st.data())
def test_pick_draws_count_distinct_rows_of_each_class_labels_ascending(labels, seed, drawn):
    count = drawn.draw(st.integers(1, min(map(labels.count, labels))))
    picked = pick_per_class(numbered(labels), count, np.random.default_rng(seed))
    assert picked.labels.tolist() == [c for c in sorted(set(labels)) for _ in range(count)]
    numbers = picked.rows[:, 0].astype(int).tolist()
    assert len(set(numbers)) == len(numbers)
    assert [labels[number] for number in numbers] == picked.labels.tolist()


@given(SEEDS)
def test_same_seed_picks_the_same_rows(seed):
    data = numbered([0, 1] * 10)
    first, again = (pick_per_class(data, 3, np.random.default_rng(seed)) for _ in range(2))
    assert np.array_equal(first.rows, again.rows)


def test_every_row_and_every_order_can_be_drawn():
    data, rng = numbered([5, 5, 5]), np.random.default_rng(0)
    draws = {tuple(pick_per_class(data, 2, rng).rows[:, 0]) for _ in range(100)}
    assert draws == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}


def test_the_part_to_test_on_stays_and_nothing_is_shared(tiny):
    picked = pick_per_class(tiny, 2, np.random.default_rng(0))
    assert np.array_equal(picked.test_rows, tiny.test_rows)
    assert np.array_equal(picked.test_labels, tiny.test_labels)
    assert (picked.name, picked.image_shape) == (tiny.name, tiny.image_shape)
    for mine in picked[1:5]:
        assert not any(np.shares_memory(mine, theirs) for theirs in tiny[1:5])


@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_a_count_below_one_is_refused(tiny, count):
    with pytest.raises(InvalidInputError, match=f"^{count} rows .* a whole number from 1 on"):
        pick_per_class(tiny, count, np.random.default_rng(0))


def test_more_than_there_are_is_refused_with_the_smallest_class():
    with pytest.raises(InvalidInputError, match="class 3 of 'numbered' has 2; ask for at most 2"):
        pick_per_class(numbered([1, 1, 1, 3, 3]), 3, np.random.default_rng(0))
