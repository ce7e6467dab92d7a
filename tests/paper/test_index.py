"""The index, its brute-force twin and the paper's bookkeeping, walked side by side."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from minout.errors import InvalidInputError
from minout.paper import Index
from oracle.bookkeeping import Bookkeeping
from oracle.brute_index import BruteIndex

UNITS, NEURONS = 2, 3
IDS = [0, 1, 2, 62, 63, 64, 65, 126, 127, 128, 129, 191, 192, 200]  # about the edges of words
SUBSETS = [*chain.from_iterable(combinations(range(NEURONS), size) for size in range(4))]


def truths(*shape):
    """Draws a boolean array."""
    size = int(np.prod(shape))
    return st.binary(min_size=-(-size // 8), max_size=-(-size // 8)).map(
        lambda blob: (
            np.unpackbits(np.frombuffer(blob, np.uint8), count=size).astype(bool).reshape(shape)
        )
    )


class Walk(RuleBasedStateMachine):
    """Does the same to all three and compares every answer after every operation."""

    def __init__(self):
        super().__init__()
        self.index, self.brute = Index(UNITS, NEURONS), BruteIndex(UNITS, NEURONS)
        self.oracle = Bookkeeping(UNITS, NEURONS)
        self.end = 0

    @precondition(lambda self: len(self.oracle.ids()) < len(IDS))
    @rule(data=st.data(), clipped=truths(UNITS, NEURONS))
    def add(self, data, clipped):
        example = data.draw(st.sampled_from([e for e in IDS if e not in self.oracle.ids()]))
        for each in (self.index, self.brute, self.oracle):
            each.add(example, clipped)
        self.end = max(self.end, example + 1)
        clipped[...] = ~clipped  # what the caller does with its array afterwards is its own affair

    @precondition(lambda self: self.oracle.ids())
    @rule(data=st.data())
    def discard(self, data):
        example = data.draw(st.sampled_from(self.oracle.ids()))
        for each in (self.index, self.brute, self.oracle):
            each.discard(example)

    @rule(
        data=st.data(),
        unit=st.integers(0, UNITS - 1),
        neurons=st.lists(st.integers(0, NEURONS - 1), max_size=4),
    )
    def replace(self, data, unit, neurons):
        clipped = data.draw(truths(len(neurons), self.end))
        for each in (self.index, self.brute, self.oracle):
            each.replace(unit, neurons, clipped)

    @rule(unit=st.integers(0, UNITS - 1), neuron=st.integers(0, NEURONS - 1))
    def refuse(self, unit, neuron):
        stored = self.oracle.ids()
        clipped = np.zeros((UNITS, NEURONS), dtype=bool)
        refused(self.index.replace, unit, [neuron], np.zeros((1, self.end + 1), dtype=bool))
        refused(self.index.interfered, unit, [neuron, NEURONS])
        refused(self.index.discard, 3)
        if stored:
            refused(self.index.add, stored[0], clipped)

    @invariant()
    def answers_agree(self):
        self.index._check()
        ids = self.oracle.ids()
        for each in (self.index, self.brute):
            assert each.ids().tolist() == ids
            assert len(each) == len(ids)
            assert [example for example in range(-1, 300) if example in each] == ids
            for example in ids:
                assert each.clipped(example).tolist() == self.oracle.clipped(example)
            for unit in range(UNITS):
                assert each.unclipped(unit).tolist() == self.oracle.three_sets(unit, 0)[0]
                for neurons in SUBSETS:
                    asked = np.array(neurons, dtype=np.int64)
                    expected = self.oracle.interfered(unit, neurons)
                    assert each.interfered(unit, asked).tolist() == expected
                for neuron in range(NEURONS):
                    sets = [each.tolist() for each in each.partition(unit, neuron)]
                    assert sets == [*self.oracle.three_sets(unit, neuron)]


TestWalk = Walk.TestCase
TestWalk.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)


def refused(call, *args):
    """Expects a refusal in one line that ends with a full stop."""
    with pytest.raises(InvalidInputError) as caught:
        call(*args)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


def state(index):
    """Copies all that an index keeps, to the last bit."""
    tables = [[array.tobytes() for array in table] for table in index._tables]
    return index._end, index._alive.tobytes(), tables


def three():
    """Builds an index of three examples, 0, 1 and 70, with room for 71 ids."""
    index = Index(UNITS, NEURONS)
    for example, bits in [(0, 0b000000), (1, 0b000001), (70, 0b110010)]:
        clipped = [[bits >> (3 * i + j) & 1 for j in range(NEURONS)] for i in range(UNITS)]
        index.add(example, np.array(clipped, dtype=bool))
    return index


NONE = np.zeros((UNITS, NEURONS), dtype=bool)


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("add", (1, NONE)),
        ("add", (-1, NONE)),
        ("add", (2, NONE[0])),
        ("add", (2, NONE.T)),
        ("add", (2, NONE[None])),
        ("add", (2, NONE.astype(np.int64))),
        ("add", (2, NONE.astype(np.float64))),
        ("discard", (2,)),
        ("discard", (-1,)),
        ("discard", (71,)),
        ("discard", (10**6,)),
        ("clipped", (2,)),
        ("clipped", (-1,)),
        ("clipped", (71,)),
        ("replace", (UNITS, [0], np.ones((1, 71), dtype=bool))),
        ("replace", (-1, [0], np.ones((1, 71), dtype=bool))),
        ("replace", (0, [NEURONS], np.ones((1, 71), dtype=bool))),
        ("replace", (0, [-1], np.ones((1, 71), dtype=bool))),
        ("replace", (0, [0, NEURONS], np.ones((2, 71), dtype=bool))),
        ("replace", (0, [0], np.ones((1, 70), dtype=bool))),
        ("replace", (0, [0], np.ones((1, 72), dtype=bool))),
        ("replace", (0, [0], np.ones((2, 71), dtype=bool))),
        ("replace", (0, [0, 1], np.ones((1, 71), dtype=bool))),
        ("replace", (0, [0], np.ones(71, dtype=bool))),
        ("replace", (0, [0], np.ones((1, 71), dtype=np.uint8))),
        ("interfered", (UNITS, [0])),
        ("interfered", (-1, [0])),
        ("interfered", (0, [NEURONS])),
        ("interfered", (0, [-1])),
        ("interfered", (0, [0, 1, NEURONS])),
        ("interfered", (0, [0.5])),
        ("partition", (UNITS, 0)),
        ("partition", (-1, 0)),
        ("partition", (0, NEURONS)),
        ("partition", (0, -1)),
        ("unclipped", (UNITS,)),
        ("unclipped", (-1,)),
    ],
)
def test_a_refusal_changes_nothing(method, args):
    index = three()
    before = state(index)
    refused(getattr(index, method), *args)
    assert state(index) == before
    index._check()


@pytest.mark.parametrize(("units", "neurons"), [(0, 1), (1, 0), (-1, 1), (1, -1)])
def test_an_index_without_units_or_neurons_is_refused(units, neurons):
    refused(Index, units, neurons)


def test_an_id_too_large_for_the_machine_changes_nothing():
    index = three()
    before = state(index)
    with pytest.raises((InvalidInputError, MemoryError, ValueError, OverflowError)):
        index.add(2**60, NONE)
    assert state(index) == before


def test_an_answer_is_the_callers_to_keep():
    index = three()
    index.ids()[:] = 9
    index.interfered(0, [0])[:] = 9
    index.unclipped(0)[:] = 9
    index.clipped(1)[:] = True
    for part in index.partition(0, 0):
        part[:] = 9
    assert state(index) == state(three())


def test_discarded_example_is_never_interfered():
    index = three()
    index.discard(1)
    index.replace(0, [0, 1, 2], np.zeros((3, 71), dtype=bool))
    assert index.interfered(0, [0, 1, 2]).tolist() == [0, 70]
    index.add(1, NONE)
    assert index.interfered(0, []).tolist() == [0, 1, 70]


@pytest.mark.parametrize("example", [1, 70])
@pytest.mark.parametrize("part", ["clipped", "none", "one", "counters"])
def test_check_sees_a_damaged_table(part, example):
    index = three()
    table = getattr(index._tables[1], part)
    if part == "counters":
        table[example] += 1
    else:
        table[..., example // 64] ^= np.uint64(1 << example % 64)
    with pytest.raises(AssertionError, match="unit 1"):
        index._check()


def test_check_sees_an_id_beyond_the_highest():
    index = three()
    index._alive[1] |= np.uint64(1 << 10)
    with pytest.raises(AssertionError, match="beyond"):
        index._check()
