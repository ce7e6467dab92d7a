"""Interrupted anywhere, a learner is as it was before the call, or as it is after it."""

import contextlib
import copy
import importlib
import threading
from pathlib import Path

import numpy as np
import pytest

import minout
from minout import InvalidInputError, Learner, engine, kernels
from minout.engine import draft, frame, pool, settle, state
from minout.engine.draft import Draft
from minout.engine.examples import Examples
from minout.engine.far import FarPairs
from minout.engine.images import Images
from minout.engine.moments import RunningMoments
from minout.engine.pool import Pool
from minout.engine.separators import Separator, Separators
from minout.errors import NotConverged
from oracle.child import in_child
from oracle.interruptions import lines_of, was_interrupted
from oracle.margin import SETTINGS, everything, model_bits, stream

consolidation = importlib.import_module("minout.engine.consolidate")  # the function has this name

HOME = str(Path(minout.__file__).parent)
ROWS, LABELS = stream(3, examples=40, features=2, apart=0.5)
KINDS = {
    "plain": SETTINGS["plain"],
    "manual": SETTINGS["lda"] | {"C": 5.0, "refresh": "manual"},
    "far": SETTINGS["lda"] | {"C": 5.0, "near_classes": 1},
    "auto": {},
}
PLACES = {
    "newton": (kernels, "newton"),
    "gram": (kernels, "gram"),
    "activations": (kernels, "activations"),
    "region_margins": (kernels, "region_margins"),
    "settle_pools": (kernels, "settle_pools"),
    "solve": (Pool, "solve"),
    "fork": (Pool, "fork"),
    "check": (settle, "check"),
    "settle": (draft, "settle"),
    "metric": (frame.maths, "metric"),
    "prior": (frame.maths, "prior"),
    "choose": (frame, "choose"),
    "draft": (Draft, "__init__"),
    "delta": (Draft, "delta"),
    "drop a class": (Draft, "_reduced"),
    "new separator": (Separator, "new"),
    "staged": (Examples, "staged"),
    "sums": (RunningMoments, "with_rows"),
    "images": (Images, "of"),
    "make room": (engine, "make_room"),
    "carry pools": (consolidation, "_carried_pools"),
    "discriminants": (FarPairs, "of"),
    "support": (draft, "support_of"),
    "far_margins": (kernels, "far_margins"),
    "discriminant_margins": (kernels, "discriminant_margins"),
}


def taught(count, kind):
    learner = Learner(**KINDS[kind])
    for i in range(count):
        learner.teach(ROWS[i], "abc"[LABELS[i]], id=i)
    return learner


def calls(count):
    """Name the calls that are interrupted, each a function of a learner."""
    other = {"a": "b", "b": "c", "c": "new"}
    return {
        "teach": lambda learner: learner.teach(ROWS[count], "abc"[LABELS[count]], id=count),
        "teach a new class": lambda learner: learner.teach([3.0, -3.0], "new"),
        "correct": lambda learner: learner.correct(1, other["abc"[LABELS[1]]]),
        "correct to a new class": lambda learner: learner.correct(2, "new"),
        "forget": lambda learner: learner.forget([0, 1, 2, 5]),
        "forget_class": lambda learner: learner.forget_class("b"),
        "consolidate": lambda learner: learner.consolidate(),
    }


CALLS = [*calls(0)]


def go_on(learner, count):
    """Do a little of everything, and return the bits that it ends with."""
    for i in range(count + 1, count + 6):
        learner.teach(ROWS[i], "abc"[LABELS[i]], id=100 + i)
    learner.correct(4, "c" if learner.example(4)[1] == "a" else "a")
    learner.forget(6)
    learner.teach([0.5, 0.5], "a")
    bits = everything(learner)
    learner.consolidate()
    return bits, everything(learner), learner.misfits, learner.ids


FAILING = [
    *((call, "far") for call in CALLS),
    *((call, "auto") for call in ("teach", "correct to a new class", "consolidate")),
    *((call, "plain") for call in ("teach a new class", "correct", "forget")),
    ("forget_class", "manual"),
]


