"""The memory in RAM against a dictionary, walked through growth and gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
