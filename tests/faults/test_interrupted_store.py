"""Ctrl-C anywhere in a call: the learner and its folder agree, and both can go on."""

import itertools
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import minout
from long import LONG
from minout import Learner, engine, group_commit, model_store
from minout.errors import UnwritableError
from minout.store import Database
from oracle.child import in_child
from oracle.interruptions import interrupt_at_line
from oracle.margin import IN_MEMORY, differs, saved, stream
from oracle.operations import digest, perform, script

HOME = Path(minout.__file__).parent
ROWS, LABELS = stream(3, examples=40, features=2, apart=0.5)
STEP = 1 if LONG else 47
"""Every so many lines are interrupted."""
FILES = (
    "model_store.py",
    "model_changes.py",
    "model_reading.py",
    "store",
    "learner.py",
    "readwrite.py",
)
PINNED = {"C": 1.0, "whiten": True, "lda_prior": True, "standardize": True, "expand": None}
CALLS = {
    "teach": lambda learner: learner.teach(ROWS[20], "abc"[LABELS[20]], id=20, at=20.0),
    "correct": lambda learner: learner.correct(1, "new"),
    "forget": lambda learner: learner.forget([0, 3]),
    "consolidate": lambda learner: learner.consolidate(),
    "flush": lambda learner: learner.flush(),
    "reload": lambda learner: learner.reload(),
}


