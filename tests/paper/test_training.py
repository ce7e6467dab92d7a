"""What a policy may answer: ids that are stored, and nothing else."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.paper import Conditional, GradientRule, PaperLearner
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
    learner = PaperLearner(range(3), rule=rule, policy=policy)
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
    learner = PaperLearner([0], rule=rule, policy=Listening())
    learner.teach(ROWS[0], 0)
    learner.teach(ROWS[1], 0)
    told.clear()
    a = ROWS[2] @ learner.layer.W[0].T + learner.layer.b[0]
    said = learner.interfered(ROWS[2], 0)
    learner.teach(ROWS[2], 0)
    assert told[0] == (int(a.argmin()), said[0].tolist(), [0, 1], None)
    assert [previous for *_, previous in told[1:]] == [[0], [0, 1], []]
    assert all(stored == [0, 1] for _, _, stored, _ in told)


class Asks:
    """Asks about ids that are not stored."""

    def choose(self, at_risk, _):
        at_risk.winners(np.array([10**9]))
        return at_risk.ids


class AnswersAList:
    def choose(self, at_risk, _):
        return at_risk.ids.tolist()


class Scribbles:
    def choose(self, at_risk, _):
        at_risk.ids[:] = 0
        return at_risk.ids


class Empty:
    """Is falsy, as a policy with an empty buffer of its own would be."""

    def __len__(self):
        return 0

    def choose(self, at_risk, _):
        return at_risk.stored[:0]


def test_asking_about_an_id_that_is_not_stored_is_refused():
    with pytest.raises(InvalidInputError, match="must name stored ids"):
        PaperLearner([0, 1], rule=GradientRule(), policy=Asks()).teach([1.0, 2.0], 0)


def test_a_list_of_ids_is_as_good_as_an_array():
    rule = GradientRule(neurons=2, learning_rate=0.25, max_steps=3)
    one, other = (
        PaperLearner(range(3), rule=rule, policy=p) for p in (AnswersAList(), Conditional())
    )
    for x, y in zip(ROWS, LABELS.tolist(), strict=True):
        one.teach(x, y)
        other.teach(x, y)
    assert snapshot(one) == snapshot(other)


def test_a_policy_cannot_write_into_what_it_is_told():
    with pytest.raises(ValueError, match="read-only"):
        PaperLearner([0, 1], rule=GradientRule(), policy=Scribbles()).teach([1.0, 2.0], 0)


def test_a_falsy_policy_is_still_the_policy():
    policy = Empty()
    assert PaperLearner([0], rule=GradientRule(), policy=policy).policy is policy


@pytest.mark.parametrize("policy", [Conditional, "closed", 3])
def test_what_is_no_policy_is_refused_at_once(policy):
    with pytest.raises(InvalidInputError, match=r"`policy` must be a policy"):
        PaperLearner([0], rule=GradientRule(), policy=policy)


@pytest.mark.parametrize("rule", [GradientRule, "gradient", {"neurons": 3}])
def test_what_is_no_rule_is_refused_at_once(rule):
    with pytest.raises(InvalidInputError, match=r"`rule` must be a rule"):
        PaperLearner([0], rule=rule)


def test_steps_that_overflow_are_refused_and_change_nothing():
    rule = GradientRule(neurons=3, learning_rate=1e120, max_steps=50)
    rows = np.random.default_rng(0).normal(size=(2, 4)) * 1e99
    learner = PaperLearner([0, 1], rule=rule)
    learner.teach(rows[0], 0)
    before = snapshot(learner)
    with pytest.raises(InvalidInputError, match="overflowed"):
        learner.teach(rows[1], 1)
    assert snapshot(learner) == before


@pytest.mark.parametrize("rate", [0.05, 50.0])
def test_a_report_names_the_stored_examples_on_the_wrong_side(rate):
    rule = GradientRule(neurons=2, learning_rate=rate, max_steps=50)
    rows, labels = stream(5, examples=20, features=3)
    learner = PaperLearner(range(3), rule=rule)
    ever = 0
    for n, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        report = learner.teach(x, y)
        scores = learner.scores(rows[:n]) if n else np.empty((0, 3))
        wrong = (scores > 0.0) != (labels[:n, None] == np.arange(3))
        for unit in report.units:
            assert unit.wrong.tolist() == np.flatnonzero(wrong[:, unit.unit]).tolist()
            ever += len(unit.wrong)
        assert set(report.wrong.tolist()) <= set(np.flatnonzero(wrong.any(axis=1)).tolist())
    assert ever > 0
