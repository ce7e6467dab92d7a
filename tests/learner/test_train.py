"""What a policy may answer: ids that are stored, and nothing else."""

import numpy as np
import pytest

from minout import Conditional, GradientRule, InvalidInputError, Learner
from oracle.recording import stream
from oracle.snapshot import snapshot

ROWS, LABELS = stream(12, examples=4, features=3)


class Answers:
    """Answers what it was told to, whatever is asked."""

    def __init__(self):
        self.answer = None

    def choose(self, at_risk, rng):
        return Conditional().choose(at_risk, rng) if self.answer is None else self.answer


# Three examples are stored, 0 to 2; 3 is the new one, which is not to be rehearsed beside itself.
@pytest.mark.parametrize("ids", [[3], [0, 3], [4], [-1], [0, 0]], ids=str)
def test_an_answer_that_is_not_stored_ids_is_refused_and_changes_nothing(ids):
    policy = Answers()
    rule = GradientRule(neurons=2, learning_rate=0.25, max_steps=3)
    learner = Learner(range(3), rule=rule, policy=policy)
    for x, y in zip(ROWS[:3], LABELS[:3].tolist(), strict=True):
        learner.teach(x, y)
    before, policy.answer = snapshot(learner), np.array(ids)
    with pytest.raises(InvalidInputError, match=r"^[^\n]*\.$"):
        learner.teach(ROWS[3], int(LABELS[3]))
    assert snapshot(learner) == before


def test_a_policy_is_told_its_choice_of_the_step_before():
    told = []

    class Listening:
        def choose(self, at_risk, _):
            previous = None if at_risk.previous is None else at_risk.previous.tolist()
            told.append((at_risk.neuron, at_risk.ids.tolist(), at_risk.stored.tolist(), previous))
            return at_risk.stored[: len(told) % 3]

    rule = GradientRule(neurons=2, learning_rate=0.01, max_steps=4)
    learner = Learner([0], rule=rule, policy=Listening())
    learner.teach(ROWS[0], 0)
    learner.teach(ROWS[1], 0)
    told.clear()
    a = ROWS[2] @ learner.layer.W[0].T + learner.layer.b[0]
    said = learner.interfered(ROWS[2], 0)
    learner.teach(ROWS[2], 0)
    assert told[0] == (int(a.argmin()), said[0].tolist(), [0, 1], None)
    assert [previous for *_, previous in told[1:]] == [[0], [0, 1], []]
    assert all(stored == [0, 1] for _, _, stored, _ in told)
