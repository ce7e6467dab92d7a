"""Interrupted anywhere, a learner is as it was before the call, or as it is after it."""

import contextlib
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import minout
from minout import InvalidInputError, Learner, kernels
from minout.core import draft, frame
from minout.errors import NotConverged
from minout.kernels import whole
from oracle.child import in_child
from oracle.interruptions import lines_of, was_interrupted
from oracle.margin import SETTINGS, everything, model_bits, stream

HOME = str(Path(minout.__file__).parent)
ROWS, LABELS = stream(3, examples=40, features=2, apart=0.5)
NAMES = ["abc"[y] for y in LABELS.tolist()]
OTHER = {"a": "b", "b": "c", "c": "new"}
KINDS = {
    "plain": SETTINGS["plain"],
    "far": SETTINGS["lda"] | {"C": 5.0, "near_classes": 1},
    "refresh": SETTINGS["all"],  # the next example brings one
    "auto": {},
}
CALLS = {
    "teach": lambda learner: learner.teach(ROWS[11], NAMES[11]),
    "teach a new class": lambda learner: learner.teach([3.0, -3.0], "new"),
    "teach_many": lambda learner: learner.teach_many(ROWS[12:20], NAMES[12:20]),
    "correct": lambda learner: learner.correct(1, OTHER[NAMES[1]]),
    "correct_many": lambda learner: learner.correct_many([2, 3], ["new", OTHER[NAMES[3]]]),
    "update": lambda learner: learner.update(1, ROWS[30]),
    "forget": lambda learner: learner.forget([0, 1, 2, 5]),
    "forget_class": lambda learner: learner.forget_class("b"),
    "set_keep": lambda learner: learner.set_keep(6),
    "settle": lambda learner: learner.settle(),
    "consolidate": lambda learner: learner.consolidate(),
}


def taught(kind):
    learner = Learner(**KINDS[kind])
    learner.teach_many(ROWS[:11], NAMES[:11])
    return learner


def go_on(learner):
    """Do a little of everything, and return what it ends with."""
    learner.teach_many(ROWS[20:24], NAMES[20:24])
    learner.correct(learner.ids[-2], "c")
    learner.forget(learner.ids[-5])
    assert learner.audit().ok
    found = everything(learner)
    learner.consolidate()
    return found, everything(learner)


@pytest.mark.parametrize("kind", ["plain", "far", "refresh"])
@pytest.mark.parametrize("call", CALLS)
def test_an_interruption_at_any_line_leaves_all_or_nothing(call, kind):
    # All: as if the call had come back. The trace sees the main thread, where Ctrl-C arrives.
    learner, done = taught(kind), taught(kind)
    before = everything(learner)
    numbers = lines_of(HOME, lambda: CALLS[call](done), most=8)
    after, stopped = everything(done), 0
    for number in numbers:
        stopped += was_interrupted(number, HOME, partial(CALLS[call], learner))
        found = everything(learner)
        assert found in (before, after), number
        if found == after:
            learner = taught(kind)
    assert stopped > (0 if call == "settle" else 4)
    CALLS[call](learner)
    assert everything(learner) == after
    assert go_on(learner) == go_on(done)


