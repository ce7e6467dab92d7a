"""Threads that share a learner see whole states, and take turns to change it."""

import copy
import pickle
import threading

import numpy as np
import pytest

from minout import Learner
from minout.learner._turns import Turns


def together(*functions):
    """Runs functions in threads of their own and raises what one of them raised."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(each,), daemon=True) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    for error in errors:
        raise error


def test_who_looks_while_another_teaches_sees_whole_states():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(12, 6)) * 4
    learner = Learner()
    learner.teach(centres[0], 0)
    done = threading.Event()

    def teach():
        try:
            for i in range(160):
                y = min(i // 12, 11)
                learner.teach(centres[y] + rng.normal(size=6), y, id=f"row {i}")
                if i % 50 == 49:
                    learner.consolidate()
                    learner.forget(f"row {i}")
        finally:
            done.set()

    def look():
        while not done.is_set():
            with learner.looking():
                classes, scores = learner.classes, learner.scores(centres)
            assert scores.shape == (12, len(classes))
            assert np.isfinite(scores).all() or len(classes) == 1
            shares = learner.probabilities(centres)
            assert shares.sum(axis=1) == pytest.approx(1.0)
            assert set(learner.predict(centres).tolist()) <= set(range(12))
            assert learner.explain(centres[3]).label in range(12)

    def audit():
        while not done.is_set():
            found = learner.audit()
            assert found.ok, found.complaints

    together(teach, look, look, audit)


def test_two_who_teach_take_turns():
    learner = Learner()

    def teach(name):
        rng = np.random.default_rng(len(name))
        for i in range(150):
            learner.teach(rng.normal(size=4) + 3 * (i % 3), i % 3, id=f"{name} {i}")

    together(lambda: teach("a"), lambda: teach("bb"))
    assert len(learner) == 300
    assert learner.audit().ok


def test_lookers_come_in_while_a_change_is_prepared_but_not_while_it_is_made():
    turns, seen = Turns(), []
    with turns.preparing():
        together(lambda: look(turns, seen))
        assert seen == ["in"]
    with turns.changing():
        thread = threading.Thread(target=lambda: look(turns, seen), daemon=True)
        thread.start()
        thread.join(0.05)
        assert seen == ["in"]
    thread.join(10)
    assert seen == ["in", "in"]


def look(turns, seen):
    with turns.looking(), turns.looking():
        seen.append("in")


def test_who_waits_to_change_goes_before_later_lookers():
    turns, order = Turns(), []
    inside, leave = threading.Event(), threading.Event()

    def first():
        with turns.looking():
            inside.set()
            leave.wait(10)
            order.append("first")

    def change():
        with turns.changing():
            order.append("change")

    def late():
        with turns.looking():
            order.append("late")

    threads = [threading.Thread(target=each, daemon=True) for each in (first, change, late)]
    threads[0].start()
    inside.wait(10)
    threads[1].start()
    while turns._changer is None:
        pass
    threads[2].start()
    leave.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first", "change", "late"]


def test_copies_have_turns_of_their_own():
    learner = Learner()
    learner.teach([1.0], 0)
    with learner._turns.changing():
        copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    for each in copies:
        together(lambda each=each: each.teach([2.0], 1))
        assert len(each) == 2
    assert len(learner) == 1
