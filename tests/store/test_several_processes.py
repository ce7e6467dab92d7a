"""Several processes use one file: they wait for each other, and lose nothing."""

import multiprocessing
import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from long import how_many
from minout import Learner, store
from minout.errors import InvalidInputError, MissingDataError, UnwritableError
from oracle.child import in_child
from oracle.operations import KINDS, drawn, perform
from store.models import PINNED, answers, differing, rows_and_labels, taught

KILLS = -(-how_many("MINOUT_KILLS", 36, 240) // 6)  # there are six tests
FORK = multiprocessing.get_context("fork")


def teach_some(path, name, count):
    """Teach examples to a file, one by one, with ids that tell who did it."""
    learner = Learner.open(path)
    rows, labels = rows_and_labels(len(name), count)
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        learner.teach(row, label, id=f"{name}{number}")
    learner.close()


def test_processes_that_teach_at_the_same_time_lose_nothing(tmp_path):
    file = tmp_path / "m.minout"
    Learner(**PINNED).teach_many(*rows_and_labels(1, 80))
    Learner.open(file, **PINNED).close()
    workers = [FORK.Process(target=teach_some, args=(file, name, 40)) for name in ("a", "bb")]
    for each in workers:
        each.start()
    reader, sizes = Learner.open(file, read_only=True), []
    while any(each.is_alive() for each in workers):
        reader.reload()
        sizes.append(len(reader))
        assert len(reader) == 0 or reader.audit().ok
    for each in workers:
        each.join()
        assert each.exitcode == 0
    reader.reload()
    assert sorted(reader.ids) == sorted(f"{name}{n}" for name in ("a", "bb") for n in range(40))
    assert sizes == sorted(sizes)
    assert differing(Learner.load(file), reader) == []
    assert store.audit(file).ok


@pytest.mark.parametrize("kind", ["auto", "newest 30", "far", "regions and hats"])
def test_two_learners_of_one_file_that_take_turns_agree(tmp_path, kind):
    file, rng = tmp_path / "m.minout", np.random.default_rng(3)
    learners = [Learner.open(file, **KINDS[kind]), Learner.open(file)]
    for number in range(50):
        one, other = learners if rng.random() < 0.5 else learners[::-1]
        operation = drawn(rng, one, number)
        if operation[0] == "note":
            continue
        one.reload()
        perform(one, operation)
        other.reload()
        assert differing(one, other) == [], operation
    assert differing(file, learners[0]) == []


def test_a_call_waits_until_another_process_has_ended_its_turn(tmp_path, monkeypatch):
    file, waited = tmp_path / "m.minout", []
    first = Learner.open(file)
    second = Learner.open(file, on_wait=waited.append)
    begun = threading.Event()

    def hold():
        with first.turn():
            begun.set()
            first.teach([0.0, 1.0], "a", id=1)
            time.sleep(0.3)

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait()
    second.teach([1.0, 0.0], "b", id=2)
    thread.join()
    assert second.ids == [1, 2]
    assert waited == sorted(waited)
    assert waited[-1] > 0.1
    monkeypatch.setattr("minout.store.file.WAIT", 0.05)
    with (
        first.turn(),
        pytest.raises(UnwritableError, match=r"Another process .* for more than 0 s; try again"),
    ):
        second.forget(1)
    assert second.ids == [1, 2]
    second.forget(1)


def test_a_reader_sees_no_part_of_a_turn(tmp_path):
    file = tmp_path / "m.minout"
    learner = Learner.open(file)
    learner.teach([0.0, 1.0], "a", id=1)
    reader = Learner.open(file, read_only=True)
    with learner.turn():
        learner.teach([1.0, 0.0], "b", id=2)
        assert not reader.reload()
        learner.teach([1.0, 0.5], "b", id=3)
    assert reader.reload()
    assert reader.ids == [1, 2, 3]
    with pytest.raises(UnwritableError, match="opened to be read only"):
        reader.teach([1.0, 0.0], "b")


def test_a_forked_child_reads_what_is_in_memory_and_cannot_use_the_file(tmp_path):
    file = tmp_path / "m.minout"
    learner = taught("plain", learner=Learner.open(file, **PINNED, expand=None))
    before = learner.ids

    def work():
        calls = (
            lambda: learner.teach([1.0, 2.0, 3.0], "c1", id="child"),
            learner.reload,
            lambda: Learner.open(file),
            lambda: Learner.load(file),
        )
        refused = 0
        for call in calls:
            try:
                call()
            except UnwritableError as error:
                refused += "cannot share it with a fork" in str(error)
        learner.close()
        return 0 if refused == len(calls) and learner.ids == before else 2

    assert in_child(work) == 0
    learner.teach([1.0, 2.0, 4.0], "c1", id="parent")
    assert learner.ids == [*before, "parent"]
    assert differing(file, learner) == []


def test_a_process_that_also_loads_the_file_keeps_its_locks(tmp_path):
    file = tmp_path / "m.minout"
    learner = taught("plain", learner=Learner.open(file, **PINNED, expand=None))
    Learner.load(file)
    Learner.open(file, read_only=True).close()
    script = (
        "import sys; from minout import Learner\n"
        "with Learner.open(sys.argv[1]) as other: other.teach([1.0, 2.0, 3.0], 'c1', id='other')"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], check=True)
    learner.teach([1.0, 2.0, 4.0], "c1", id="late")
    copied = tmp_path / "copy"
    copied.mkdir()
    for each in tmp_path.glob("m.minout*"):  # as after a kill: the file and its log
        shutil.copy(each, copied / each.name)
    assert Learner.load(copied / "m.minout").ids[-2:] == ["other", "late"]


