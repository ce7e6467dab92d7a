"""Whatever statement fails, a call has happened or not, and a later one succeeds."""

import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

from faults.failing_writes import ERRORS, failing_disk
from long import LONG
from minout import Learner, model_store
from minout.errors import MinoutError, UnwritableError
from oracle.child import in_child
from oracle.margin import differs, saved, stream

ROWS, LABELS = stream(3, examples=40, features=3, apart=0.5)
MOST = 60


def teach(learner, numbers, *, wide=False):
    for i in numbers:
        row = [*ROWS[i], *range(500)] if wide else ROWS[i]
        learner.teach(row, "abc"[LABELS[i]], id=int(i), at=float(i))


@pytest.fixture
def disk():
    with failing_disk() as failing:
        yield failing


def same(one, other):
    return differs(saved(one), saved(other)) == []


CALLS = {
    "teach": lambda learner: teach(learner, [20]),
    "a new class": lambda learner: learner.teach([9.0, 9.0, 9.0], "d", id="new", at=50.0),
    "teach_many": lambda learner: learner.teach_many(ROWS[20:24], [*"abca"], at=1.0),
    "correct": lambda learner: learner.correct(3, "d"),
    "forget": lambda learner: learner.forget([1, 2]),
    "forget_class": lambda learner: learner.forget_class("a"),
    "set_keep": lambda learner: learner.set_keep(10),
    "settle": lambda learner: learner.settle(),
    "consolidate": lambda learner: learner.consolidate(),
}


@pytest.mark.parametrize("call", CALLS if LONG else ("teach", "correct", "forget_class"))
def test_a_statement_that_fails_leaves_the_state_before_the_call(tmp_path, disk, call):
    ram, learner = Learner(), Learner.open(tmp_path, durability="example")
    for each in (ram, learner):
        teach(each, range(14))
        each.notes["of"] = call
    learner.flush()
    names, failed, before, said = itertools.cycle(ERRORS), 0, saved(learner), set()
    for k in range(1, MOST):
        disk.fail_at(k, next(names))
        try:
            CALLS[call](learner)
        except UnwritableError as error:
            said.add(str(error))
        else:
            if not disk.has_failed:
                break
        assert disk.has_failed
        disk.fail_at(None)
        failed += 1
        assert saved(learner) == before, k
        assert saved(Learner.open(tmp_path, read_only=True)) == before, k
    disk.fail_at(None)
    assert failed >= (4 if call != "settle" else 2)
    assert said == {f"{tmp_path} could not be written: {each}." for each in ERRORS.values()}
    CALLS[call](ram)
    assert same(ram, learner)
    for each in (ram, learner):
        teach(each, range(30, 34))
    learner.close()
    assert same(ram, Learner.open(tmp_path, read_only=True))


def test_the_first_example_can_fail_and_be_taught_again(tmp_path, disk):
    ram, learner = Learner(keep=5), Learner.open(tmp_path, durability="example", keep=5)
    learner.notes["a"] = 1
    for k in range(1, MOST):
        disk.fail_at(k)
        try:
            teach(learner, [0])
        except UnwritableError:
            assert len(learner) == 0
            assert learner.notes == {"a": 1}
            assert len(Learner.open(tmp_path, read_only=True)) == 0
        else:
            break
    disk.fail_at(None)
    ram.notes["a"] = 1
    teach(ram, [0])
    assert k > 5
    learner.close()
    assert same(ram, Learner.open(tmp_path, read_only=True))


def test_opening_can_fail_at_any_statement_and_succeed_later(tmp_path, disk):
    for k in range(1, MOST):
        disk.fail_at(k)
        try:
            learner = Learner.open(tmp_path / "model")
        except MinoutError:
            continue
        break
    disk.fail_at(None)
    assert k > 12
    teach(learner, range(3))
    learner.close()
    assert Learner.open(tmp_path / "model", read_only=True).ids == [0, 1, 2]


