"""What a step remembers of what was: enough to be taken back, and no more once it is done."""

import gc
import weakref

import numpy as np

from minout import Learner


def test_a_move_does_not_hold_on_to_the_one_before_it():
    rng = np.random.default_rng(1)
    learner, moves = Learner(), []
    for i in range(40):
        learner.teach(rng.normal(size=3), i % 4)
        moves.append(weakref.ref(learner._margin.before_move or learner))
    gc.collect()
    alive = [move() for move in moves[:-1] if move() is not None and move() is not learner]
    assert learner._margin.before_move not in (None, *alive)
    assert alive == []
