"""The memory in RAM against a dictionary, walked through growth and gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels
from minout.errors import InvalidInputError
from minout.memory import RamMemory
from oracle.eighths import arrays

STEPS = st.lists(
    st.tuples(arrays(2), st.integers(0, 9)) | st.integers(0, 20).map(lambda place: (place,)),
    max_size=40,
)


def three():
    memory = RamMemory(2)
    for number in (1.0, 2.0, 3.0):
        memory.add(np.array([number, -number]), int(number))
    return memory


def state(memory):
    ids = memory.ids()
    kept = memory.rows(ids).tobytes(), memory.labels_by_id().tolist(), ids.tolist()
    return memory.end, len(memory), memory.products(np.ones(2)).tobytes(), kept


@settings(max_examples=50)
@given(STEPS, arrays(2))
def test_memory_holds_what_a_dictionary_would(steps, x):
    memory, known, end = RamMemory(2), {}, 0
    for step in steps:
        if len(step) == 2:
            row, label = step
            assert memory.add(row, label) == end
            known[end] = row.tolist(), label
            row[:] = 99.0
            end += 1
        elif known:
            example = sorted(known)[step[0] % len(known)]
            memory.discard(example)
            del known[example]
        ids = sorted(known)
        assert memory.ids().tolist() == ids
        assert len(memory) == len(ids)
        assert memory.end == end
        assert [example for example in range(-2, end + 2) if example in memory] == ids
    assert memory.rows(ids := sorted(known)).tolist() == [known[e][0] for e in ids]
    assert memory.labels(ids[::-1]).tolist() == [known[e][1] for e in ids[::-1]]
    gone = ([0.0, 0.0], 0)
    all_rows = [known.get(e, gone) for e in range(end)]
    assert memory.labels_by_id().tolist() == [label for _, label in all_rows]
    expected = [row[0] * x[0] + row[1] * x[1] for row, _ in all_rows]
    assert memory.products(x).tolist() == expected


def test_multiples_are_added_to_their_places():
    into = np.zeros((2, 2))
    three().add_multiples(
        into, np.array([1, 1, 0]), np.array([0, 2, 1]), np.array([0.5, 1.0, -1.0])
    )
    assert into.tolist() == [[-2.0, 2.0], [3.5, -3.5]]


def test_what_memory_returns_is_a_copy():
    memory = three()
    memory.rows([0, 1])[:] = 9.0
    memory.labels([0])[:] = 9
    memory.labels_by_id()[:] = 9
    assert state(memory) == state(three())


def test_an_id_is_never_used_twice():
    memory = three()
    memory.discard(2)
    assert memory.add(np.zeros(2), 5) == 3


@pytest.mark.parametrize("ids", [[3], [-1], [1], [0, 1], [10**9]])
@pytest.mark.parametrize("method", ["rows", "labels", "discard", "add_multiples"])
def test_an_unknown_id_is_refused_and_changes_nothing(method, ids):
    memory, into = three(), np.zeros((1, 2))
    memory.discard(1)
    before = state(memory)
    numbers = np.array(ids)
    args = {
        "discard": (ids[-1],),
        "add_multiples": (into, np.zeros_like(numbers), numbers, np.ones(len(ids))),
    }.get(method, (ids,))
    with pytest.raises(InvalidInputError, match=rf"^Example {ids[-1]} is not in the memory\.$"):
        getattr(memory, method)(*args)
    assert state(memory) == before
    assert (into == 0).all()


@pytest.mark.parametrize("example", [-1, -8, 8, 9])
def test_a_full_block_does_not_wrap_round(example):
    memory = RamMemory(1)
    for number in range(8):
        memory.add(np.array([float(number)]), number)
    assert example not in memory
    with pytest.raises(InvalidInputError, match="not in the memory"):
        memory.rows([0, example])


@pytest.mark.parametrize("features", [0, -1])
def test_a_row_needs_a_feature(features):
    with pytest.raises(InvalidInputError, match="at least one feature"):
        RamMemory(features)


def digest(row):
    row = np.array(row)
    return kernels.digest(row.view(f"u{row.dtype.itemsize}"))


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(arrays(2, lowest=-2, highest=2), st.integers(0, 2)) | st.integers(0, 20),
        max_size=20,
    ),
    st.sampled_from(["f4", "f8"]),
)
def test_a_renamed_memory_holds_the_same_rows_counted_from_0(steps, dtype):
    memory, known, end = RamMemory(2, dtype), {}, 0
    for step in steps:
        if isinstance(step, tuple):
            memory.add(step[0].astype(dtype), step[1])
            known[end] = step[0].tolist(), step[1]
            end += 1
        elif known:
            example = sorted(known)[step % len(known)]
            memory.discard(example)
            del known[example]
    before = memory.labels_by_id().tolist(), memory.ids().tolist(), memory.end
    number, ids = np.array([7, 5, 6]), memory.ids()
    twin = memory.renamed(ids, number)
    assert (memory.labels_by_id().tolist(), memory.ids().tolist(), memory.end) == before
    assert twin.ids().tolist() == list(range(len(known)))
    assert (twin.end, len(twin), twin.dtype) == (len(known), len(known), np.dtype(dtype))
    assert twin.rows(twin.ids()).tolist() == [known[e][0] for e in sorted(known)]
    assert twin.labels(twin.ids()).tolist() == [number[known[e][1]] for e in sorted(known)]
    assert twin.digests(twin.ids()).tolist() == memory.digests(ids).tolist()
    for _ in range(9):
        twin.add(np.ones(2, dtype=dtype), 1)
    assert len(twin) == len(known) + 9
    assert twin.damaged().tolist() == []


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_are_kept_in_the_precision_asked_for(dtype):
    memory = RamMemory(2, dtype)
    memory.add(np.array([0.1, 0.2]), 0)
    assert memory.rows([0]).dtype == np.dtype(dtype)
    assert memory.rows([0]).tolist() == [np.array([0.1, 0.2]).astype(dtype).tolist()]
    assert memory.digests([0]).tolist() == [digest(np.array([0.1, 0.2]).astype(dtype))]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_any_bit_that_turns_in_a_row_is_noticed(dtype):
    memory = RamMemory(3, dtype)
    for number in range(5):
        memory.add(np.full(3, 0.1 * number), 0)
    memory.discard(1)
    assert memory.damaged().tolist() == []
    for bit in range(3 * 8 * memory.dtype.itemsize):
        blob = memory.table[3].view(np.uint8)
        blob[bit // 8] ^= 1 << bit % 8
        assert memory.damaged().tolist() == [3]
        blob[bit // 8] ^= 1 << bit % 8
    assert memory.damaged().tolist() == []


def test_truncated_ids_are_handed_out_again_and_leave_no_trace():
    memory = three()
    before = state(memory)
    for _number in range(20):
        memory.add(np.full(2, 5.0), 9)
    memory.truncate(3)
    assert state(memory) == before
    assert not memory.table[3:].any()
    assert memory.add(np.zeros(2), 5) == 3


def test_truncating_in_a_gap_leaves_the_gap():
    memory = three()
    memory.discard(1)
    memory.truncate(2)
    assert memory.ids().tolist() == [0]
    assert memory.end == 2


def test_a_row_gets_another_label():
    memory = three()
    memory.relabel(1, 9)
    assert memory.labels_by_id().tolist() == [1, 9, 3]
    memory.relabel_all(np.array([4, 5, 6]))
    assert memory.labels([2, 0]).tolist() == [6, 4]
    memory.discard(1)
    with pytest.raises(InvalidInputError, match="not in the memory"):
        memory.relabel(1, 3)


def test_a_discarded_row_leaves_zeros_behind():
    memory = three()
    memory.discard(1)
    assert not memory.table[1].any()
    assert memory._digests[1] == 0
    assert memory.alive(np.arange(3)).tolist() == [True, False, True]
    with pytest.raises(InvalidInputError, match="not in the memory"):
        memory.digests([1])


@settings(max_examples=40)
@given(arrays(8, 1, lowest=-2, highest=2), st.sets(st.integers(0, 7), max_size=3))
def test_equal_rows_find_each_other(rows, gone):
    memory = RamMemory(1)
    for row in rows:
        memory.add(row + 0.0, 0)
    for example in gone:
        memory.discard(example)
    ids = memory.ids()
    for example in ids.tolist():
        equal = [other for other in ids.tolist() if rows[other] == rows[example]]
        assert memory.equal_to(np.array([example])).tolist() == equal
    assert memory.equal_to(ids).tolist() == ids.tolist()
    assert memory.equal_to(ids[:0]).tolist() == []
