"""Threads that share a learner see consistent states, and change it one at a time."""

import copy
import pickle
import threading

import numpy as np
import pytest

from minout import Learner
from minout.readwrite import ReadWriteLock


def together(*functions):
    """Run functions in threads of their own and raise what one of them raised."""
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


def test_readers_see_consistent_states_while_another_thread_teaches():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(12, 6)) * 4
    learner = Learner()
    learner.teach(centres[0], 0)
    done = threading.Event()

    def teach():
        try:
            for i in range(70):
                y = min(i // 6, 11)
                learner.teach(centres[y] + rng.normal(size=6), y, id=f"row {i}")
                if i % 30 == 29:
                    learner.consolidate()
                    learner.forget(f"row {i}")
        finally:
            done.set()

    def read():
        while not done.is_set():
            with learner.reading():
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
            assert found.ok, found.differences

    together(teach, read, read, audit)


def test_two_threads_that_teach_lose_nothing():
    learner = Learner()

    def teach(name):
        rng = np.random.default_rng(len(name))
        for i in range(60):
            learner.teach(rng.normal(size=4) + 3 * (i % 3), i % 3, id=f"{name} {i}")

    together(lambda: teach("a"), lambda: teach("bb"))
    assert len(learner) == 120
    assert learner.audit().ok


def test_readers_come_in_while_a_change_is_prepared_but_not_while_it_is_made():
    lock, seen = ReadWriteLock(), []
    with lock.preparing():
        together(lambda: read(lock, seen))
        assert seen == ["in"]
    thread = threading.Thread(target=lambda: read(lock, seen), daemon=True)

    def change():
        thread.start()
        thread.join(0.05)
        assert seen == ["in"]

    lock.write(change)
    thread.join(10)
    assert seen == ["in", "in"]


def read(lock, seen):
    with lock.reading(), lock.reading():
        seen.append("in")


def test_a_waiting_writer_goes_before_later_readers():
    lock, order = ReadWriteLock(), []
    inside, leave = threading.Event(), threading.Event()

    def first():
        with lock.reading():
            inside.set()
            leave.wait(10)
            order.append("first")

    def write():
        lock.write(lambda: order.append("write"))

    def late():
        with lock.reading():
            order.append("late")

    threads = [threading.Thread(target=each, daemon=True) for each in (first, write, late)]
    threads[0].start()
    inside.wait(10)
    threads[1].start()
    while lock._writer is None:
        pass
    threads[2].start()
    leave.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first", "write", "late"]


def test_copies_have_locks_of_their_own():
    learner = Learner()
    learner.teach([1.0], 0)
    with learner.reading():  # a change of this learner by another thread would wait
        for each in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
            together(lambda each=each: each.teach([2.0], 1))
            assert len(each) == 2
    assert len(learner) == 1
