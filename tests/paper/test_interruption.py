"""Interrupted anywhere, a learner is as if the example had never been shown to it."""

import copy
import sys
import traceback
from pathlib import Path

import pytest

import minout
from minout.paper import Closed, Conditional, GradientRule, PaperLearner, Uniform
from oracle.interruptions import interrupt_at_line
from oracle.recording import stream
from oracle.snapshot import snapshot

ROWS, LABELS = stream(3, examples=12, features=4)
MORE_ROWS, MORE_LABELS = stream(4, examples=66, features=4)
RULE = GradientRule(neurons=3, learning_rate=0.5, max_steps=6)
HOME = str(Path(minout.__file__).parent)


class Interrupting:
    """Chooses as another policy does, until the call that it was told to fail at."""

    def __init__(self, policy):
        self.policy, self.calls, self.fail_at, self.error = policy, 0, None, KeyboardInterrupt

    def choose(self, at_risk, rng):
        chosen = self.policy.choose(at_risk, rng)  # after the draw, so that the rng has moved
        self.calls += 1
        if self.calls == self.fail_at:
            raise self.error
        return chosen


def taught(count, policy, rule=RULE):
    learner = PaperLearner(range(3), rule=rule, policy=policy, seed=1)
    for x, y in zip(ROWS[:count], LABELS[:count].tolist(), strict=True):
        learner.teach(x, y)
    return learner


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
@pytest.mark.parametrize("policy", [Uniform(2), Closed(), Conditional()], ids=repr)
@pytest.mark.parametrize("count", [0, 1, 8, 11])
def test_an_interrupted_example_was_never_taught(count, policy, error):
    never = taught(count + 1, policy)
    interrupting = Interrupting(policy)
    learner = taught(count, interrupting)
    before, start = snapshot(learner), interrupting.calls
    call = 0
    while True:  # one call later each time, until the teaching gets through
        call += 1
        interrupting.calls, interrupting.fail_at = start, start + call
        interrupting.error = error
        try:
            learner.teach(ROWS[count], int(LABELS[count]))
        except error:
            assert snapshot(learner) == before
            assert len(learner) == count
            learner._check()
        else:
            break
    assert call > 4
    assert snapshot(learner) == snapshot(never)
    learner._check()


def test_teaching_goes_on_after_an_interruption_as_if_there_had_been_none():
    interrupting = Interrupting(Uniform(2))
    learner = PaperLearner(range(3), rule=RULE, policy=interrupting, seed=1)
    for i, (x, y) in enumerate(zip(ROWS, LABELS.tolist(), strict=True)):
        interrupting.fail_at = interrupting.calls + 1 + i % 3
        try:
            learner.teach(x, y)
        except KeyboardInterrupt:
            interrupting.fail_at = None
            learner.teach(x, y)
    assert snapshot(learner) == snapshot(taught(len(ROWS), Uniform(2)))


@pytest.mark.parametrize("room", ["memory", "index"])
def test_a_room_that_cannot_grow_leaves_the_learner_as_it_was(monkeypatch, room):
    learner = taught(8, Closed())
    before = snapshot(learner)

    def full(*_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(getattr(learner._units, room), "add", full)
        with pytest.raises(MemoryError):
            learner.teach(ROWS[8], int(LABELS[8]))
    assert snapshot(learner) == before
    learner.teach(ROWS[8], int(LABELS[8]))
    assert snapshot(learner) == snapshot(taught(9, Closed()))


def where(error):
    """Names the line of the package that was interrupted."""
    lines = traceback.extract_tb(error.__traceback__)
    last = [line for line in lines if line.filename.startswith(HOME)][-1]
    return f"{Path(last.filename).name}, {last.name}: {last.line}"


def test_an_interruption_while_the_index_grows_leaves_all_or_nothing():
    rule = GradientRule(neurons=1, learning_rate=0.5, max_steps=1)
    start = PaperLearner(range(3), rule=rule, policy=Uniform(2))
    start.teach_many(MORE_ROWS[:64], MORE_LABELS[:64].tolist())
    done = copy.deepcopy(start)
    done.teach(MORE_ROWS[64], int(MORE_LABELS[64]))
    number, sizes, tracing = 0, set(), sys.gettrace()
    while True:
        number += 1
        learner = copy.deepcopy(start)
        sys.settrace(interrupt_at_line(number, HOME))
        try:
            learner.teach(MORE_ROWS[64], int(MORE_LABELS[64]))
        except KeyboardInterrupt:
            sys.settrace(tracing)
        else:
            break
        finally:
            sys.settrace(tracing)
        learner._check()
        sizes.add(len(learner))
        if len(learner) == 64:
            learner.teach(MORE_ROWS[64], int(MORE_LABELS[64]))
        assert snapshot(learner) == snapshot(done)
    assert sizes == {64, 65}


@pytest.mark.parametrize("count", [0, 8])
def test_an_interruption_at_any_line_leaves_all_or_nothing(count):
    rule = GradientRule(neurons=2, learning_rate=0.5, max_steps=2)
    start, done = (taught(n, Uniform(2), rule) for n in (count, count + 1))
    before, after = snapshot(start), snapshot(done)
    number, torn = 0, []
    tracing = sys.gettrace()
    while True:
        number += 1
        learner = copy.deepcopy(start)
        sys.settrace(interrupt_at_line(number, HOME))
        try:
            learner.teach(ROWS[count], int(LABELS[count]))
        except KeyboardInterrupt as error:
            sys.settrace(tracing)
            if snapshot(learner) not in (before, after):
                torn.append(where(error))
        else:
            break
        finally:
            sys.settrace(tracing)
    assert number > 100
    assert "\n".join(sorted(set(torn))) == ""
