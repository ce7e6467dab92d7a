"""Interruptions of compiled code: they come out as what they are, and no kernel hides one.

MINOUT_TEST_INTERRUPTS says how many are sent; as a search, try some thousands.
"""

import faulthandler
import gc
import importlib
import os
import pkgutil
import random
import signal
import threading
import time
import typing
from collections import Counter

import numpy as np
import pytest
from numba import njit

from minout import Learner, MinoutClassifier, kernels
from minout.kernels import Rows, restoring_interrupts

INTERRUPTS = int(os.environ.get("MINOUT_TEST_INTERRUPTS", "60"))
NUMBERS = {None, type(None), bool, int, float}

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
compiled_only = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="is about compiled code"
)


class FromHandlerError(Exception):
    pass


def outcomes(call, *, times, longest, error=KeyboardInterrupt, kept=None):
    """Count the errors that come out of a call which is interrupted at random moments.

    "dropped" counts interruptions that were raised and did not come out. The timer repeats after a
    second, because Python 3.11 sometimes overlooks a signal until the next one arrives.
    """
    raised = 0

    def interrupt(*_):
        nonlocal raised
        raised += 1
        raise error

    rng, counted = random.Random(0), Counter()
    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # Python drops what is raised in its callbacks, such as that of hypothesis
    faulthandler.dump_traceback_later(60 + times, exit=True)
    try:
        for came in range(times):
            try:
                end = time.monotonic() + 5 + longest
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.00002, longest), 1.0 + longest)
                while time.monotonic() < end:
                    call()
                counted["none"] += 1
            except BaseException as error_that_came:
                signal.setitimer(signal.ITIMER_REAL, 0)
                counted[type(error_that_came).__name__] += 1
                if kept is not None:
                    kept.append(error_that_came)
            if raised > came + 1:
                counted["dropped"] += raised - came - 1
                raised = came + 1
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    return counted


def public_kernels():
    for module in pkgutil.iter_modules(kernels.__path__, "minout.kernels."):
        for name, each in vars(importlib.import_module(module.name)).items():
            is_kernel = hasattr(each, "py_func") and each.py_func.__module__ == module.name
            if is_kernel and not name.startswith("_"):
                yield f"{module.name}.{name}", each.py_func


@compiled_only
def test_kernels_that_python_calls_return_numbers_only():
    # Numba runs Python code to return an array, and an interruption there is lost or worse.
    found = dict(public_kernels())
    assert len(found) > 20
    wrong = []
    for name, kernel in found.items():
        returned = typing.get_type_hints(kernel)["return"]
        parts = typing.get_args(returned) if typing.get_origin(returned) is tuple else [returned]
        if not set(parts) <= NUMBERS:
            wrong.append(name)
    assert wrong == []


def cases():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((6, 3_000))
    columns, targets = np.arange(3_000), rng.random(3_000) < 0.5
    words = rng.integers(0, 2**63, 300).astype(np.uint64)
    table, d = rng.standard_normal((300, 12)), 12
    rows = Rows(table, np.arange(300), np.zeros(d), np.sign(table[:, 0] + 0.1), np.ones(300))

    def primal():
        sums = kernels.no_sums(300, d + 1)
        kernels.newton_primal(rows, np.eye(d + 1), 0.1, np.zeros(d + 1), sums)

    return {
        "least_of": lambda: kernels.least_of(a, columns),
        "gradient_step": lambda: kernels.gradient_step(a, columns[:-1], targets, 0.5, 0.1),
        "clipped": lambda: kernels.clipped(a, np.arange(6), 0.0, 3_000),
        "bits": lambda: kernels.bits(words, words),
        "newton_primal": primal,
    }


@needs_timer
@compiled_only
@pytest.mark.parametrize("name", ["least_of", "gradient_step", "clipped", "bits", "newton_primal"])
def test_an_interrupted_kernel_raises_the_interruption(name):
    call = cases()[name]
    call()  # compiles
    counted = outcomes(call, times=10 * INTERRUPTS, longest=0.001)
    assert counted == {"KeyboardInterrupt": 10 * INTERRUPTS}


