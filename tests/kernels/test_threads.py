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
import weakref

import numpy as np
import pytest

from minout import kernels

INTERRUPTS = int(os.environ.get("MINOUT_TEST_INTERRUPTS", "300"))
"""How many interruptions are sent; with many thousands, the test is a search."""


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_answers_come_in_the_order_of_the_items(count):
    def slow_first(item):
        time.sleep(0.01 if item == 0 else 0.0)
        return item * item

    assert kernels.in_threads(slow_first, range(count)) == [item**2 for item in range(count)]


def test_work_inside_of_work_does_not_wait_for_itself():
    def outer(item):
        return sum(kernels.in_threads(lambda inner: inner * item, range(4)))

    assert kernels.in_threads(outer, range(5)) == [6 * item for item in range(5)]


def test_no_more_than_two_work_at_a_time():
    working, most, lock = 0, 0, threading.Lock()

    def work(_):
        nonlocal working, most
        with lock:
            working += 1
            most = max(most, working)
        time.sleep(0.002)
        with lock:
            working -= 1

    kernels.in_threads(work, range(10))
    assert most <= 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, ArithmeticError])
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


def test_a_loop_can_be_used_again_after_an_error():
    def work(item):
        if item == 1:
            raise ValueError
        return item

    with pytest.raises(ValueError, match=r"^$"):
        kernels.in_threads(work, range(3))
    assert kernels.in_threads(lambda item: -item, range(3)) == [0, -1, -2]


def test_an_interruption_right_after_a_call_for_help_leaves_no_piece_running(monkeypatch):
    from minout.kernels import threads

    begun, ended = [], []

    def work(item):
        begun.append(item)
        time.sleep(0.02)
        ended.append(item)

    pool = threads._process.pool
    real = pool.ask_for_help

    def ask_for_help(work):
        real(work)
        while not begun:
            time.sleep(0.0005)
        raise KeyboardInterrupt  # the helper is at work, but the caller has not been told

    with monkeypatch.context() as patch:
        patch.setattr(pool, "ask_for_help", ask_for_help)
        with pytest.raises(KeyboardInterrupt):
            kernels.in_threads(work, range(8))
    told = list(begun)
    assert sorted(told) == sorted(ended)
    time.sleep(0.1)
    assert begun == told
    assert at_once()


def test_the_first_item_with_an_error_has_its_error_raised():
    second_failed = threading.Event()

    def work(item):
        if item == 0:
            second_failed.wait(5)
            time.sleep(0.01)
        if item == 1:
            second_failed.set()
        raise ValueError(str(item))

    for _ in range(20):
        second_failed.clear()
        with pytest.raises(ValueError, match=r"^0$"):
            kernels.in_threads(work, range(5))


def test_after_an_error_no_piece_is_begun():
    begun = []

    def work(item):
        begun.append(item)
        if item == 0:
            raise ValueError
        time.sleep(0.02)

    for _ in range(10):
        begun.clear()
        with pytest.raises(ValueError, match=r"^$"):
            kernels.in_threads(work, range(50))
        assert len(begun) <= 2


def test_an_interruption_of_the_caller_wins_over_an_error_of_a_piece():
    begun, failed = threading.Event(), threading.Event()
    main = threading.get_ident()

    def work(item):
        if threading.get_ident() == main:
            begun.set()
            failed.wait(5)
            raise KeyboardInterrupt
        begun.wait(5)
        failed.set()
        raise ValueError

    with pytest.raises(KeyboardInterrupt):
        kernels.in_threads(work, range(2))


def test_a_mark_that_an_interruption_left_behind_does_not_lose_the_helper():
    from minout.kernels import threads

    assert at_once()
    work = threads._Work(abs, [1, 2])
    work.stop()
    threads._process.here.work = work
    assert at_once()


def test_several_threads_may_divide_work_at_once():
    results = {}

    def use(number):
        results[number] = [
            kernels.in_threads(lambda item: item + number, range(4)) for _ in range(200)
        ]

    users = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for each in users:
        each.start()
    for each in users:
        each.join(30)
    for number in range(4):
        assert results[number] == [[item + number for item in range(4)]] * 200


def test_results_are_not_kept_after_the_call():
    class Large:
        pass

    results = kernels.in_threads(lambda _: Large(), range(4))
    seen = [weakref.ref(each) for each in results]
    del results
    assert at_once()  # the helper has left the first call when it helps with the second
    assert [each() for each in seen] == [None] * 4


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

    monkeypatch.setattr(threads._process, "pool", threads._Pool())
    monkeypatch.setattr(threads._thread, "start_new_thread", refuse)
    assert kernels.in_threads(lambda item: -item, range(3)) == [0, -1, -2]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError], ids=["ctrl-c", "time-out"])
@kernels.one_blas_thread()
def test_an_interruption_at_any_moment_neither_hangs_nor_leaves_a_piece_running(error):
    rng = random.Random(0)
    main = threading.get_ident()
    helped = interrupted = 0
    running, rows = set(), np.ones((120, 120))

    def interrupt(*_):
        raise error

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
            except error:
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
