"""Interruptions come out of kernels as what they are."""

import faulthandler
import gc
import os
import random
import signal
import time
from collections import Counter

import numpy as np
import pytest

from minout import Learner, kernels
from minout.kernels import Rows
from oracle import calls

INTERRUPTS = 1_000 if os.environ.get("MINOUT_LONG") else 40

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")


def outcomes(call, *, times, longest):
    """Count the errors that come out of a call which is interrupted at random moments.

    "dropped" counts interruptions that were raised and did not come out. The timer repeats after a
    second, because Python 3.11 sometimes overlooks a signal until the next one arrives.
    """
    raised = 0

    def interrupt(*_):
        nonlocal raised
        raised += 1
        raise KeyboardInterrupt

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
            if raised > came + 1:
                counted["dropped"] += raised - came - 1
                raised = came + 1
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    return counted


@needs_timer
def test_an_interrupted_kernel_raises_the_interruption():
    table, d = np.random.default_rng(0).standard_normal((300, 12)), 12
    rows = Rows(table, np.arange(300), np.zeros(d), np.sign(table[:, 0] + 0.1), np.ones(300))

    def call():
        sums = kernels.no_sums(300, d + 1)
        kernels.newton_primal(rows, np.eye(d + 1), 0.1, np.zeros(d + 1), sums, np.empty(300))

    counted = outcomes(call, times=10 * INTERRUPTS, longest=0.001)
    assert counted == {"KeyboardInterrupt": 10 * INTERRUPTS}


@needs_timer
@pytest.mark.parametrize("method", ["teach", "consolidate"])
def test_an_interrupted_learner_raises_the_interruption(method):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 500)), rng.integers(0, 4, 300)
    X[np.arange(300), y] += 4.0
    learner, following = Learner(), iter(range(10**9))
    learner.teach_many(X[:120], y[:120].tolist())

    def call():
        if method == "teach":
            i = next(following)
            learner.teach(X[120 + i % 180], int(y[120 + i % 180]))
            if len(learner) > 200:
                learner.forget(learner.ids[120:])
        else:
            learner.consolidate()

    counted = outcomes(call, times=INTERRUPTS, longest=0.02)
    assert counted == {"KeyboardInterrupt": INTERRUPTS}


def endless(name):
    """Return arguments of a kernel with which it computes for seconds, or for ever."""
    given = calls.fresh(name)
    if name == "train_unit":
        return calls.changed(given, (1,), lambda old: old._replace(max_steps=2**62, stop_loss=-1.0))
    if name == "newton":
        A = np.random.default_rng(0).standard_normal((4000, 50))
        return A @ A.T, np.ones(4000), 1e-3, np.zeros(4000), kernels.empty_factor(4000)
    w, n = np.ones(10_000), 10**6
    return w, 0.0, np.ones((2, 10_000)), np.zeros(n, dtype=np.int64), w, np.zeros(n)


@needs_timer
@pytest.mark.parametrize("name", ["train_unit", "newton", "activations"])
def test_a_kernel_that_takes_long_answers_an_interruption_at_once(name):
    given = endless(name)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    faulthandler.dump_traceback_later(120, exit=True)
    started = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.05)  # of the processor's time
        with pytest.raises(KeyboardInterrupt):
            getattr(kernels, name)(*given)
        assert time.process_time() - started < 0.05 + 0.1
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
