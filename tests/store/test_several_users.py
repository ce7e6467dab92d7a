"""Several learners, threads and directories: nothing is lost or overwritten without a word."""

import shutil
import threading

import numpy as np
import pytest

from minout import InvalidInputError, Learner, learner, model_store, steps
from minout.errors import MissingDataError, UnwritableError
from minout.store import Database
from oracle.margin import differs, saved

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 2))
LABELS = ["ab"[n % 2] for n in range(60)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a small model; no group commit comes by itself."""
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 600.0)
    with Learner.open(tmp_path / "model") as first:
        first.teach_many(ROWS[:10], LABELS[:10])
    return tmp_path / "model"


def test_changes_that_are_lost_in_the_background_are_reported_by_the_next_change(folder):
    mine = Learner.open(folder)
    mine.teach([0.0, 0.0], "a", id="lost")
    with pytest.MonkeyPatch.context() as patch:

        def fail(database, _changes):
            database._connection.rollback()
            raise UnwritableError("The disk is full.")

        patch.setattr(Database, "commit", fail)
        mine._flush_quietly()
    with Learner.open(folder) as other:
        other.teach([1.0, 1.0], "b", id="other")
    mine._flush_quietly()  # finds that another process was faster
    with pytest.raises(UnwritableError, match="they are lost"):
        mine.teach([0.5, 0.5], "a", id="next")
    mine.teach([0.5, 0.5], "a", id="next")
    assert ("lost" in mine, "other" in mine, "next" in mine) == (False, True, True)
    mine.close()
    assert differs(saved(Learner.open(folder, read_only=True)), saved(mine)) == []


def test_notes_are_committed_by_close_also_if_others_have_changed_the_model(folder):
    mine = Learner.open(folder)
    mine.notes["mine"] = 1
    with Learner.open(folder) as other:
        other.teach([1.0, 1.0], "b", id="other")
        other.notes["theirs"] = 2
    mine.close()
    assert Learner.open(folder, read_only=True).notes == {"mine": 1, "theirs": 2}


def test_settings_are_compared_when_another_process_was_the_first_to_write(tmp_path):
    slow = Learner.open(tmp_path / "model", C=1.0)
    with Learner.open(tmp_path / "model", C=10.0) as fast:
        fast.teach([1.0, 0.0], "a")
    for _ in range(2):
        with pytest.raises(InvalidInputError, match=r"made with C=10.0, not 1.0; leave `C` out"):
            slow.teach([0.0, 1.0], "b")
    slow.close()
    assert len(Learner.open(tmp_path / "model", read_only=True)) == 1


class Failing:
    """A codec of the user's own that fails at one row."""

    width, bytes_per_row, fingerprint = 2, 2, "failing, 1"
    left = 10**6

    def encode(self, rows):
        return np.clip(rows * 10 + 128, 0, 255).astype(np.uint8)

    def decode(self, codes):
        Failing.left -= 1
        if Failing.left < 0:
            raise RuntimeError("out of memory")
        return (codes.astype(np.float64) - 128) / 10


@pytest.mark.parametrize("durability", [None, "batch", "example"])
def test_a_call_that_raises_any_error_has_changed_nothing(tmp_path, durability):
    Failing.left = 10**6
    one = Learner(memory=Failing())
    if durability is not None:
        one = Learner.open(tmp_path / "model", memory=Failing(), durability=durability)
    one.teach_many(ROWS[:10], LABELS[:10])
    before, Failing.left = saved(one), 30
    with pytest.raises(RuntimeError, match="out of memory"):
        one.teach_many(ROWS[10:60], LABELS[10:60])
    Failing.left = 10**6
    assert differs(saved(one), before) == []
    one.close()
    if durability is not None:
        again = Learner.open(tmp_path / "model", read_only=True, memory=Failing())
        assert differs(saved(again), before) == []


def test_a_folder_that_was_named_relatively_is_found_from_another_directory(
    tmp_path, folder, monkeypatch
):
    monkeypatch.chdir(folder.parent)
    one = Learner.open(folder.name)
    one.teach([1.0, 2.0], "a", id="before")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    one.teach([1.0, 2.5], "a", id="after")
    one.close()
    assert "after" in Learner.open(folder, read_only=True)


def test_a_reader_of_a_folder_that_was_removed_says_so(folder):
    reader = Learner.open(folder, read_only=True)
    shutil.rmtree(folder)
    with pytest.raises(MissingDataError, match="could not be read"):
        reader.reload()


def test_other_threads_wait_for_the_end_of_a_turn(folder):
    one = Learner.open(folder, durability="example")
    begun, done = threading.Event(), threading.Event()

    def teach():
        begun.wait()
        one.teach([3.0, 3.0], "a", id="thread")
        done.set()

    thread = threading.Thread(target=teach)
    thread.start()
    with one.turn():
        begun.set()
        one.teach([1.0, 1.0], "b", id="first")
        assert not done.wait(0.1)
        with one.turn():  # a block in a block
            one.teach([2.0, 2.0], "b", id="second")
    thread.join()
    assert one.ids[-3:] == ["first", "second", "thread"]
    assert Learner.open(folder, read_only=True).ids == one.ids


@pytest.mark.parametrize("call", ["teach_many", "consolidate"])
def test_a_long_call_begins_with_the_commit_of_earlier_ones(folder, monkeypatch, call):
    one, seen = Learner.open(folder), []
    one.teach([1.0, 1.0], "a", id="earlier")
    reader = Learner.open(folder, read_only=True)
    assert "earlier" not in reader
    real = steps.separable

    def look(function):
        def looking(*args):
            reader.reload()
            seen.append("earlier" in reader)
            return function(*args)

        return looking

    monkeypatch.setattr(learner, "LONG_CALL", 20)
    monkeypatch.setattr(steps, "separable", look(real))
    one.teach_many(ROWS[10:], LABELS[10:]) if call == "teach_many" else one.consolidate()
    assert seen[0]
    one.close()


def test_ids_of_examples_that_a_failed_call_restored_stay_in_the_log(tmp_path):
    Failing.left = 10**6
    one = Learner.open(tmp_path / "model", memory=Failing(), keep=10)
    one.teach_many(ROWS[:10], LABELS[:10], ids=range(10), at=0.0)
    one.flush()
    before = [entry.id for entry in one._store.database.log()]
    Failing.left = 30
    with pytest.raises(RuntimeError):
        one.teach_many(ROWS[10:60], LABELS[10:60], at=1.0)
    Failing.left = 10**6
    one.flush()
    assert [entry.id for entry in one._store.database.log()][: len(before)] == before
    one.close()
