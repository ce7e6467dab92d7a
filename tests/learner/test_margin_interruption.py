"""Interrupted anywhere, the margin learner is as if the call had never been made."""

import contextlib
import copy
import linecache
import sys
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest

import minout
from minout import Learner, kernels
from minout.learner import _check, _consolidate, _margin, _settle
from minout.learner._saved import packed
from minout.rules import MarginRule, Pictures, Pool
from oracle.margin import differs, model_bits, snapshot, stream

HOME = str(Path(minout.__file__).parent)
ROWS, LABELS = stream(3, examples=40, features=2, apart=0.5)
RULES = {
    "plain": MarginRule(price=0.01, metric=False, prior=False, columns=False),
    "manual": MarginRule(price=0.1, metric=True, prior=True, columns=False, refresh="manual"),
    "auto": MarginRule(),
}
PLACES = {
    "newton": (kernels, "newton"),
    "gram": (kernels, "gram"),
    "combine": (kernels, "combine"),
    "activations": (kernels, "activations"),
    "class_margins": (kernels, "class_margins"),
    "digest": (kernels, "digest"),
    "solve": (Pool, "solve"),
    "join": (Pool, "join"),
    "leave": (Pool, "leave"),
    "rest": (Pool, "rest"),
    "weights": (Pool, "weights"),
    "check": (_settle, "check"),
    "settle": (_margin, "settle"),
    "plain": (_margin.maths, "plain"),
    "metric": (_margin.maths, "metric"),
    "prior": (_margin.maths, "prior"),
    "choose": (_margin, "choose"),
    "picked": (_margin, "picked"),
    "publish": (_margin.Margin, "_publish"),
    "store": (_margin.Margin, "_store"),
    "add_class": (_margin.Margin, "_add_class"),
    "drop_empty": (_margin.Margin, "_drop_empty"),
    "account": (_margin.RunningMoments, "_account"),
    "pictures": (Pictures, "of"),
    "carried": (_consolidate, "_carried"),
}


def taught(count, rule, *, start=0):
    learner = Learner(rule=RULES[rule])
    for i in range(start, count):
        learner.teach(ROWS[i], "abc"[LABELS[i]], id=i)
    return learner