@pytest.fixture
def in_memory():
    """A folder on a disk that need not be waited for."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        yield Path(folder)


def taught(learner, numbers):
    for i in numbers:
        learner.teach(ROWS[i], "abc"[LABELS[i]], id=int(i), at=float(i))
    return learner


def interrupted(number, home, call):
    """Make a call that is interrupted at that line; return whether it was."""
    tracing = sys.gettrace()
    sys.settrace(interrupt_at_line(number, str(home), also_at_with=False))
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(tracing)
    return False


def go_on(learner, beside):
    """Teach with another learner of the same folder, and go on with the first."""
    beside.teach([5.0, 5.0], "a", id="beside", at=60.0)
    learner.teach([0.5, 0.5], "a", id="on", at=50.0)


@pytest.mark.parametrize("durability", ["example", "batch"])
@pytest.mark.parametrize("call", CALLS)
def test_interrupted_at_any_line_of_the_store_a_call_was_made_or_not(
    in_memory, call, durability, monkeypatch
):
    monkeypatch.setattr(group_commit, "INTERVAL", 0.002)
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 0.005)
    twins = [taught(Learner(**PINNED), range(9)) for _ in range(2)]
    CALLS[call](twins[1])
    states = [saved(each) for each in twins]
    for each in twins:
        go_on(each, each)
    ends = [saved(each) for each in twins]
    taught(Learner.open(in_memory / "first", **PINNED), range(9)).close()
    found, problems = [], []
    for home in [HOME / each for each in FILES]:
        for number in itertools.count(1, STEP):
            folder = in_memory / f"{home.name}-{number}"
            shutil.copytree(in_memory / "first", folder)
            learner, beside = (Learner.open(folder, durability=durability) for _ in range(2))
            is_over = not interrupted(number, home, lambda each=learner: CALLS[call](each))
            now = saved(learner)
            if now not in states:
                problems.append((home.name, number, "torn"))
            else:
                made = states.index(now) if states[0] != states[1] else 1
                found.append(made)
                go_on(learner, beside)
                learner.close()
                again = Learner.open(folder, read_only=True)
                wrong = [*differs(saved(learner), ends[made]), *differs(saved(again), ends[made])]
                problems += [(home.name, number, wrong)] if wrong else []
            beside.close()
            if is_over:
                break
    assert problems == []
    assert len(found) > 6


def test_a_commit_that_was_interrupted_when_it_was_done_is_not_taken_for_lost(tmp_path):
    twin, learner = Learner(), Learner.open(tmp_path, durability="example")
    beside, real = Learner.open(tmp_path, durability="example"), Database.settle
    taught(learner, range(9))
    with pytest.MonkeyPatch.context() as patch:

        def interrupt(database):
            if database._unconfirmed is not None and not database._connection.in_transaction:
                patch.setattr(Database, "settle", real)
                raise KeyboardInterrupt

        patch.setattr(Database, "settle", interrupt)
        with pytest.raises(KeyboardInterrupt):
            taught(learner, [9])
    go_on(learner, beside)
    go_on(taught(twin, range(10)), twin)
    assert differs(saved(learner), saved(twin)) == []
    actions = [entry.action for entry in learner._store.database.log()]
    assert len(actions) <= 12  # nothing is written twice


@pytest.mark.parametrize("durability", ["example", "batch"])
def test_a_change_that_was_interrupted_while_it_was_applied_is_committed(tmp_path, durability):
    twin, learner = Learner(), Learner.open(tmp_path, durability=durability)
    beside, real = Learner.open(tmp_path, durability="example"), engine.apply
    taught(learner, range(9))
    with pytest.MonkeyPatch.context() as patch:

        def interrupt(*_):
            patch.setattr(engine, "apply", real)
            raise KeyboardInterrupt

        patch.setattr(engine, "apply", interrupt)
        with pytest.raises(KeyboardInterrupt):
            taught(learner, [9])
    go_on(learner, beside)
    go_on(taught(twin, range(10)), twin)
    learner.close()
    assert differs(saved(learner), saved(twin)) == []
    assert differs(saved(Learner.open(tmp_path, read_only=True)), saved(twin)) == []


def test_a_reader_that_is_interrupted_catches_up(tmp_path):
    writer = taught(Learner.open(tmp_path, durability="example"), range(5))
    reader, number, was_interrupted = Learner.open(tmp_path, read_only=True), 0, 0
    for number in range(1, 400, 9):
        writer.teach(ROWS[5 + number % 30], "d", id=f"n{number}", at=1.0)
        was_interrupted += interrupted(number, HOME, reader.reload)
        reader.reload()
        assert differs(saved(reader), saved(writer)) == [], number
    assert was_interrupted > 10


@pytest.mark.parametrize("durability", ["example", "batch"])
def test_with_real_signals_the_same_process_goes_on(tmp_path, durability):
    calls = script(11, 60, many=False)

    def work():
        rng, folder = random.Random(5), tmp_path / "model"
        learner, done, count = Learner.open(folder, durability=durability), 0, 0
        stop, me = threading.Event(), os.getpid()

        def interrupt():
            while not stop.wait(rng.random() * 0.02):
                os.kill(me, signal.SIGINT)

        is_armed = False

        def raise_once(*_):
            nonlocal is_armed
            if is_armed:  # so that it does not interrupt the test itself
                is_armed = False
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, raise_once)
        thread = threading.Thread(target=interrupt)
        thread.start()
        while done < len(calls.operations):
            try:
                is_armed = rng.random() < 0.6  # a long call must end some time
                perform(learner, calls.operations[done])
                is_armed = False
                done += 1
            except KeyboardInterrupt:
                count += 1
                now = digest(learner)
                if now == calls.digests[done + 1]:
                    done += 1
                elif now != calls.digests[done]:
                    return 3
        stop.set()
        thread.join()
        if digest(learner) != calls.digests[-1]:
            return 4
        learner.close()
        return 0 if count else 5

    assert in_child(work, patience=100.0) == 0
    with Learner.open(tmp_path / "model", read_only=True) as found:
        assert digest(found) == calls.digests[-1]
        assert found.audit().ok


@pytest.fixture
def holder(tmp_path):
    """A connection that has the turn and does not end it."""
    taught(Learner.open(tmp_path), range(3)).close()
    connection = sqlite3.connect(tmp_path / "model.sqlite", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_a_call_that_waits_for_its_turn_can_be_interrupted(tmp_path, holder):
    learner = Learner.open(tmp_path, durability="example")
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        taught(learner, [5])
    timer.join()
    holder.execute("ROLLBACK")
    assert taught(learner, [7]).ids == [0, 1, 2, 7]


def test_a_turn_that_does_not_end_is_reported(tmp_path, holder, monkeypatch):
    learner = Learner.open(tmp_path, durability="example")
    monkeypatch.setattr("minout.store.database.WAIT", 0.1)
    with pytest.raises(UnwritableError, match="has been changing"):
        taught(learner, [5])
    holder.execute("ROLLBACK")
    assert taught(learner, [5]).ids == [0, 1, 2, 5]