def test_parts_of_a_turn_that_would_end_it_are_refused(tmp_path):
    learner = taught("plain", learner=Learner.open(tmp_path / "m.minout", **PINNED))
    before = learner.ids

    def turn(call):
        with learner.turn():
            learner.teach([1.0, 2.0, 3.0], "c1", id="taken back")
            call()

    for call in (learner.compact, lambda: learner.store_in(tmp_path / "n.minout")):
        with pytest.raises(InvalidInputError, match="cannot be a part of `turn`"):
            turn(call)
        assert learner.ids == before


def test_a_time_of_minus_zero_is_read_again(tmp_path):
    with Learner.open(tmp_path / "m.minout") as learner:
        learner.teach([1.0, 0.0], "a", id="x", at=-0.0)
    assert Learner.load(tmp_path / "m.minout").time("x") == 0.0


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_is_gone_is_reported_and_not_made_again(tmp_path, how):
    file = tmp_path / "m.minout"
    learner, reader = taught("plain", learner=Learner.open(file)), None
    learner.close()
    learner, reader = Learner.open(file), Learner.open(file, read_only=True)
    before = learner.ids
    for each in tmp_path.iterdir():
        each.unlink()
    if how == "replaced":
        Learner().save(file)
        taught("hats").save(file)
    with pytest.raises(UnwritableError, match="was removed or replaced; open it again"):
        learner.forget(before[0])
    assert learner.ids == before
    assert file.exists() == (how == "replaced")
    if how == "replaced":
        assert reader.reload()
        assert answers(reader) == answers(taught("hats"))
    else:
        with pytest.raises(MissingDataError, match="There is no file"):
            reader.reload()


def test_a_file_that_is_open_is_not_replaced_by_save(tmp_path):
    file = tmp_path / "m.minout"
    learner = taught("plain", learner=Learner.open(file))
    with pytest.raises(UnwritableError, match="the file is open"):
        taught("hats").save(file)
    learner.close()
    taught("hats").save(file)
    assert [each.name for each in tmp_path.iterdir()] == ["m.minout"]
    assert answers(Learner.load(file)) == answers(taught("hats"))


