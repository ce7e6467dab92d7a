"""Work in threads after a fork: a child has only its own threads and must not wait for others."""

import multiprocessing
import os
import threading
import warnings

import joblib
import numba
import numpy as np
import pytest

from minout import MinoutClassifier, kernels
from minout.kernels import threads
from oracle.child import PATIENCE, in_child

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    # Python 3.12 warns of a fork in a process with threads, which is what is tested here.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]


def squares():
    return kernels.in_threads(lambda item: item * item, range(5)) == [0, 1, 4, 9, 16]


def divided_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 300))
    y = rng.integers(0, 3, len(X))
    X[np.arange(len(X)), y] += 4.0
    return X, y


def fit_and_score(_=None):
    X, y = divided_data()
    return float(MinoutClassifier().fit(X, y).score(X, y))


def both_at_work():
    """Return whether two pieces run at once: each waits until the other has begun."""
    meeting = threading.Barrier(2)
    return kernels.in_threads(lambda _: meeting.wait(10) >= 0, range(2)) == [True, True]


def test_a_child_divides_work_among_threads_of_its_own():
    assert both_at_work()
    assert in_child(both_at_work, patience=20) == 1


def test_a_grandchild_divides_work_too():
    assert both_at_work()
    assert in_child(lambda: in_child(both_at_work, patience=20) == 1, patience=25) == 1
    assert both_at_work()


def test_a_child_of_multiprocessing_divides_work():
    assert both_at_work()
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.apply_async(both_at_work).get(timeout=20)


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
    def use():
        with kernels.one_blas_thread():
            return True

    locked, go_on = threading.Event(), threading.Event()

    def hold():
        with threads._blas.lock:
            locked.set()
            go_on.wait(30)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert locked.wait(10)
        assert in_child(use, patience=20) == 1
    finally:
        go_on.set()
        other.join(10)


def test_a_child_gives_blas_its_threads_back():
    # The thread that limited BLAS in the parent does not exist in the child.
    def counts():
        libraries = threads._libraries().info()
        return [each["num_threads"] for each in libraries if each["user_api"] == "blas"]

    limited, go_on = threading.Event(), threading.Event()

    def hold():
        with kernels.one_blas_thread():
            limited.set()
            go_on.wait(30)

    def use():
        with kernels.one_blas_thread():
            pass
        return counts() == before

    other = threading.Thread(target=hold)
    with threads._libraries().limit(limits=2, user_api="blas"):
        before = counts()
        assert set(before) == {2}
        other.start()
        try:
            assert limited.wait(10)
            assert in_child(use, patience=20) == 1
        finally:
            go_on.set()
            other.join(10)
        assert counts() == before


def test_a_fork_inside_one_blas_thread_keeps_the_limit_in_the_child():
    def counts():
        libraries = threads._libraries().info()
        return [each["num_threads"] for each in libraries if each["user_api"] == "blas"]

    def use():
        with kernels.one_blas_thread():
            pass
        return set(counts()) == {1}

    with kernels.one_blas_thread():
        assert in_child(use, patience=20) == 1


compiled_only = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes minutes uncompiled"
)


@compiled_only
def test_a_child_forked_while_another_thread_compiles_can_compile():
    stop = threading.Event()

    def compile_one():
        return numba.njit(lambda x: x + 1)(1) == 2

    def compile_many():
        while not stop.is_set():
            compile_one()

    other = threading.Thread(target=compile_many)
    other.start()
    try:
        for _ in range(5):
            assert in_child(compile_one, patience=20) == 1
    finally:
        stop.set()
        other.join(20)
    assert compile_one()


@compiled_only
def test_a_classifier_can_be_taught_in_a_child_while_another_thread_teaches_it():
    X, y = divided_data()
    classifier = MinoutClassifier(refresh="manual").partial_fit(X[:50], y[:50])
    stop = threading.Event()

    def teach():
        while not stop.is_set():
            for i in range(50, 300):
                classifier.partial_fit(X[i : i + 1], y[i : i + 1], ids=[f"row {i}"])
            classifier.forget([f"row {i}" for i in range(50, 300)])

    def work():
        before = len(classifier.all_ids_)
        classifier.partial_fit(X[:1] + 1.0, y[:1], ids=["in the child"])
        return len(classifier.all_ids_) == before + 1 and classifier.audit().ok

    other = threading.Thread(target=teach)
    other.start()
    try:
        for _ in range(10):
            assert in_child(work, patience=30) == 1
    finally:
        stop.set()
        other.join(60)
    assert classifier.audit().ok


@compiled_only
@pytest.mark.parametrize("way", ["os.fork", "multiprocessing", "joblib"])
def test_a_classifier_can_be_fitted_in_a_child(way):
    expected = fit_and_score()
    assert expected > 0.9
    if way == "os.fork":
        assert in_child(lambda: fit_and_score() == expected) == 1
    elif way == "multiprocessing":
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.map_async(fit_and_score, [0]).get(timeout=PATIENCE) == [expected]
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parallel = joblib.Parallel(n_jobs=2, backend="multiprocessing", timeout=PATIENCE)
            scores = parallel(joblib.delayed(fit_and_score)() for _ in range(2))
        assert scores == [expected, expected]
