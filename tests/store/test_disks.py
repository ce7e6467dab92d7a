"""Disks that are full, slow to share, locked or read-only, and processes that fork: one sentence.

Nothing has changed, and all can go on when the cause is gone.
"""

import os
import resource
import sqlite3
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from minout import Learner, store
from minout.errors import MinoutError, MissingDataError, UnwritableError
from oracle.child import in_child
from store.models import PINNED, differing, rows_and_labels, taught


@contextmanager
def small_disk(kilobytes):
    """Mount a file system of a size; skip the test if that is not allowed."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["-o", f"size={kilobytes}k", "tmpfs", folder]
        mounted = subprocess.run(["mount", "-t", "tmpfs", *options], check=False)
        if mounted.returncode:
            pytest.skip("only root can mount a file system")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def refused(call, kind=UnwritableError):
    """Make a call that must be refused; return the sentence."""
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(".")
    return str(caught.value)


def test_a_full_disk_refuses_a_call_and_the_model_is_as_before():
    with small_disk(1_000) as folder:
        learner, rows = Learner.open(folder / "m", **PINNED), np.eye(200)
        learner.teach_many(rows[:20], ["a", "b"] * 10)
        (folder / "other").write_bytes(bytes(1_000 * os.statvfs(folder).f_bavail * 4))
        before, sentence = learner.ids, None
        for number in range(20, 200):
            try:
                learner.teach(rows[number], "ab"[number % 2])
            except UnwritableError as error:
                sentence = str(error)
                break
            before = learner.ids
        assert "disk" in sentence
        assert learner.ids == before == Learner.load(folder / "m").ids
        assert "disk is full" in refused(lambda: learner.save(folder / "n"))
        assert not (folder / "n").exists()
        (folder / "other").unlink()
        learner.teach(rows[199], "a", id="late")
        assert differing(folder / "m", learner) == []
        assert store.audit(folder / "m").ok
        learner.close()


def test_a_disk_that_became_read_only_refuses_changes_and_can_be_read():
    with small_disk(2_000) as folder:
        taught("plain").save(folder / "m")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        learner = taught("hats")
        assert Learner.load(folder / "m").ids == learner.ids
        assert Learner.open(folder / "m", read_only=True).ids == learner.ids
        assert "could not be written" in refused(lambda: learner.save(folder / "m"))
        assert "could not be written" in refused(lambda: Learner.open(folder / "m"))
        assert "could not be written" in refused(lambda: Learner.open(folder / "new"))
        assert [each.name for each in folder.iterdir()] == ["m"]


@pytest.mark.parametrize("answer", ["delete", None], ids=["other journal", "error"])
def test_a_file_system_without_a_log_or_locks_is_named(tmp_path, monkeypatch, answer):
    class Connection(sqlite3.Connection):
        def execute(self, query, *arguments):
            if query == "PRAGMA journal_mode=WAL":
                if answer is None:
                    error = sqlite3.OperationalError("locking protocol")
                    error.sqlite_errorname = "SQLITE_PROTOCOL"
                    raise error
                return super().execute("SELECT ?", (answer,))
            return super().execute(query, *arguments)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=Connection))
    assert "cannot share a file" in refused(lambda: Learner.open(tmp_path / "m"))


def test_a_file_that_another_program_keeps_locked_is_named(tmp_path, monkeypatch):
    taught("plain").save(tmp_path / "m")
    monkeypatch.setattr("minout.store.opening.PATIENCE", 0.05)
    other = sqlite3.connect(tmp_path / "m", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for call, kind in ((Learner.open, UnwritableError), (Learner.load, MissingDataError)):
        sentence = refused(lambda call=call: call(tmp_path / "m"), kind)
        assert "another process is using it" in sentence
    other.close()
    Learner.open(tmp_path / "m").forget(0)


@pytest.mark.parametrize("name", ["open", "new", "load", "save", "copy"])
def test_too_many_open_files_are_reported_by_that_name(tmp_path, name):
    learner = taught("plain")
    learner.save(tmp_path / "m")
    call = {
        "open": lambda: Learner.open(tmp_path / "m"),
        "new": lambda: Learner.open(tmp_path / "new"),
        "load": lambda: Learner.load(tmp_path / "m"),
        "save": lambda: learner.save(tmp_path / "m"),
        "copy": lambda: store.copy(tmp_path / "m", tmp_path / "new"),
    }[name]

    def work():
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        in_use = max(int(each.name) for each in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 20, hard))
        held, wrong = [], []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        for _ in range(9):  # with none left, with one, and so on until it can be done
            try:
                call()
                break
            except MinoutError as error:
                if "Too many open files" not in str(error):
                    wrong.append(str(error))
            os.close(held.pop())
        else:
            wrong.append("it is never done")
        for each in held:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(*wrong, sep="\n")
        return len(wrong)

    assert in_child(work) == 0
    assert differing(tmp_path / "m", learner) == []


def test_a_fork_at_any_moment_cannot_write_and_does_its_parent_no_harm(tmp_path):
    learner = Learner.open(tmp_path / "m", **PINNED)
    rows, labels = rows_and_labels(4, 400)
    learner.teach_many(rows[:30], labels[:30])

    def teach():
        for row, label in zip(rows[30:], labels[30:], strict=True):
            learner.teach(row, label)

    thread, forks = threading.Thread(target=teach), 0
    thread.start()
    while thread.is_alive():
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                learner.predict(rows[:3])
                learner.teach(rows[0], labels[0], id="child")
            except UnwritableError as error:
                code = 0 if "cannot share it with a fork" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        forks += 1
    thread.join()
    with learner.turn():
        learner.teach(rows[0], labels[0], id="in turn")
        assert in_child(lambda: _refuses(learner)) == 0
    assert forks > 3
    assert learner.ids == [*range(400), "in turn"]
    assert differing(tmp_path / "m", learner) == []
    assert store.audit(tmp_path / "m").ok


def _refuses(learner):
    try:
        learner.forget(1)
    except UnwritableError:
        return 0
    return 2
