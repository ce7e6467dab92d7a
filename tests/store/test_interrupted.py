"""Ctrl-C, a full disk, a failing statement: a call was made or not, and all can go on."""

import gc
import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
from pathlib import Path
from unittest import mock

import pytest

import minout
from long import LONG, how_many
from minout import Learner, store
from minout.errors import MinoutError, MissingDataError, UnwritableError
from oracle.child import in_child
from oracle.interruptions import lines_of, was_interrupted
from oracle.margin import IN_MEMORY
from store.models import PINNED, differing, rows_and_labels

HOME = str(Path(minout.__file__).parent / "store")
ROWS, LABELS = rows_and_labels(3, 30)
MOST = 400 if LONG else 30
INTERRUPTS = -(-how_many("MINOUT_INTERRUPTS", 69, 500) // 23)
"""How often each of the 23 methods is interrupted."""
CALLS = {
    "teach": lambda learner: learner.teach(ROWS[20], LABELS[20], id=20, at=20.0),
    "correct": lambda learner: learner.correct(1, "new"),
    "forget": lambda learner: learner.forget([0, 3]),
    "consolidate": lambda learner: learner.consolidate(),
}
CALLS["turn"] = lambda learner: several(learner)  # noqa: PLW0108, it is defined below
ERRORS = {
    "SQLITE_FULL": "database or disk is full",
    "SQLITE_IOERR_WRITE": "disk I/O error",
    "SQLITE_IOERR_FSYNC": "disk I/O error",
}


def several(learner):
    """Make several changes as one."""
    with learner.turn():
        learner.teach(ROWS[21], LABELS[21], id=21)
        learner.forget(2)


def facts(learner):
    """Return what tells states apart."""
    labels = [learner.example(each)[1] for each in learner.ids]
    return learner.ids, labels, learner.corrected, learner.misfits


@pytest.fixture
def first():
    """A file with nine examples, on a disk that need not be waited for."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        with Learner.open(Path(folder) / "first", **PINNED, expand=None) as learner:
            learner.teach_many(ROWS[:9], LABELS[:9])
        yield Path(folder) / "first"


def copied(first, number):
    """Return a copy of a file."""
    return Path(shutil.copyfile(first, first.with_name(f"copy{number}")))


@pytest.mark.parametrize("call", CALLS)
def test_interrupted_at_any_line_of_the_store_a_call_was_made_or_not(first, call):
    before = facts(Learner.load(first))
    twin = Learner.open(copied(first, "twin"))
    lines = lines_of(HOME, lambda: CALLS[call](twin), most=MOST)
    after, made = facts(twin), []
    for number in lines:
        file = copied(first, number)
        learner, beside = Learner.open(file), Learner.open(file)
        assert was_interrupted(number, HOME, lambda learner=learner: CALLS[call](learner))
        assert facts(learner) in (before, after)
        beside.teach([5.0, 5.0, 5.0], "c1", id="beside")
        made.append(facts(beside)[0] != [*before[0], "beside"])
        learner.teach([0.5, 0.5, 0.5], "c1", id="on")
        assert learner.ids[-2:] == ["beside", "on"]
        beside.reload()
        assert differing(learner, beside) == []
        assert differing(file, learner) == []
        assert store.audit(file).ok
        for each in (learner, beside):
            each.close()
        file.unlink()
    assert len(made) >= min(len(lines), 10)


PACKAGE = str(Path(minout.__file__).parent)
METHODS = {
    **CALLS,
    "teach many": lambda learner: learner.teach_many(ROWS[9:14], LABELS[9:14]),
    "correct many": lambda learner: learner.correct_many([0, 1], ["c1", "new"]),
    "update": lambda learner: learner.update(4, ROWS[15]),
    "forget class": lambda learner: learner.forget_class("c0"),
    "set keep": lambda learner: learner.set_keep(5),
    "widen": lambda learner: learner.widen(1),
    "settle": lambda learner: learner.settle(),
    "compact": lambda learner: learner.compact(),
    "reload": lambda learner: learner.reload(),
    "close": lambda learner: learner.close(),
    "save": lambda learner: learner.save(learner._file.path.with_name("saved")),
    "load": lambda learner: Learner.load(learner._file.path),
    "open": lambda learner: Learner.open(learner._file.path).close(),
    "store in": lambda learner: Learner.load(learner._file.path).store_in(
        learner._file.path.with_name("kept")
    ),
    "audit": lambda learner: learner.audit(),
    "what if": lambda learner: learner.what_if(ROWS[15], "c1"),
    "explain": lambda learner: learner.explain(ROWS[15]),
    "predict": lambda learner: learner.predict(ROWS[15:]),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", METHODS)
def test_interrupted_anywhere_a_method_was_called_or_not(first, name):
    call, rng, interrupted = METHODS[name], random.Random(name), 0
    before = facts(Learner.load(first))
    for copy in ("once", "twin"):  # the first call in a process may run more lines
        first.with_name("kept").unlink(missing_ok=True)
        twin, ran = Learner.open(copied(first, copy)), []
        assert not was_interrupted(-1, PACKAGE, lambda twin=twin: call(twin), ran)
    after = facts(twin)
    for number in range(INTERRUPTS):
        for each in ("saved", "kept"):
            first.with_name(each).unlink(missing_ok=True)
        file = copied(first, number)
        learner = Learner.open(file)
        line = rng.randrange(1, len(ran) + 1)
        interrupted += was_interrupted(line, PACKAGE, lambda learner=learner: call(learner))
        assert facts(learner) in (before, after), line
        assert facts(Learner.load(file)) in (before, after), line
        gc.collect()  # what was interrupted may still have the file open
        with Learner.open(file) as other:
            assert facts(other) in (before, after), line
            other.teach(other.example(other.ids[0])[0], "c1", id="on")
        if name != "close":
            learner.reload()
            assert differing(learner, other) == [], line
        assert store.audit(file).ok
        for each in ("saved", "kept"):
            made = first.with_name(each)
            if made.exists() and store.holds_model(made):
                with Learner.open(made) as found:  # it may have been made, and be empty
                    assert not len(found) or facts(found) == before
        learner.close()
    assert interrupted > INTERRUPTS / 2


class Disk:
    """Counts the statements of all connections, and lets one of them fail."""

    def __init__(self):
        self.left, self.ran, self.name = None, 0, "SQLITE_FULL"

    def fail_at(self, number, name="SQLITE_FULL"):
        """Let one statement fail, `number` statements from now; None lets none fail."""
        self.left, self.ran, self.name = number, 0, name

    def count(self):
        """Count a statement, and raise the error if it is its turn."""
        self.ran += 1
        if self.ran == self.left:
            error = sqlite3.OperationalError(ERRORS[self.name])
            error.sqlite_errorname = self.name
            raise error


@pytest.fixture
def disk():
    """A disk that can fail."""
    disk = Disk()

    class Connection(sqlite3.Connection):
        def execute(self, *arguments):
            disk.count()
            return super().execute(*arguments)

        def executemany(self, *arguments):
            disk.count()
            return super().executemany(*arguments)

    real = sqlite3.connect
    with mock.patch(
        "sqlite3.connect", lambda *a, **options: real(*a, **{"factory": Connection, **options})
    ):
        yield disk


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("call", CALLS)
def test_a_statement_that_fails_leaves_the_state_before_the_call(first, disk, call, name):
    learner, failed = Learner.open(copied(first, 0)), 0
    before = facts(learner)
    for k in range(1, 60):
        disk.fail_at(k, name)
        try:
            CALLS[call](learner)
        except MinoutError as error:
            failed += 1
            assert isinstance(error, UnwritableError) or "could not be read" in str(error)  # noqa: PT017
            assert ERRORS[name] in str(error)  # noqa: PT017
        else:
            disk.fail_at(None)
            if facts(learner) != before:
                break
        disk.fail_at(None)
        assert facts(learner) == before
        assert facts(Learner.load(learner._file.path)) == before
    assert failed > 5
    assert differing(learner._file.path, learner) == []


def test_opening_can_fail_at_any_statement_and_succeed_later(tmp_path, disk):
    for k in range(1, 99):
        disk.fail_at(k)
        try:
            learner = Learner.open(tmp_path / "m")
        except MinoutError:
            continue
        break
    disk.fail_at(None)
    assert k > 12
    learner.teach([1.0], "a", id=1)
    assert Learner.load(tmp_path / "m").ids == [1]


def test_a_file_that_may_not_grow_is_reported(tmp_path):
    def work():
        learner, refused = Learner.open(tmp_path / "m"), 0
        learner.teach([0.0] * 500, "a")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = max(each.stat().st_size for each in tmp_path.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50_000, resource.RLIM_INFINITY))
        for number in range(1, 60):
            before = learner.ids
            try:
                learner.teach([float(number)] * 500, "ab"[number % 2])
            except UnwritableError as error:
                refused += str(error).endswith((".", "full.", "error."))
                assert learner.ids == before
                break
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        learner.teach([0.5] * 500, "a", id="last")
        learner.close()
        return 0 if refused else 3

    assert in_child(work) == 0
    assert "last" in Learner.load(tmp_path / "m").ids
    assert store.audit(tmp_path / "m").ok


def test_a_file_in_a_folder_that_may_not_be_written_to_can_be_read(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        Path(folder).chmod(0o755)
        file = Path(folder) / "m"
        with Learner.open(file) as learner:
            learner.teach([1.0], "a", id=1)

        def work():
            os.setgid(65534)
            os.setuid(65534)
            if Learner.open(file, read_only=True).ids != [1]:
                return 2
            try:
                Learner.open(file).teach([2.0], "b")
            except UnwritableError:
                return 0
            return 3

        assert in_child(work) == 0


def test_a_file_that_was_made_and_not_written_to_is_named_and_can_be_used(tmp_path):
    store.File(tmp_path / "m")._open()
    with pytest.raises(MissingDataError, match="has no model yet"):
        Learner.load(tmp_path / "m")
    with Learner.open(tmp_path / "m") as learner:
        learner.teach([1.0], "a", id=1)
    assert Learner.load(tmp_path / "m").ids == [1]