@pytest.mark.parametrize("call", ["teach", "teach_many", "correct", "forget"])
def test_an_interruption_around_the_call_does_not_shut_others_out(call):
    learner, errors = taught("plain"), []

    def interrupted():
        try:
            CALLS[call](learner)
        except KeyboardInterrupt as error:
            errors.append(error)  # as a shell does, with all that its frames refer to
            raise

    before = everything(learner)
    for number in range(1, 200):
        if not was_interrupted(number, contextlib.__file__, interrupted):
            break
        other = threading.Thread(target=learner.settle, daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive(), number
        assert everything(learner) == before
    assert everything(learner) != before


@pytest.mark.parametrize("call", ["consolidate"])
def test_workers_that_go_on_after_an_interruption_do_no_harm(call, monkeypatch):
    learner, start = taught("plain"), taught("plain")
    late, real = [], kernels.in_threads
    monkeypatch.setattr(whole, "WORTH_DIVIDING", 0)

    def interrupted(function, items):
        """Be interrupted while waiting for a thread that is still at work on the first item."""
        if len(items) < 2:
            return real(function, items)
        began, go = threading.Event(), threading.Event()

        def work(item):
            if item is items[0]:
                began.set()
                go.wait(0.05)
            return function(item)

        def interrupt():
            began.wait(5)
            raise KeyboardInterrupt

        late.append(go)
        real(lambda each: each(), [lambda: work(items[0]), interrupt])
        raise AssertionError

    before = everything(learner)
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "in_threads", interrupted)
        patch.setattr(whole, "in_threads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            CALLS[call](learner)
    for each in late:
        each.set()
    assert late
    assert everything(learner) == before
    assert go_on(learner) == go_on(start)


@pytest.mark.parametrize("call", ["teach", "correct", "forget", "consolidate"])
def test_only_an_unsolved_separator_is_reported_as_a_mistake_of_the_caller(call, monkeypatch):
    learner = taught("refresh")
    before = everything(learner)
    for error in (ArithmeticError, ZeroDivisionError):
        with monkeypatch.context() as patch:
            fail_once(patch, draft, "settle", error)
            with pytest.raises(error):
                CALLS[call](learner)
        assert everything(learner) == before
    if call != "teach":  # its refresh is put off
        monkeypatch.setattr(kernels, "settle", lambda *_: None)
        with pytest.raises(InvalidInputError, match="differ too much in size"):
            CALLS[call](learner)
        assert everything(learner) == before


def fail_once(patch, owner, name, error):
    """Make the first call of a function fail."""
    real, failed = getattr(owner, name), []

    def wrapped(*args, **kwargs):
        if not failed:
            failed.append(True)
            raise error
        return real(*args, **kwargs)

    patch.setattr(owner, name, wrapped)


@pytest.mark.parametrize("error", [NotConverged, np.linalg.LinAlgError], ids=["solver", "metric"])
def test_a_refresh_that_cannot_be_is_put_off_and_the_example_is_learned(error, monkeypatch):
    learner, twin = taught("auto"), taught("auto")
    assert CALLS["teach"](twin).refresh is not None
    origin, refresh_at = learner.inspect().origin.tolist(), learner.inspect().schedule.refresh_at
    with monkeypatch.context() as patch:
        fail_once(patch, frame.maths, "metric", error)
        fail_once(patch, frame.maths, "plain", error)
        report = CALLS["teach"](learner)
    assert report.refresh is None
    assert learner.inspect().origin.tolist() == origin
    assert learner.inspect().schedule.refresh_at == tuple(2 * each for each in refresh_at)
    assert learner.audit().ok
    assert len(learner) == 12
    learner.consolidate()
    twin.consolidate()
    assert model_bits(learner) == model_bits(twin)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_in_the_middle_of_a_change_sees_the_state_before_it(monkeypatch):
    learner, begun, resume = taught("plain"), threading.Event(), threading.Event()
    before, real = everything(learner), draft.settle

    def slow(*args):
        begun.set()
        resume.wait(30)
        return real(*args)

    def child():
        is_as_before = everything(learner) == before
        monkeypatch.undo()
        CALLS["teach a new class"](learner)
        return is_as_before and learner.audit().ok and len(learner) == 12

    monkeypatch.setattr(draft, "settle", slow)
    other = threading.Thread(target=CALLS["teach a new class"], args=(learner,))
    other.start()
    assert begun.wait(30)
    try:
        assert in_child(child) == 1
    finally:
        resume.set()
        other.join(30)
    assert len(learner) == 12


def test_a_signal_handler_reads_the_state_before_the_call(monkeypatch):
    learner, found, real = taught("plain"), [], draft.settle
    before = everything(learner)

    def interrupted(*args):
        found.append(everything(learner))
        return real(*args)

    monkeypatch.setattr(draft, "settle", interrupted)
    CALLS["teach a new class"](learner)
    assert found == [before] * max(len(found), 1)
