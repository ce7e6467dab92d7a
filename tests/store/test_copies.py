"""Damaged and forged files: noticed in one sentence, harmless, or another valid model.

A copy with other bytes is noticed, or its answers are the same. A forged one, whose checksums are
right, may also be another model: then every call ends with a result or a sentence. No copy takes
long, or much memory, or ends the process. `MINOUT_COPIES` is how many copies are made.
"""

import re
import resource
import shutil
import signal
import sqlite3
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from long import how_many
from minout import Learner, store
from minout.errors import MinoutError, MissingDataError
from oracle.child import in_child
from store.forging import DAMAGES, forge, one_of, repeat_pages
from store.models import SETTINGS, answers, questions, taught

COUNT = -(-how_many("MINOUT_COPIES", 360, 3_600) // len(SETTINGS))
SECONDS, LIMIT = 60, 200_000_000
"""A copy that takes longer hangs; it may take so many bytes."""
SENTENCE = re.compile(r"[A-Z/`x][^\n]{1,600}[.]")


class limited:  # noqa: N801, used as a function
    """Limit time and memory, and ignore warnings, during a `with` statement."""

    def __enter__(self):
        used = int(re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (used + LIMIT, resource.RLIM_INFINITY))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the child, also in a kernel
        signal.alarm(SECONDS)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")
        self._errors = np.seterr(all="ignore")

    def __exit__(self, *_):
        np.seterr(**self._errors)
        self._warnings.__exit__(None, None, None)
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)


def ended(call):
    """Make a call that may raise one of our errors, with one sentence; return what it returned."""
    try:
        return call()
    except MinoutError as error:
        assert SENTENCE.fullmatch(str(error)), f"no sentence: {error}"  # noqa: PT017
        return error


def used(path):
    """Do with a file whatever can be done with one."""
    learner = ended(lambda: Learner.open(path))
    if isinstance(learner, Exception):
        return
    row = questions()[0]
    for call in (
        learner.audit,
        learner.settle,
        lambda: learner.explain(row),
        lambda: learner.what_if(row, learner.classes.tolist()[0]),
        lambda: learner.teach(row, learner.classes.tolist()[0]),
        lambda: learner.forget(learner.ids[0]),
        learner.consolidate,
        learner.compact,
    ):
        ended(call)
    learner.close()


def tried(kind, folder, seed):
    """Make copies of a model, and return how often each was what, and problems."""
    source, found, problems = folder / "model", Counter(), []
    learner = taught(kind)
    learner.save(source)
    good = answers(learner)
    if kind == "far":
        good = answers(Learner.load(source))
    for number in range(COUNT):
        rng, path, what = np.random.default_rng([seed, number]), folder / f"copy{number}", None
        shutil.copyfile(source, path)
        is_forged = number % 2
        if is_forged:
            what = forge(path, rng)
        else:
            change = one_of(DAMAGES, rng)
            what = change.__name__
            path.write_bytes(change(source.read_bytes(), rng))
        try:
            with limited():
                content = path.read_bytes()
                loaded = ended(lambda path=path: Learner.load(path))
                if isinstance(loaded, Exception):
                    found["noticed"] += 1
                elif answers(loaded) == good:
                    found["same"] += 1
                else:
                    assert is_forged, "wrong answers"
                    found["other"] += 1
                for call in (
                    store.audit,
                    store.read_log,
                    lambda path: store.copy(path, folder / "c"),
                ):
                    ended(lambda call=call, path=path: call(path))
                ended(lambda path=path: store.repair(path, folder / "r"))
                assert path.read_bytes() == content
                if is_forged:
                    used(path)
        except BaseException as error:
            problems.append(f"{number}, {what}: {type(error).__name__}: {str(error)[:300]}")
        for each in (path, folder / "r", folder / "c"):
            for file in folder.glob(f"{each.name}*"):
                file.unlink()
    return found, problems


@pytest.mark.parametrize("kind", SETTINGS)
def test_no_copy_does_harm(tmp_path, kind):
    def work():
        found, problems = tried(kind, tmp_path, 20)
        print(found)
        for each in problems:
            print(each)
        return 3 if problems else 0 if found["noticed"] > COUNT / 4 else 4

    assert in_child(work, patience=120.0 + 3.0 * COUNT) == 0


@pytest.mark.parametrize("table", ["examples", "rows", "separators", "frame", "log", "meta"])
def test_a_table_whose_pages_repeat_ends(tmp_path, table):
    taught("plain").save(tmp_path / "m")
    repeat_pages(tmp_path / "m", table)
    if table not in ("log", "frame"):  # records of the frame are found by their names
        with pytest.raises(MissingDataError, match="is not a minout model, or it was truncated"):
            Learner.load(tmp_path / "m")
    assert not store.audit(tmp_path / "m").ok


STATEMENTS = [
    "CREATE TRIGGER more AFTER INSERT ON rows BEGIN DELETE FROM rows; END",
    "CREATE TABLE more (a)",
    "DROP TABLE log",
    "DROP VIEW labels",
    "DROP INDEX examples_by_version",
    "ALTER TABLE log ADD COLUMN more INT",
]


@pytest.mark.parametrize("statement", STATEMENTS, ids=range(len(STATEMENTS)))
def test_another_schema_is_refused_before_anything_is_read(tmp_path, statement):
    taught("plain").save(tmp_path / "m")
    connection = sqlite3.connect(tmp_path / "m")
    connection.execute(statement)
    connection.close()
    for read_only in (True, False):
        with pytest.raises(MissingDataError, match="is not a minout model, or it was truncated"):
            Learner.open(tmp_path / "m", read_only=read_only)


def test_a_record_that_is_lost_or_old_is_noticed(tmp_path):
    learner = Learner.open(tmp_path / "m")
    taught("plain", learner=learner)
    learner.close()
    for number, change in enumerate(
        (
            "DELETE FROM examples WHERE key = 4",
            "DELETE FROM rows WHERE key = 4",
            "DELETE FROM separators WHERE pair = 1",
            "UPDATE separators SET b = b + 1 WHERE pair = 0",
            "UPDATE examples SET label = 'c1' WHERE label = 'c0'",
            "UPDATE rows SET row = zeroblob(24) WHERE key = 2",
            "DELETE FROM frame WHERE name = 'notes'",
            "UPDATE meta SET total = total - 1",
            "UPDATE meta SET next_id = next_id + 1",
            "UPDATE examples SET misfit = 1 - misfit WHERE key = 4",
            "UPDATE examples SET pending = 1 - pending WHERE key = 4",
        )
    ):
        path = tmp_path / f"copy{number}"
        shutil.copyfile(tmp_path / "m", path)
        connection = sqlite3.connect(path)
        connection.execute(change)
        connection.commit()
        connection.close()
        with pytest.raises(MissingDataError, match="was truncated or damaged"):
            Learner.load(path)
        assert not store.audit(path).ok