@pytest.mark.parametrize("name", ERRORS if LONG else ["SQLITE_FULL"])
def test_a_group_commit_that_fails_loses_nothing(tmp_path, disk, name, monkeypatch):
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 600.0)
    ram, learner = Learner(), Learner.open(tmp_path, durability="batch")
    number, failed = iter(range(1, 40)), 0
    for k in range(1, MOST):
        some = list(itertools.islice(number, 2))
        for each in (ram, learner):
            teach(each, some)
            each.notes["k"] = k
        if k == 9:
            ram.consolidate()
            learner.consolidate()
        now = saved(learner)
        disk.fail_at(k, name)
        try:
            learner.flush()
        except UnwritableError as error:
            assert ERRORS[name] in str(error)  # noqa: PT017
            failed += 1
        if not disk.has_failed:
            break
        disk.fail_at(None)
        assert saved(learner) == now
        learner.flush()
        assert saved(learner) == now == saved(Learner.open(tmp_path, read_only=True))
    assert failed >= 5
    disk.fail_at(None)
    learner.close()
    assert same(ram, Learner.open(tmp_path, read_only=True))


def test_the_failure_of_a_commit_in_the_background_is_reported_by_the_next_call(tmp_path, disk):
    learner = Learner.open(tmp_path, durability="batch")
    teach(learner, range(3))
    learner.flush()
    teach(learner, range(3, 6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_store, "BATCH_SECONDS", -1.0)
        disk.fail_at(1)
        teach(learner, [6])  # the commit at its end fails
        patch.setattr(model_store, "BATCH_SECONDS", 600.0)
        assert disk.has_failed
        disk.fail_at(1)
        with pytest.raises(UnwritableError, match="disk is full"):
            teach(learner, [7])
    disk.fail_at(None)
    assert learner.ids == [*range(7)]
    teach(learner, [7])
    learner.close()
    assert Learner.open(tmp_path, read_only=True).ids == [*range(8)]


def test_changes_that_could_not_be_written_do_not_mix_with_those_of_another(tmp_path, disk):
    first = Learner.open(tmp_path, durability="batch")
    teach(first, range(10))
    first.flush()
    second = Learner.open(tmp_path, durability="example")
    for action in (lambda: teach(first, [30]), first.flush, first.reload):
        teach(first, [20])
        first.correct(1, "b" if first.example(1)[1] == "a" else "a")
        first._store.database._connection.rollback()  # SQLite may give up a transaction
        second.forget(second.ids[-1])
        with pytest.raises(UnwritableError, match="another process has changed the model since"):
            action()
        first.reload()
        assert same(first, second)
        teach(first, [25])
        first.forget(25)
        first.flush()
        second.reload()
        assert same(first, second)


def test_a_file_that_may_not_grow_is_reported(tmp_path):
    def work():
        learner = Learner.open(tmp_path, durability="example")
        teach(learner, range(3), wide=True)
        size = max(each.stat().st_size for each in tmp_path.iterdir())
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5_000, resource.RLIM_INFINITY))
        refused, before = 0, saved_ids(learner)
        for i in range(3, 40):
            try:
                teach(learner, [i], wide=True)
            except UnwritableError:
                refused += 1
                break
            before = saved_ids(learner)
        ok = refused == 1 and saved_ids(learner) == before
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        teach(learner, [39], wide=True)
        learner.close()
        return 0 if ok else 3

    def saved_ids(learner):
        return learner.ids

    assert in_child(work) == 0
    found = Learner.open(tmp_path, read_only=True)
    assert found.audit().ok
    assert 39 in found


