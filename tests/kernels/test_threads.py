"""Work in threads: the answers of a plain loop, and nothing left running after an error."""

import threading
import time

import pytest

from minout import kernels


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


def test_an_interruption_while_work_is_handed_out_leaves_nobody_at_work(monkeypatch):
    from minout.kernels import threads

    begun, ended = [], []

    def work(item):
        begun.append(item)
        time.sleep(0.02)
        ended.append(item)

    pool = threads._workers()
    real = pool.submit

    def submit(do, number, item):
        real(do, number, item)
        if number == 3:
            raise KeyboardInterrupt  # the work is under way, but nobody was told

    monkeypatch.setattr(pool, "submit", submit)
    with pytest.raises(KeyboardInterrupt):
        kernels.in_threads(work, range(8))
    told = list(begun)
    assert sorted(told) == sorted(ended)
    time.sleep(0.1)
    assert begun == told
