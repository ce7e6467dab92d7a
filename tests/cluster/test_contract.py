"""What every executor must do: put, submit, get, and the same bits as without one."""

import operator
import time

import numpy as np
import pytest

from minout import InvalidInputError, Learner, MinoutClassifier, kernels
from minout.cluster import Local
from oracle.margin import STRAIGHT, clusters, consolidated_copy, everything, saved
from tests.cluster.conftest import Shuffled

PINNED = STRAIGHT | {"C": 5.0, "whiten": True, "lda_prior": True, "standardize": False}


def taught():
    learner = Learner(**PINNED)
    learner.teach_many(*clusters(4, classes=7, each=12, features=5))
    return learner


def test_tasks_get_what_was_put_and_come_back_with_their_numbers(executor):
    rows = np.arange(60_000.0).reshape(-1, 3)
    with executor().open() as session:
        put = [session.put(rows), session.put({"a": 2})]
        tasks = [session.submit(operator.getitem, put[0], n) for n in range(9)]
        tasks += [session.submit(operator.getitem, put[1], "a")]
        found = dict(session.get(tasks))
    assert found.pop(9) == 2
    assert {n: row.tolist() for n, row in found.items()} == {n: rows[n].tolist() for n in range(9)}


def test_an_error_of_a_task_is_raised_where_it_came_from(executor):
    with executor().open() as session:
        with pytest.raises(IndexError):
            dict(session.get([session.submit(operator.getitem, [1], 2)]))
        assert dict(session.get([session.submit(operator.getitem, [1], 0)])) == {0: 1}


def test_consolidated_by_others_a_learner_has_the_same_bits(executor):
    learner, said = taught(), []
    expected = saved(consolidated_copy(learner))
    done = learner.consolidate(executor(on_progress=lambda *told: said.append(told)))
    assert saved(learner) == expected
    assert done.certificate.checked > 0
    assert said[0][0] == 0.0
    assert said[-1][0] == 1.0
    assert said[-1][1].startswith("round 4: 21 of 21 pairs, ")


def test_fit_takes_an_executor(executor):
    X, y = clusters(4, classes=3, each=12, features=5)
    said, expected = [], MinoutClassifier(**PINNED).fit(X, y)
    others = executor(on_progress=lambda *told: said.append(told))
    found = MinoutClassifier(**PINNED).fit(X, y, executor=others)
    assert len(said) > 4
    assert saved(found.learner_) == saved(expected.learner_)


def test_what_a_worker_cannot_solve_is_the_same_sentence_and_changes_nothing(monkeypatch):
    learner = taught()
    before = everything(learner)
    monkeypatch.setattr(kernels, "settle", lambda *_: None)
    for executor in (None, Shuffled(4, 0)):
        with pytest.raises(InvalidInputError, match="differ too much in size"):
            learner.consolidate(executor)
    assert everything(learner) == before


def test_after_an_error_no_late_result_is_taken_for_another():
    with Local(2).open() as session:
        tasks = [session.submit(time.sleep, 1.0), session.submit(operator.getitem, [1], 2)]
        with pytest.raises(IndexError):
            dict(session.get(tasks))
        more = [session.submit(operator.getitem, [5, 6], n) for n in (0, 1)]
        assert dict(session.get(more)) == {0: 5, 1: 6}


@pytest.mark.parametrize("memory", ["auto", "uint8"])
def test_rows_are_put_once(memory):
    learner, shuffled = Learner(**PINNED, memory=memory), Shuffled(4, 0)
    learner.teach_many(*clusters(4, classes=7, each=12, features=5))
    learner.consolidate(shuffled)
    tables = [each for each in shuffled.puts if np.shape(each) == (84, 5)]
    assert len(tables) == 1
    assert len(shuffled.puts) <= 5  # rows, weights, digests, and twice the images


def test_tasks_run_beside_each_other():
    with Local(4).open() as session:
        dict(session.get([session.submit(time.sleep, 0.01) for _ in range(4)]))  # all have started
        start = time.monotonic()
        dict(session.get([session.submit(time.sleep, 2.0) for _ in range(4)]))
        assert time.monotonic() - start < 7.0


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "two"])
def test_a_bad_number_of_workers_is_one_sentence(workers):
    with pytest.raises(InvalidInputError, match="`workers` must be a whole number from 1, not"):
        Local(workers)
