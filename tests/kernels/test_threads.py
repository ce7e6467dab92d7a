"""Work in threads: the results of a plain loop, and nothing left running after an error."""

import faulthandler
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from minout import kernels

INTERRUPTS = 10_000 if os.environ.get("MINOUT_LONG") else 200
"""How many interruptions are sent; with many thousands, the test is a search."""


@pytest.mark.parametrize("count", [0, 1, 7])
def test_answers_come_in_the_order_of_the_items(count):
    def slow_first(item):
        time.sleep(0.01 if item == 0 else 0.0)
        return item * item

    assert kernels.in_threads(slow_first, range(count)) == [item**2 for item in range(count)]


def test_work_inside_of_work_does_not_wait_for_itself():
    def outer(item):
        return sum(kernels.in_threads(lambda inner: inner * item, range(4)))

    assert kernels.in_threads(outer, range(5)) == [6 * item for item in range(5)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_comes_out_when_nobody_works_any_more(error):
    running = threading.Semaphore(0)
    finished = []

    def work(item):
        if item == 0:
            running.acquire(timeout=5)  # until the other one is under way
            raise error
        running.release()
        time.sleep(0.05)
        finished.append(item)

    started = time.perf_counter()
    with pytest.raises(error):
        kernels.in_threads(work, [0, 1])
    assert finished == [1]
    assert time.perf_counter() - started < 4


def test_the_helper_does_not_keep_the_interpreter_from_exiting():
    code = (
        "import time\n"
        "from minout import kernels\n"
        "kernels.in_threads(lambda _: time.sleep(0.01), range(4))\n"
        "print('done')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


def test_without_threads_the_caller_does_everything(monkeypatch):
    from minout.kernels import threads

    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_helper", threads._Helper())
    monkeypatch.setattr(threads._thread, "start_new_thread", refuse)
    assert kernels.in_threads(lambda item: -item, range(3)) == [0, -1, -2]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
@kernels.one_blas_thread()
def test_an_interruption_at_any_moment_neither_hangs_nor_leaves_a_piece_running():
    rng = random.Random(0)
    main = threading.get_ident()
    helped = interrupted = 0
    running, rows = set(), np.ones((120, 120))

    def interrupt(*_):
        raise KeyboardInterrupt

    def work(item):
        nonlocal helped
        me = threading.get_ident()
        helped += me != main
        try:
            running.add(me)
            rows @ rows  # without the interpreter's lock, so that the helper gets its share
        finally:
            running.discard(me)
        return item

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # Python drops what is raised in its callbacks, such as that of hypothesis
    faulthandler.dump_traceback_later(120, exit=True)
    try:
        for _ in range(INTERRUPTS):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.00001, 0.003))
                while True:
                    assert kernels.in_threads(work, range(3)) == [0, 1, 2]
            except KeyboardInterrupt:
                interrupted += 1
                assert running - {main} == set()
                running.clear()
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert interrupted == INTERRUPTS
    assert helped > INTERRUPTS
    assert at_once()


def at_once():
    """Return whether two pieces run at the same time: each waits for the other."""
    meeting = threading.Barrier(2)
    return sorted(kernels.in_threads(lambda _: meeting.wait(10), range(2))) == [0, 1]
