"""The memory against a list, walked through growth and truncation."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from minout.paper.memory import Memory
from oracle.eighths import arrays

STEPS = st.lists(
    st.tuples(arrays(2), st.integers(0, 9)) | st.integers(0, 20).map(lambda end: (end,)),
    max_size=40,
)


def three():
    memory = Memory(2)
    for number in (1.0, 2.0, 3.0):
        memory.add(np.array([number, -number]), int(number))
    return memory


@settings(max_examples=50)
@given(STEPS, arrays(2))
def test_memory_holds_what_a_list_would(steps, x):
    memory, known = Memory(2), []
    for step in steps:
        if len(step) == 2:
            row, label = step
            assert memory.add(row, label) == len(known)
            known.append((row.tolist(), label))
            row[:] = 99.0
        else:
            end = min(step[0], len(known))
            memory.truncate(end)
            del known[end:]
        assert len(memory) == len(known)
        assert memory.ids().tolist() == [*range(len(known))]
        assert memory.all_labels().tolist() == [label for _, label in known]
    ids = memory.ids()[::-1]
    assert memory.rows(ids).tolist() == [row for row, _ in known[::-1]]
    assert memory.labels(ids).tolist() == [label for _, label in known[::-1]]
    assert memory.products(x).tolist() == [row[0] * x[0] + row[1] * x[1] for row, _ in known]


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
    memory.all_labels()[:] = 9
    assert memory.rows([0, 1, 2]).tolist() == [[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]
    assert memory.all_labels().tolist() == [1, 2, 3]


def test_rows_survive_growth():
    memory = Memory(1)
    for number in range(100):
        memory.add(np.array([float(number)]), number)
    assert memory.rows(memory.ids())[:, 0].tolist() == [*range(100)]
    assert memory.all_labels().tolist() == [*range(100)]
