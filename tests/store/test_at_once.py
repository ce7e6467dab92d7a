"""Threads and processes change one file at once: the result is the union of what they did.

    MINOUT_SECONDS=600 pytest tests/store/test_at_once.py

lets two writers and four readers work for ten minutes.
"""

import multiprocessing
import threading
import time

import numpy as np
import pytest

from long import how_many
from minout import Learner, store
from store.models import PINNED, differing, rows_and_labels

SECONDS = how_many("MINOUT_SECONDS", 3, 120)
FORK = multiprocessing.get_context("fork")
ROWS, LABELS = rows_and_labels(1, 2_000)


def in_processes(*targets):
    """Run functions in processes of their own; each must end well."""
    workers = [FORK.Process(target=target, args=arguments) for target, *arguments in targets]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert [each.exitcode for each in workers] == [0] * len(workers)


def teach_in_threads(path, name):
    learner = Learner.open(path)

    def teach(first):
        for number in range(first, 40, 2):
            learner.teach(ROWS[number], LABELS[number], id=f"{name}{number}")

    threads = [threading.Thread(target=teach, args=(first,)) for first in (0, 1)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {f"{name}{number}" for number in range(40)} <= set(learner.ids)
    learner.close()


def open_and_teach(path, name, ready):
    ready.wait()
    with Learner.open(path, **PINNED) as learner:
        learner.teach(ROWS[0], LABELS[0], id=name)


def test_two_processes_that_make_a_file_at_once_both_teach_it(tmp_path):
    Learner(**PINNED).teach(ROWS[0], LABELS[0])
    for number in range(20):
        ready = FORK.Barrier(2)
        in_processes(*((open_and_teach, tmp_path / f"m{number}", name, ready) for name in "ab"))
        assert sorted(Learner.load(tmp_path / f"m{number}").ids) == ["a", "b"]


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_two_threads_of_two_processes_teach_the_union(tmp_path, durability):
    file = tmp_path / "m"
    Learner(**PINNED).teach_many(ROWS[:80], LABELS[:80])
    Learner.open(file, durability=durability, **PINNED).close()
    in_processes((teach_in_threads, file, "a"), (teach_in_threads, file, "b"))
    learner = Learner.load(file)
    assert sorted(learner.ids) == sorted(f"{name}{n}" for name in "ab" for n in range(40))
    expected = Learner(**PINNED)
    expected.teach_many(ROWS[:40], LABELS[:40], ids=[f"a{n}" for n in range(40)])
    expected.teach_many(ROWS[:40], LABELS[:40], ids=[f"b{n}" for n in range(40)])
    for each in (learner, expected):
        each.consolidate()
    assert learner.scores(ROWS[:50]).tobytes() == expected.scores(ROWS[:50]).tobytes()
    assert store.audit(file).ok


def write(path, name, seconds):
    """Change a file at random until the time is up, and check that nothing of it is lost."""
    rng, learner, mine = np.random.default_rng(ord(name)), Learner.open(path), {}
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        row, label = ROWS[number % len(ROWS)], LABELS[number % len(ROWS)]
        draw = rng.random()
        if draw < 0.6 or len(mine) < 3:
            learner.teach(row, label, id=f"{name}{number}")
            mine[f"{name}{number}"] = label
        elif draw < 0.75:
            one = [*mine][int(rng.integers(len(mine)))]
            mine[one] = "c0" if mine[one] != "c0" else "c1"
            learner.correct(one, mine[one])
        elif draw < 0.95:
            one = [*mine][int(rng.integers(len(mine)))]
            del mine[one]
            learner.forget(one)
        else:
            learner.consolidate()
    learner.reload()
    found = {each for each in learner.ids if each.startswith(name)}
    assert found == set(mine)
    assert {each: learner.example(each)[1] for each in mine} == mine
    assert number > 10
    learner.close()


def read(path, seconds):
    """Read a file again and again; every state is right."""
    reader, end, news = Learner.open(path, read_only=True), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        news += reader.reload()
        if len(reader):
            assert reader.audit().ok
            reader.predict(ROWS[:5])
    assert news


def test_two_writers_and_four_readers_lose_nothing(tmp_path):
    file = tmp_path / "m"
    Learner(**PINNED).teach_many(ROWS[:80], LABELS[:80])
    with Learner.open(file, **PINNED) as learner:
        learner.teach_many(ROWS[:20], LABELS[:20])
        learner.consolidate()
        learner.forget(learner.ids)
    writers = [(write, file, name, SECONDS) for name in "ab"]
    in_processes(*writers, *[(read, file, SECONDS)] * 4)
    assert store.audit(file).ok
    learner = Learner.open(file)
    assert differing(Learner.load(file), learner) == []