def test_a_folder_that_may_not_be_written_to_can_be_read(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    folder = tmp_path / "model"
    with Learner.open(folder) as learner:
        teach(learner, range(5))
    for each in (tmp_path, *tmp_path.parents):
        if each.stat().st_uid == 0 and not each.stat().st_mode & 0o001 and each != each.parent:
            each.chmod(each.stat().st_mode | 0o055)

    def work():
        os.setgid(65534)
        os.setuid(65534)
        reader = Learner.open(folder, read_only=True)
        code = 0 if reader.ids == [*range(5)] else 2
        os.write(to_parent, b"1")
        os.read(from_parent, 1)
        if not reader.reload() or reader.ids != [*range(6)]:
            return 4
        try:
            teach(Learner.open(folder, durability="example"), [6])
        except UnwritableError:
            return code
        return 3

    def teach_meanwhile():
        os.read(from_child, 1)
        with Learner.open(folder) as learner:
            teach(learner, [5])
        os.write(to_child, b"1")

    (from_child, to_parent), (from_parent, to_child) = os.pipe(), os.pipe()
    thread = threading.Thread(target=teach_meanwhile)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    thread.start()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    thread.join()


@pytest.mark.parametrize("durability", ["example", "batch"])
@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_folder_that_is_gone_is_reported_and_not_made_again(tmp_path, durability, how):
    folder = tmp_path / "model"
    learner = Learner.open(folder, durability=durability)
    teach(learner, range(5))
    if durability == "example":
        learner.flush()
    shutil.rmtree(folder)
    if how == "replaced":
        with Learner.open(folder) as other:
            other.teach([1.0], "x", id="other")
    with pytest.raises(UnwritableError, match="was removed or replaced; open"):
        learner.flush() if durability == "batch" else teach(learner, [6])
    assert learner.ids == [*range(5)]
    assert folder.exists() == (how == "replaced")
    with pytest.raises(UnwritableError, match="was removed or replaced; open"):
        teach(learner, [7])
    if how == "replaced":
        assert Learner.open(folder, read_only=True).ids == ["other"]
    learner._store.abandon()


@pytest.mark.parametrize("durability", ["example", "batch"])
def test_a_forked_child_can_read_but_not_change(tmp_path, durability):
    learner = Learner.open(tmp_path, durability=durability)
    teach(learner, range(8))  # with "batch" the parent has the turn
    rows = np.array(ROWS[:8])
    before = learner.predict(rows).tolist()

    def work():
        if learner.predict(rows).tolist() != before or learner.ids != [*range(8)]:
            return 2
        calls = [lambda: teach(learner, [9]), lambda: learner.forget(1), learner.consolidate]
        for call in [*calls, learner.flush, learner.reload]:
            try:
                call()
            except UnwritableError as error:
                if "was opened by another process" not in str(error):
                    return 3
            else:
                return 4
        if learner.ids != [*range(8)]:
            return 5
        learner.close()
        return 0

    assert in_child(work) == 0
    teach(learner, [9])
    learner.close()
    assert Learner.open(tmp_path, read_only=True).ids == [*range(8), 9]


@pytest.mark.parametrize("durability", ["example", "batch"])
def test_a_forked_child_can_open_the_folder_again(tmp_path, durability):
    ram, learner = Learner(), Learner.open(tmp_path, durability=durability)
    for each in (ram, learner):
        teach(each, range(8))

    def work():
        mine = Learner.open(tmp_path, durability=durability)
        teach(mine, [9])
        mine.close()
        return 0

    assert in_child(work, patience=20.0) == 0
    for each in (ram, learner):
        teach(each, [9, 10])
    learner.close()
    assert same(ram, Learner.open(tmp_path, read_only=True))


def test_a_program_that_ends_has_committed_its_groups(tmp_path):
    code = (
        "import sys; from minout import Learner\n"
        "a, b = (Learner.open(sys.argv[1] + each) for each in ('/a', '/b'))\n"
        "for i in range(3): a.teach([float(i)], i, id=i), b.teach([float(i)], i, id=i)\n"
        "a.notes['x'] = {1}\n"  # so that this one cannot be closed
    )
    command = [sys.executable, "-c", code, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "must be plain JSON" in done.stderr
    assert Learner.open(tmp_path / "b", read_only=True).ids == [0, 1, 2]
