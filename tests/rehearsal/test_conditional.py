"""The paper's policy, and the one that rehearses nothing."""

import numpy as np
from hypothesis import given

from minout.rehearsal import Conditional, NoRehearsal
from oracle.sets import three_sets
from oracle.situations import ids, situations, told

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
