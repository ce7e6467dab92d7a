"""The orders of teaching keep what they promise, for any labels and any seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.streams import Data, disjoint, ordered, permuted, shuffled

SEEDS = st.integers(0, 2**32)
LABELS = st.lists(st.integers(-3, 9), min_size=1, max_size=30)


def numbered(labels, width=3):
    """Data whose rows hold their own number in column 0, and the column's number elsewhere."""
    rows = np.tile(np.arange(width, dtype=float), (len(labels), 1))
    rows[:, 0] = 100 + np.arange(len(labels))
    return Data("numbered", rows, np.array(labels), rows[:2].copy(), np.array(labels[:2]), (1, 3))


def numbers(stream):
    return (stream.rows.max(axis=1) - 100).astype(int).tolist()


def streams(labels, seed):
    data, rng = numbered(labels), np.random.default_rng(seed)
    known = sorted(set(labels))
    return {
        "ascending": ordered(data),
        "descending": ordered(data, descending=True),
        "shuffled": shuffled(data, rng),
        "disjoint": disjoint(data, [known[:1], known[1:]] if known[1:] else [known], rng),
        "permuted": permuted(data, 2, rng).stream,
    }


@given(LABELS, SEEDS)
def test_no_example_is_lost_doubled_or_given_another_label(labels, seed):
    for name, stream in streams(labels, seed).items():
        times = 2 if name == "permuted" else 1
        assert sorted(numbers(stream)) == sorted(list(range(len(labels))) * times)
        assert stream.labels.tolist() == [labels[number] for number in numbers(stream)]


@given(LABELS, SEEDS)
def test_every_stream_has_the_promised_types_and_tasks_that_count_up(labels, seed):
    for stream in streams(labels, seed).values():
        assert stream.rows.dtype == np.float64
        assert stream.rows.flags.c_contiguous
        assert stream.labels.dtype == stream.tasks.dtype == np.int64
        assert stream.labels.shape == stream.tasks.shape == stream.rows.shape[:1]
        assert stream.tasks[0] == 0
        assert set(np.diff(stream.tasks)) <= {0, 1}


@given(LABELS, SEEDS)
def test_same_seed_gives_the_same_stream(labels, seed):
    for first, again in zip(
        streams(labels, seed).values(), streams(labels, seed).values(), strict=True
    ):
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


@given(LABELS, SEEDS)
def test_no_stream_shares_memory_with_the_data(labels, seed):
    data, rng = numbered(labels), np.random.default_rng(seed)
    many = permuted(data, 1, rng)
    made = [*ordered(data), *shuffled(data, rng), *disjoint(data, [labels[:1]], rng)]
    for mine in (*made, *many.stream, many.test_rows_per_task):
        assert not any(np.shares_memory(mine, theirs) for theirs in data[1:5])


@given(LABELS, st.booleans())
def test_ordered_equals_pythons_stable_sort(labels, descending):
    stream = ordered(numbered(labels), descending=descending)
    sign = -1 if descending else 1
    assert numbers(stream) == sorted(range(len(labels)), key=lambda place: sign * labels[place])
    ranks = sorted(set(labels), reverse=descending)
    assert stream.tasks.tolist() == [ranks.index(label) for label in stream.labels]


def test_descending_keeps_the_order_within_a_class():
    assert numbers(ordered(numbered([0, 1, 0, 1]), descending=True)) == [1, 3, 0, 2]


def test_shuffled_is_one_task_in_any_order():
    data, rng = numbered([0, 0, 1]), np.random.default_rng(0)
    made = [shuffled(data, rng) for _ in range(100)]
    assert len({tuple(numbers(stream)) for stream in made}) == 6
    assert all(stream.tasks.tolist() == [0, 0, 0] for stream in made)


@given(LABELS, SEEDS, st.data())
def test_disjoint_teaches_each_subset_in_its_turn_and_leaves_out_the_rest(labels, seed, drawn):
    some = drawn.draw(st.lists(st.sampled_from(sorted(set(labels))), min_size=1, unique=True))
    cut = drawn.draw(st.integers(1, len(some)))
    splits = [part for part in (some[:cut], some[cut:]) if part]
    stream = disjoint(numbered(labels), splits, np.random.default_rng(seed))
    for task, subset in enumerate(splits):
        expected = [place for place, label in enumerate(labels) if label in subset]
        taught = np.array(numbers(stream))[stream.tasks == task]
        assert sorted(taught.tolist()) == expected
    assert stream.tasks.tolist() == sorted(stream.tasks.tolist())


def test_disjoint_mixes_the_labels_of_a_subset():
    stream = disjoint(numbered([0] * 20 + [1] * 20), [[0, 1]], np.random.default_rng(0))
    assert 5 < stream.labels[:20].sum() < 15


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ([], "empty subset or none"),
        ([[0], []], "empty subset or none"),
        ([[0], [7]], r"names 7, but the labels are \[0, 1, 2\]"),
        ([["0"]], "names '0', but"),
        ([[0, 1], [1, 2]], "more than once"),
        ([[0, 0]], "more than once"),
        ([0, 1], "not a list of lists"),
    ],
)
def test_a_split_that_is_none_is_refused_in_one_sentence(tiny, splits, words):
    with pytest.raises(InvalidInputError, match=words):
        disjoint(tiny, splits, np.random.default_rng(0))


@given(LABELS, st.integers(1, 4), SEEDS)
def test_each_permuted_task_moves_the_pixels_of_learning_and_testing_alike(labels, tasks, seed):
    data = numbered(labels, width=5)
    stream, test_rows = permuted(data, tasks, np.random.default_rng(seed))
    assert test_rows.shape == (tasks, *data.test_rows.shape)
    for task in range(tasks):
        seen = stream.rows[stream.tasks == task]
        assert len(seen) == len(labels)
        # Cells below 100 hold the number of the column from which they came.
        columns = [int(cell) if cell < 100 else 0 for cell in seen[0]]
        assert sorted(columns) == list(range(5))
        places = [int(row.max()) - 100 for row in seen]
        assert np.array_equal(seen, data.rows[places][:, columns])
        assert np.array_equal(test_rows[task], data.test_rows[:, columns])
        if task == 0:
            assert columns == list(range(5))


def test_further_tasks_have_permutations_of_their_own():
    test_rows = permuted(numbered([0], width=50), 4, np.random.default_rng(0)).test_rows_per_task
    assert len({rows.tobytes() for rows in test_rows}) == 4


def test_permuted_tasks_are_shuffled_anew():
    stream = permuted(numbered([0] * 20), 3, np.random.default_rng(0)).stream
    assert len({tuple(numbers(stream)[start : start + 20]) for start in (0, 20, 40)}) == 3
    assert numbers(stream)[:20] != list(range(20))


@pytest.mark.parametrize("tasks", [0, -2, 1.5])
def test_fewer_than_one_permuted_task_is_refused(tiny, tasks):
    with pytest.raises(InvalidInputError, match=f"^{tasks} permuted tasks .* from 1 on"):
        permuted(tiny, tasks, np.random.default_rng(0))


@pytest.mark.parametrize(
    "order",
    [
        ordered,
        lambda data: shuffled(data, np.random.default_rng(0)),
        lambda data: disjoint(data, [[0]], np.random.default_rng(0)),
        lambda data: permuted(data, 2, np.random.default_rng(0)),
    ],
)
def test_an_empty_stream_is_refused(tiny, order):
    empty = tiny._replace(rows=np.zeros((0, 3)), labels=np.zeros(0, dtype=np.int64))
    with pytest.raises(InvalidInputError, match="hold no examples"):
        order(empty)
