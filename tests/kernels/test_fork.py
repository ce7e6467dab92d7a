"""Work in threads after a fork: a child has only its own threads and must not wait for others."""

import contextlib
import os
import threading

import numpy as np
import pytest

from minout import Learner, kernels
from minout.kernels import threads
from oracle.child import in_child

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    # Python 3.12 warns of a fork in a process with threads, which is what is tested here.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]


@contextlib.contextmanager
def held(context):
    """Hold a context in another thread until the block ends."""
    begun, go_on = threading.Event(), threading.Event()

    def hold():
        with context:
            begun.set()
            go_on.wait(30)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert begun.wait(10)
        yield
    finally:
        go_on.set()
        other.join(10)


@contextlib.contextmanager
def repeated(work):
    """Repeat some work in another thread until the block ends."""
    stop = threading.Event()

    def repeat():
        while not stop.is_set():
            work()

    other = threading.Thread(target=repeat)
    other.start()
    try:
        yield
    finally:
        stop.set()
        other.join(60)


def blas_threads():
    libraries = threads._libraries().info()
    return [each["num_threads"] for each in libraries if each["user_api"] == "blas"]


def use_blas():
    with kernels.one_blas_thread():
        return True


def both_at_work():
    """Return whether two pieces run at once: each waits until the other has begun."""
    meeting = threading.Barrier(2)
    return kernels.in_threads(lambda _: meeting.wait(10) >= 0, range(2)) == [True, True]


def test_a_child_divides_work_among_threads_of_its_own():
    assert both_at_work()
    assert in_child(both_at_work, patience=20) == 1


def test_a_child_forked_while_another_thread_works_does_not_wait_for_it():
    begun, go_on = threading.Semaphore(0), threading.Event()

    def piece(_):
        with kernels.one_blas_thread():
            begun.release()
            go_on.wait(30)

    def work():
        kernels.in_threads(piece, range(2))

    other = threading.Thread(target=work)
    other.start()
    try:
        assert begun.acquire(timeout=10)
        assert begun.acquire(timeout=10)
        assert in_child(both_at_work, patience=20) == 1
    finally:
        go_on.set()
        other.join(10)
    assert both_at_work()


def test_a_child_forked_while_a_lock_is_held_gets_a_free_one():
    with held(threads._blas.lock):
        assert in_child(use_blas, patience=20) == 1


def test_a_child_gives_blas_its_threads_back():
    # The thread that limited BLAS in the parent does not exist in the child.
    with threads._libraries().limit(limits=2, user_api="blas"):
        before = blas_threads()
        assert set(before) == {2}
        with held(kernels.one_blas_thread()):
            assert in_child(lambda: use_blas() and blas_threads() == before, patience=20) == 1
        assert blas_threads() == before


def test_a_learner_can_be_taught_in_a_child_while_another_thread_teaches_it():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 300)), rng.integers(0, 3, 100)
    X[np.arange(len(X)), y] += 4.0
    learner = Learner(refresh="manual")
    learner.teach_many(X[:50], y[:50].tolist())

    def teach():
        for i in range(50, 100):
            learner.teach(X[i], int(y[i]), id=f"row {i}")
        learner.forget([f"row {i}" for i in range(50, 100)])

    def work():
        before = len(learner)
        learner.teach(X[0] + 1.0, int(y[0]), id="in the child")
        return len(learner) == before + 1 and learner.audit().ok

    with repeated(teach):
        for _ in range(5):
            assert in_child(work, patience=30) == 1
    assert learner.audit().ok