@needs_timer
@compiled_only
@pytest.mark.parametrize("error", [KeyboardInterrupt, FromHandlerError], ids=["ctrl-c", "own"])
@pytest.mark.parametrize("way", ["decorator", "block"])
def test_what_numba_makes_a_system_error_is_raised_as_what_it_was(error, way):
    @njit(nogil=True)
    def returns_an_array(a):
        total = 0.0
        for i in range(20_000):
            total += 1.0 / (i + 1)
        return total, a

    def in_block():
        with restoring_interrupts():
            returns_an_array(a)

    a = np.ones(3)
    returns_an_array(a)
    call = in_block if way == "block" else restoring_interrupts()(lambda: returns_an_array(a))
    counted = outcomes(call, times=5 * INTERRUPTS, longest=0.0005, error=error)
    assert counted == {error.__name__: 5 * INTERRUPTS}


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 2_000)), rng.integers(0, 4, 300)
    X[np.arange(300), y] += 4.0
    learner = Learner()
    learner.teach_many(X[:120], y[:120].tolist())
    return X, y, learner


@needs_timer
@compiled_only
@pytest.mark.parametrize("method", ["teach", "consolidate", "fit"])
def test_an_interrupted_learner_raises_the_interruption(method, wide):
    X, y, learner = wide
    following = iter(range(10**9))
    narrow = (X[:, :5].copy(), y)  # more rows than columns: the kernel for large pools

    @restoring_interrupts()
    def call():
        if method == "teach":
            i = next(following)
            learner.teach(X[120 + i % 180], int(y[120 + i % 180]))
            if len(learner) > 200:
                learner.forget(learner.ids[120:])
        elif method == "consolidate":
            learner.consolidate()
        else:
            MinoutClassifier().fit(*narrow)

    for _ in range(100 if method == "teach" else 1):
        call()  # loads every kernel: llvmlite drops an interruption meanwhile
    counted = outcomes(call, times=INTERRUPTS, longest=0.02)
    assert counted == {"KeyboardInterrupt": INTERRUPTS}


def run(function, way):
    if way == "decorator":
        return restoring_interrupts()(function)()
    with restoring_interrupts():
        return function()


@pytest.fixture(params=["decorator", "block"])
def way(request):
    return request.param


def test_a_result_comes_through(way):
    assert run(lambda: 7, way) == 7


def test_an_ordinary_error_comes_through(way):
    def fail():
        try:
            raise KeyError("a")
        except KeyError as error:
            raise ValueError("b") from error

    with pytest.raises(ValueError, match=r"^b$") as caught:
        run(fail, way)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit], ids=["ctrl-c", "exit"])
def test_an_interruption_deep_in_the_chain_is_raised(interruption, way):
    original = interruption()

    def fail():
        try:
            try:
                raise original
            finally:
                raise ValueError("clean-up")
        except ValueError as error:
            raise RuntimeError("wrapped") from error

    with pytest.raises(interruption) as caught:
        run(fail, way)
    assert caught.value is original


def test_an_interruption_that_was_handled_before_is_not_raised_again(way):
    def refuse():
        raise ValueError("bad row")

    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(ValueError, match="bad row"):
            run(refuse, way)


def test_an_interruption_hidden_on_purpose_stays_hidden(way):
    def stop():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ValueError("stopped") from None

    with pytest.raises(ValueError, match="stopped"):
        run(stop, way)


def test_a_system_error_without_a_cause_comes_through(way):
    def fail():
        raise SystemError("bad call")

    with pytest.raises(SystemError, match="bad call"):
        run(fail, way)


def test_an_error_chain_that_goes_in_circles_ends(way):
    def fail():
        first, second = ValueError("first"), KeyError("second")
        first.__context__, second.__cause__ = second, first
        raise first

    with pytest.raises(ValueError, match="first"):
        run(fail, way)


def test_blocks_may_be_nested(way):
    def fail():
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("clean-up")

    with pytest.raises(KeyboardInterrupt):
        run(lambda: run(fail, way), way)


@needs_timer
@compiled_only
def test_interrupted_reads_leave_the_learner_usable():
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    kept = []
    counted = outcomes(lambda: len(learner), times=3_000, longest=0.0001, kept=kept)
    assert counted == {"KeyboardInterrupt": 3_000} == Counter(type(e).__name__ for e in kept)
    other = threading.Thread(target=learner.teach, args=([2.0], "b"), daemon=True)
    other.start()
    other.join(20)
    assert len(learner) == 3
