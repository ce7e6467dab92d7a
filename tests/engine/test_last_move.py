"""What a state remembers of its last move: enough for `partition`, and nothing of earlier moves."""

import gc

import numpy as np

from minout import Learner
from minout.engine.state import Move


def moves():
    gc.collect()
    return sum(type(each) is Move for each in gc.get_objects())


def test_a_move_does_not_hold_on_to_the_one_before_it():
    rng = np.random.default_rng(1)
    learner, before, moved = Learner(), moves(), 0
    for i in range(40):
        moved += bool(learner.teach(rng.normal(size=3), i % 4).certificate.moved)
    assert moved > 10
    assert learner.partition()
    assert moves() == before + 1
