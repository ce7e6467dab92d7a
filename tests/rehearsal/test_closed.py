"""The closed policy: a set that the step itself does not outgrow."""

import numpy as np
from hypothesis import given

from minout.rehearsal import Closed, Conditional
from oracle.sets import closure, interfered
from oracle.situations import STRIDE, ids, situations, told

RNG = np.random.default_rng(0)


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