def killed(path, settings, operations, rng):
    """Let a child do operations, kill it, and return how many it had acknowledged."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            learner = Learner.open(path, **settings)
            for number, operation in enumerate(operations, 1):
                perform(learner, operation)
                os.write(writing, b"%d\n" % number)
        finally:
            os._exit(0)
    os.close(writing)
    lines, wanted = b"", rng.randrange(12)
    while lines.count(b"\n") < wanted and select.select([reading], [], [], 60.0)[0]:
        if not (more := os.read(reading, 2**16)):
            break
        lines += more
    time.sleep(rng.random() * 0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(reading, "rb") as rest:
        lines += rest.read()
    return lines.count(b"\n")


@pytest.mark.parametrize("kind", ["auto", "newest 30", "far"])
@pytest.mark.parametrize("durability", ["normal", "full"])
def test_killed_at_any_moment_a_file_holds_what_was_acknowledged(tmp_path, kind, durability):
    settings, rng = {**KINDS[kind], "durability": durability}, random.Random(len(kind))
    file, drawing = tmp_path / "m.minout", np.random.default_rng(1)
    Learner.open(file, **settings).close()
    done = 0
    for _ in range(KILLS):
        twin = Learner.load(file)
        states, operations = [(twin.ids, twin.corrected)], []
        for number in range(12):
            operations.append(drawn(drawing, twin, number, many=False))
            if operations[-1][0] == "note":
                operations[-1] = ("settle",)
            perform(twin, operations[-1])
            states.append((twin.ids, twin.corrected))
        count = killed(file, settings, operations, rng)
        found = Learner.open(file)
        assert (found.ids, found.corrected) in states[count : count + 2]
        assert store.audit(file).ok
        found.close()
        done += count
    assert done > KILLS


def test_a_lock_of_another_program_is_named(tmp_path, monkeypatch):
    file = tmp_path / "m.minout"
    learner = taught("plain", learner=Learner.open(file))
    monkeypatch.setattr("minout.store.file.WAIT", 0.05)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnwritableError, match="Another process has been changing"):
        learner.settle() or learner.forget(learner.ids[0])
    other.close()
    learner.forget(learner.ids[0])


def test_the_key_of_an_example_that_was_forgotten_is_never_used_again(tmp_path):
    file = tmp_path / "m.minout"
    one = taught("plain", learner=Learner.open(file, **PINNED, expand=None))
    other, reader = Learner.open(file), Learner.open(file, read_only=True)
    one.teach([1.0, 2.0, 3.0], "c1", id="short-lived")
    reader.reload()
    one.forget("short-lived")
    other.teach([1.0, 2.0, 3.0], "c1", id="next")  # it has seen neither
    assert reader.reload()
    assert differing(reader, other) == []
    assert "next" in reader.ids


def test_a_label_that_came_and_went_between_two_turns_of_another_is_no_matter(tmp_path):
    first = Learner.open(tmp_path / "m")
    first.teach_many([[0.0, 0.0], [1.0, 1.0]], ["a", "b"])
    second = Learner.open(tmp_path / "m")
    second.teach([5.0, 5.0], "c", id="x")
    second.forget("x")
    assert first.reload()
    assert first.ids == second.ids
    first.teach([2.0, 2.0], "b", id="on")
    assert second.reload()
    assert second.ids[-1] == "on"


@pytest.mark.parametrize("how", ["consolidate", "compact"])
def test_an_empty_model_with_missing_values_can_be_opened_again(tmp_path, how):
    with Learner.open(tmp_path / "m", missing="mean") as learner:
        learner.teach_many([[1.0], [float("nan")]], ["p", "q"])
        learner.forget(learner.ids)
        getattr(learner, how)()
    with Learner.open(tmp_path / "m") as again:
        assert again.ids == []
        again.teach([3.0], "p")
        assert again.audit().ok