@pytest.mark.parametrize(("call", "kind"), FAILING)
def test_a_call_that_fails_anywhere_was_never_made(call, kind, monkeypatch):
    count = 11  # the next example brings a refresh, if any does
    learner = taught(count, kind)
    twin, before, failed = copy.deepcopy(learner), everything(learner), 0
    for where, (owner, name) in PLACES.items():
        with monkeypatch.context() as patch:
            spare = copy.deepcopy(learner)  # to copy also calls some of these
            made = failing(patch, owner, name, None, None)
            calls(count)[call](spare)
        for nth in sorted({1, made() // 2, made()} & set(range(1, made() + 1))):
            error = [KeyboardInterrupt, MemoryError, ValueError][failed % 3]
            if owner is Separator:  # room that was made stays, and fewer of these are needed
                learner = copy.deepcopy(learner)
            with monkeypatch.context() as patch:
                failing(patch, owner, name, nth, error)
                with pytest.raises(error):
                    calls(count)[call](learner)
            assert everything(learner) == before, (where, nth)
            failed += 1
    assert failed >= 4  # to forget a class calls only four of them
    assert learner.audit().ok
    assert go_on(learner, count) == go_on(twin, count)


def failing(patch, owner, name, nth, error):
    """Make the nth call of a function fail, half of the time after it has done its work."""
    real, lock, made = getattr(owner, name), threading.Lock(), 0

    def wrapped(*args, **kwargs):
        nonlocal made
        with lock:
            made += 1
            mine = made
        if mine == nth and nth % 2:
            raise error
        out = real(*args, **kwargs)
        if mine == nth:
            raise error
        return out

    patch.setattr(owner, name, wrapped)
    return lambda: made


@pytest.mark.parametrize("call", ["teach a new class", "correct to a new class", "consolidate"])
def test_workers_that_go_on_after_an_interruption_do_no_harm(call, monkeypatch):
    count = 15
    start = taught(count, "plain")
    learner = copy.deepcopy(start)
    late, real = [], kernels.in_threads
    monkeypatch.setattr(settle, "WORTH_DIVIDING", 0)

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
        with pytest.raises(KeyboardInterrupt):
            calls(count)[call](learner)
    for each in late:
        each.set()
    assert late
    assert everything(learner) == before
    assert go_on(learner, count) == go_on(copy.deepcopy(start), count)


@pytest.mark.parametrize("call", ["correct", "consolidate"])
def test_a_separator_that_is_not_found_leaves_everything_as_it_was(call, monkeypatch):
    learner = taught(15, "plain")
    before = everything(learner)
    with monkeypatch.context() as patch:
        patch.setattr(settle, "_is_small", lambda *_: False)
        patch.setattr(kernels, "newton", lambda *_: False)
        with pytest.raises(InvalidInputError, match="differ too much in size"):
            calls(15)[call](learner)
    assert everything(learner) == before
    assert learner.audit().ok


@pytest.mark.parametrize("error", [ArithmeticError, ZeroDivisionError])
@pytest.mark.parametrize("call", ["teach", "correct", "forget", "consolidate"])
def test_a_bug_is_not_reported_as_a_mistake_of_the_caller(call, error, monkeypatch):
    learner = taught(11, "auto")
    before = everything(learner)
    with monkeypatch.context() as patch:
        failing(patch, draft, "settle", 1, error)
        with pytest.raises(error):
            calls(11)[call](learner)
    assert everything(learner) == before


@pytest.mark.parametrize("error", [NotConverged, np.linalg.LinAlgError], ids=["solver", "metric"])
def test_a_refresh_that_cannot_be_is_put_off_and_the_example_is_learned(error, monkeypatch):
    learner, twin = taught(11, "auto"), taught(11, "auto")
    assert twin.teach(ROWS[11], "abc"[LABELS[11]]).refresh is not None
    origin, refresh_at = learner.inspect().origin.tolist(), learner.inspect().schedule.refresh_at
    with monkeypatch.context() as patch:
        failing(patch, frame.maths, "metric", 1, error)
        failing(patch, frame.maths, "plain", 1, error)
        report = learner.teach(ROWS[11], "abc"[LABELS[11]])
    assert report.refresh is None
    assert learner.inspect().origin.tolist() == origin
    assert learner.inspect().schedule.refresh_at == tuple(2 * each for each in refresh_at)
    assert learner.audit().ok
    assert len(learner) == 12
    learner.consolidate()
    twin.consolidate()
    assert model_bits(learner) == model_bits(twin)


AT_ANY_LINE = [("teach a new class", 1, "plain")]
AT_ANY_LINE += [(call, 7, "plain") for call in CALLS] + [(call, 9, "far") for call in CALLS]


@pytest.mark.parametrize(("call", "count", "kind"), AT_ANY_LINE)
def test_an_interruption_at_any_line_leaves_all_or_nothing(call, count, kind):
    # All: as if the call had come back. The trace sees the main thread, where Ctrl-C arrives.
    start = taught(count, kind)
    done = copy.deepcopy(start)
    numbers = lines_of(HOME, lambda: calls(count)[call](done), most=20)
    before, after = everything(start), everything(done)
    found = []
    for number in numbers:
        learner = copy.deepcopy(start)
        if was_interrupted(number, HOME, lambda: calls(count)[call](learner)):  # noqa: B023
            found.append(everything(learner))
            assert found[-1] in (before, after), number
    assert len(found) > 10
    assert before in found


@pytest.mark.parametrize("call", ["teach a new class", "forget_class"])
def test_a_second_interruption_does_no_more_harm_than_the_first(call):
    start = taught(7, "plain")
    done = copy.deepcopy(start)
    numbers = lines_of(state.__file__, lambda: calls(7)[call](done), most=30)
    before, after = everything(start), everything(done)
    completed = 0
    for number in numbers:
        learner = copy.deepcopy(start)
        assert was_interrupted(number, state.__file__, lambda: calls(7)[call](learner))  # noqa: B023
        for second in (3, 20, 12):
            completed += was_interrupted(second, HOME, lambda: len(learner))  # noqa: B023
        assert everything(learner) in (before, after), number
    assert completed > len(numbers)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_in_the_middle_of_a_change_completes_it(monkeypatch):
    learner = taught(15, "plain")
    done = copy.deepcopy(learner)
    call = calls(15)["teach a new class"]
    call(done)
    begun, go_on = threading.Event(), threading.Event()
    real = Separators.put

    def slow(*args):
        real(*args)
        begun.set()
        go_on.wait(30)

    monkeypatch.setattr(Separators, "put", slow)
    other = threading.Thread(target=call, args=(learner,))
    other.start()
    assert begun.wait(10)
    monkeypatch.undo()
    try:
        assert in_child(lambda: everything(learner) == everything(done)) == 1
    finally:
        go_on.set()
        other.join(10)
    assert everything(learner) == everything(done)


def test_a_signal_handler_reads_complete_states_and_changes_nothing(monkeypatch):
    learner = taught(7, "plain")
    done, call = copy.deepcopy(learner), calls(7)["teach a new class"]
    call(done)
    found, real = [], Separators.put

    def interrupted(*args):
        monkeypatch.setattr(Separators, "put", real)  # the signal arrives once
        found.append(everything(learner))
        with pytest.raises(RuntimeError, match="a signal handler may read it, but not change it"):
            learner.forget(0)
        real(*args)

    monkeypatch.setattr(Separators, "put", interrupted)
    call(learner)
    assert found == [everything(done)]
    assert everything(learner) == everything(done)


def test_an_interrupted_check_is_made_again(monkeypatch):
    monkeypatch.setattr(pool, "CHEAP", 0)  # large pools are checked one by one
    rows, labels = stream(3, examples=60, features=12, apart=0.2)
    learner, twin = Learner(**SETTINGS["plain"]), Learner(**SETTINGS["plain"])
    interrupted = 0
    for i, (x, y) in enumerate(zip(rows, labels.tolist(), strict=True)):
        with monkeypatch.context() as patch:
            failing(patch, kernels, "activations", 1 + i % 5, KeyboardInterrupt)
            with contextlib.suppress(KeyboardInterrupt):
                learner.teach(x, y, id=i)
        if i not in learner:
            interrupted += 1
            learner.teach(x, y, id=i)
        twin.teach(x, y, id=i)
    assert interrupted > 10
    assert everything(learner) == everything(twin)
    assert all(np.isfinite(each.w).all() for each in learner.inspect().separators.values())
