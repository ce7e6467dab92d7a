"""Bitmaps and counters against sets of numbers, with ids on both sides of every word's edge."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels
from minout.kernels import Bitmaps
from oracle.sets import interfered

WORDS, NEURONS = 3, 3
IDS = [0, 1, 31, 32, 62, 63, 64, 65, 127, 128, 129, 190, 191]
FULL = np.full(WORDS, ~np.uint64(0))


def empty():
    return Bitmaps(
        clipped=np.zeros((NEURONS, WORDS), dtype=np.uint64),
        none=FULL.copy(),
        one=np.zeros(WORDS, dtype=np.uint64),
        counters=np.zeros(64 * WORDS, dtype=np.int64),
    )


def words(ids):
    """Builds a bitmap by hand: id e is bit e % 64 of word e // 64."""
    numbers = [0] * WORDS
    for example in ids:
        numbers[example // 64] += 1 << example % 64
    return np.array(numbers, dtype=np.uint64)


def assert_holds(table, truth):
    """Compares a table with a list of sets of clipped neurons, by id."""
    for j in range(NEURONS):
        held = [e for e, neurons in enumerate(truth) if j in neurons]
        assert (table.clipped[j] == words(held)).all()
    counts = [len(neurons) for neurons in truth]
    assert table.counters.tolist() == counts
    assert (table.none == words([e for e, count in enumerate(counts) if count == 0])).all()
    assert (table.one == words([e for e, count in enumerate(counts) if count == 1])).all()


SETS = st.sets(st.integers(0, NEURONS - 1))
TRUTHS = st.dictionaries(st.sampled_from(IDS), SETS)


def written(truth):
    """Writes sets of clipped neurons, by id, into a fresh table."""
    table, known = empty(), [set() for _ in range(64 * WORDS)]
    for example, neurons in truth.items():
        kernels.write(table, example, np.array([j in neurons for j in range(NEURONS)]))
        known[example] = neurons
    return table, known


@given(st.sets(st.sampled_from(IDS)), st.sets(st.sampled_from(IDS)))
def test_bits_lists_what_is_set_and_alive(ids, alive):
    assert kernels.bits(words(ids), words(alive)).tolist() == sorted(ids & alive)


def test_bits_finds_every_single_bit():
    for example in range(64 * WORDS):
        assert kernels.bits(words([example]), FULL).tolist() == [example]
    assert kernels.bits(FULL, FULL).tolist() == [*range(64 * WORDS)]


@given(TRUTHS, TRUTHS)
def test_write_sets_all_of_an_examples_bits(first, second):
    table, known = written(first)
    for example, neurons in second.items():
        kernels.write(table, example, np.array([j in neurons for j in range(NEURONS)]))
        known[example] = neurons
    assert_holds(table, known)


@given(
    TRUTHS,
    st.lists(st.integers(0, NEURONS - 1), max_size=4),
    st.sampled_from([0, 1, 63, 64, 65, 128, 130, 192]),
    st.integers(0, 2**32),
)
def test_replace_is_the_new_truth_about_those_alive(truth, neurons, n, seed):
    truth = {example: held for example, held in truth.items() if example < n}
    table, known = written(truth)
    said = np.random.default_rng(seed).random((len(neurons), n)) < 0.5
    kernels.replace(table, words(truth), np.array(neurons, dtype=np.int64), said)
    for i, j in enumerate(neurons):
        for example in truth:
            known[example] = known[example] - {j} | ({j} if said[i, example] else set())
    assert_holds(table, known)


@given(TRUTHS, SETS)
def test_interfered_is_the_rule_for_any_set_of_neurons(truth, neurons):
    table, known = written(truth)
    asked = np.array(sorted(neurons), dtype=np.int64)
    found = kernels.interfered(table, FULL, asked)
    assert found.tolist() == sorted(interfered(known, neurons))


@given(st.lists(st.integers(-2, 5), max_size=4), st.integers(0, 4))
def test_all_below_says_whether_every_number_is_in_range(numbers, end):
    expected = all(number in range(end) for number in numbers)
    assert kernels.all_below(np.array(numbers, dtype=np.int64), end) == expected