def calls(count):
    """Names the calls that are interrupted, each a function of a learner."""
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
    """Does a little of everything, and gives the bits that it ends with."""
    for i in range(count + 1, count + 6):
        learner.teach(ROWS[i], "abc"[LABELS[i]], id=100 + i)
    learner.correct(4, "c" if learner._margin.label_at(learner._margin.place_of[4]) == "a" else "a")
    learner.forget(6)
    learner.teach([0.5, 0.5], "a")
    bits = model_bits(learner._margin)
    learner.consolidate()
    return bits, model_bits(learner._margin), learner.exceptions, learner.ids


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails_anywhere_was_never_made(call, rule, monkeypatch):
    count = 11  # the next example brings a refresh, if any does
    learner = taught(count, rule)
    twin, before, failed = copy.deepcopy(learner), snapshot(learner), 0
    for where, (room, name) in PLACES.items():
        with monkeypatch.context() as patch:
            made = failing(patch, room, name, None, None)
            calls(count)[call](copy.deepcopy(learner))
        for nth in sorted({1, 2, made() // 2, made()} & set(range(1, made() + 1))):
            error = [KeyboardInterrupt, MemoryError, ValueError][failed % 3]
            with monkeypatch.context() as patch:
                failing(patch, room, name, nth, error)
                with pytest.raises(error):
                    calls(count)[call](learner)
            assert differs(snapshot(learner), before) == [], (where, nth)
            assert learner.audit().ok, (where, nth)
            failed += 1
    assert failed > 2
    assert go_on(learner, count) == go_on(twin, count)


def failing(patch, room, name, nth, error):
    """Makes the nth call of a function fail, half of the time after it has done its work."""
    real, lock, made = getattr(room, name), threading.Lock(), 0

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

    patch.setattr(room, name, wrapped)
    return lambda: made


@pytest.mark.parametrize("call", ["teach a new class", "correct to a new class", "consolidate"])
def test_workers_that_go_on_after_an_interruption_do_no_harm(call, monkeypatch):
    count = 15
    start = taught(count, "plain")
    learner = copy.deepcopy(start)
    late, real = [], kernels.in_threads
    monkeypatch.setattr(_settle, "WORTH_DIVIDING", 0)

    def interrupted(function, items):
        """Is interrupted while it waits for a thread that is still at work on the first item."""
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

    before = snapshot(learner)
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "in_threads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            calls(count)[call](learner)
    for each in late:
        each.set()
    assert late
    assert differs(snapshot(learner), before) == []
    assert go_on(learner, count) == go_on(copy.deepcopy(start), count)


def test_a_separator_that_is_not_found_leaves_everything_as_it_was(monkeypatch):
    learner = taught(15, "plain")
    before = snapshot(learner)
    with monkeypatch.context() as patch:
        patch.setattr(_settle, "_is_small", lambda *_: False)
        patch.setattr(kernels, "newton", lambda *_: False)
        with pytest.raises((ArithmeticError, minout.InvalidInputError)):
            learner.teach(ROWS[15], "new")
    assert differs(snapshot(learner), before) == []
    assert learner.audit().ok


def test_a_refresh_that_cannot_be_is_put_off_and_the_example_is_learned(monkeypatch):
    learner, twin = taught(11, "auto"), taught(11, "auto")
    assert twin.teach(ROWS[11], "abc"[LABELS[11]]).refresh is not None
    origin = learner._margin.geometry.origin.tolist()
    with monkeypatch.context() as patch:
        failing(patch, _margin.maths, "metric", 1, ArithmeticError)
        failing(patch, _margin.maths, "plain", 1, ArithmeticError)
        report = learner.teach(ROWS[11], "abc"[LABELS[11]])
    assert report.refresh is None
    assert learner._margin.geometry.origin.tolist() == origin
    assert learner.audit().ok
    assert len(learner) == 12
    learner.consolidate()
    twin.consolidate()
    assert model_bits(learner._margin) == model_bits(twin._margin)


def test_an_interrupted_example_takes_no_number(monkeypatch):
    def numbered(*, interrupted):
        learner = taught(10, "plain")
        if interrupted:
            with monkeypatch.context() as patch:
                patch.setattr(_margin.Margin, "_store", _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    learner.teach(ROWS[10], "a")
        learner.forget([0, 3])
        return learner.teach(ROWS[10], "a").example_id

    assert numbered(interrupted=True) == numbered(interrupted=False)


def _interrupt(*_):
    raise KeyboardInterrupt


def interrupt_at_line(number):
    """Raises KeyboardInterrupt when the package has run that many lines of Python.

    Not at a `with`: between it and its block Python lets no interruption in, a trace would.
    """
    ran = 0

    def trace(frame, event, _):
        nonlocal ran
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and not line.lstrip().startswith("with "):
            ran += 1
            if ran == number:
                raise KeyboardInterrupt
        return trace

    return trace


def where(error):
    """Names the line of the package that was interrupted."""
    lines = traceback.extract_tb(error.__traceback__)
    last = [line for line in lines if line.filename.startswith(HOME)][-1]
    return f"{Path(last.filename).name}, {last.name}: {last.line}"


@pytest.mark.parametrize(
    ("call", "count"), [("teach", 0), ("teach", 1), *((call, 7) for call in CALLS)]
)
def test_an_interruption_at_any_line_leaves_all_or_nothing(call, count):
    # All: as if the call had come back. The trace sees the main thread, where Ctrl-C arrives.
    start = taught(count, "plain")
    done = copy.deepcopy(start)
    calls(count)[call](done)
    before, after = snapshot(start), snapshot(done)
    torn, number, step = [], 0, 1 if count < 7 else 7
    tracing = sys.gettrace()
    while True:
        number += step
        learner = copy.deepcopy(start)
        sys.settrace(interrupt_at_line(number))
        try:
            calls(count)[call](learner)
        except KeyboardInterrupt as error:
            sys.settrace(tracing)
            found = snapshot(learner)
            if found not in (before, after) and differs(found, after) != ["next id"]:
                parts = differs(found, before), differs(found, after)
                torn.append(f"{where(error)}  {min(parts, key=len)}")
        else:
            break
        finally:
            sys.settrace(tracing)
    assert number > 30
    assert "\n".join(sorted(set(torn))) == ""


@pytest.mark.parametrize("rule", RULES)
def test_a_copy_goes_its_own_way(rule):
    learner = taught(15, rule)
    before = snapshot(learner)
    twin = copy.deepcopy(learner)
    assert differs(snapshot(twin), before) == []
    bits = go_on(twin, 15)
    assert differs(snapshot(learner), before) == []
    assert go_on(learner, 15) == bits


def test_an_interrupted_check_of_many_rows_is_made_again(monkeypatch):
    monkeypatch.setattr(_check, "MANY", 8)
    learner, twin = taught(20, "plain"), taught(20, "plain")
    for i in range(20, 30):
        with monkeypatch.context() as patch:
            failing(patch, kernels, "activations", 1 + i % 3, KeyboardInterrupt)
            with contextlib.suppress(KeyboardInterrupt):
                learner.teach(ROWS[i], "abc"[LABELS[i]], id=i)
        if i not in learner:
            learner.teach(ROWS[i], "abc"[LABELS[i]], id=i)
        twin.teach(ROWS[i], "abc"[LABELS[i]], id=i)
    assert model_bits(learner._margin) == model_bits(twin._margin)
    assert np.isfinite(learner._margin.W).all()


def test_an_interrupted_consolidation_leaves_every_bit(monkeypatch):
    rows, labels = stream(4, examples=60)
    learner = Learner()
    learner.teach_many(rows, labels.tolist())

    def bits():
        about, arrays = packed(learner._margin)
        return repr(about), {name: array.tobytes() for name, array in arrays.items()}

    before = bits()
    assert before[1]["images.of"]

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("minout.learner._consolidate.Before", interrupt)
    with pytest.raises(KeyboardInterrupt):
        learner.consolidate()
    assert bits() == before
