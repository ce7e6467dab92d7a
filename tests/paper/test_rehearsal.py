"""The four policies, each against what it says it rehearses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.paper import Closed, Conditional, NoRehearsal, Uniform
from oracle.sets import closure, interfered, three_sets
from oracle.situations import STRIDE, ids, situations, told

RNG = np.random.default_rng(0)


@given(situations())
def test_conditional_rehearses_s1_and_s2_of_the_new_examples_neuron(situation):
    clipped, _, neuron = situation
    s1, s2, _ = three_sets(clipped, neuron)
    chosen = Conditional().choose(told(*situation), RNG)
    assert chosen.tolist() == ids(s1 | s2).tolist()


@given(situations())
def test_no_rehearsal_rehearses_nothing(situation):
    chosen = NoRehearsal().choose(told(*situation), RNG)
    assert chosen.dtype == np.int64
    assert chosen.shape == (0,)


def test_neither_draws_from_the_generator():
    rng = np.random.default_rng(5)
    before = rng.bit_generator.state
    for policy in (Conditional(), NoRehearsal()):
        policy.choose(told([set(), {0}], [0, 0], 0), rng)
    assert rng.bit_generator.state == before


@given(situations())
def test_closed_equals_the_oracle(situation):
    assert Closed().choose(told(*situation), RNG).tolist() == ids(closure(*situation)).tolist()


@given(situations())
def test_closed_is_a_fixpoint_and_moves_only_neurons_it_asked_about(situation):
    clipped, winners, neuron = situation
    asked = []
    chosen = Closed().choose(told(*situation, asked=asked), RNG)
    moved = {neuron} | {winners[example // STRIDE] for example in chosen}
    assert moved <= asked[-1]
    assert chosen.tolist() == ids(interfered(clipped, asked[-1])).tolist()
    assert set(ids(interfered(clipped, moved))) <= set(chosen.tolist())
    assert len(asked) <= 4  # no more rounds than a unit has neurons


@given(situations())
def test_closed_holds_all_that_conditional_does(situation):
    conditional = Conditional().choose(told(*situation), RNG)
    assert set(conditional) <= set(Closed().choose(told(*situation), RNG))


def test_closed_follows_a_chain_to_its_end():
    # New moves 0; example 0 is at risk and moves 1; that frees example 1, which moves 2; and so on.
    clipped, winners = [{0}, {1}, {2}, {3}, {0, 3}], [1, 2, 0, 3, 3]
    asked = []
    chosen = Closed().choose(told(clipped, winners, 0, asked=asked), RNG)
    assert chosen.tolist() == ids([0, 1, 2]).tolist()
    assert asked == [{0}, {0, 1}, {0, 1, 2}]


def stored(count, previous=None):
    return told([set()] * count, [0] * count, 0, previous=previous)


@given(st.integers(0, 8), st.integers(0, 8), st.booleans(), st.integers(0, 2**32))
def test_a_draw_is_sorted_unique_stored_and_of_the_size_asked(size, count, fresh, seed):
    chosen = Uniform(size, fresh).choose(stored(count), np.random.default_rng(seed))
    assert chosen.dtype == np.int64
    assert chosen.tolist() == sorted(set(chosen.tolist()))
    assert set(chosen.tolist()) <= set(ids(range(count)).tolist())
    assert len(chosen) == min(size, count)


@pytest.mark.parametrize("size", [5, 6, 1000])
def test_with_too_few_stored_it_rehearses_them_all(size):
    chosen = Uniform(size).choose(stored(5), np.random.default_rng(0))
    assert chosen.tolist() == ids(range(5)).tolist()


def test_fresh_draws_anew_at_every_step():
    rng = np.random.default_rng(0)
    policy, previous, draws = Uniform(2), None, set()
    for _ in range(40):
        previous = policy.choose(stored(6, previous), rng)
        draws.add(tuple(previous.tolist()))
    assert len(draws) > 5


def test_one_draw_serves_all_steps_of_an_example():
    rng = np.random.default_rng(0)
    policy = Uniform(2, fresh=False)
    first = policy.choose(stored(6), rng)
    state = rng.bit_generator.state
    again = policy.choose(stored(6, first), rng)
    assert again.tolist() == first.tolist()
    assert rng.bit_generator.state == state
    draws = {tuple(policy.choose(stored(6), rng).tolist()) for _ in range(40)}
    assert len(draws) > 5  # the next example gets a draw of its own


@pytest.mark.parametrize("fresh", [True, False])
def test_the_same_generator_gives_the_same_draw(fresh):
    first, second = (
        Uniform(3, fresh).choose(stored(9), np.random.default_rng(4)) for _ in range(2)
    )
    assert first.tolist() == second.tolist()


def test_every_example_is_drawn_as_often_as_any_other():
    rng = np.random.default_rng(1)
    counts = np.zeros(5)
    for _ in range(2000):
        counts[Uniform(2).choose(stored(5), rng) // 3] += 1
    assert np.abs(counts - 800).max() < 5 * np.sqrt(2000 * 0.4 * 0.6)


@pytest.mark.parametrize("size", [-1, 2.5, float("nan"), "3", None])
def test_a_size_that_cannot_be_drawn_is_refused(size):
    with pytest.raises(InvalidInputError, match=r"^`size` must be a whole number, .*\.$"):
        Uniform(size)
