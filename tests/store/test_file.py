"""One file: sentences for what can be wrong with it, views, audit, repair, copies, traces."""

import re
import shutil
import sqlite3
import tracemalloc
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from minout import Learner, store
from minout.errors import InvalidInputError, MissingDataError, UnwritableError
from minout.features import Identity
from store.models import CODEC, SETTINGS, answers, differing, questions, rows_and_labels, taught

SECRET = "zq-secret"
DOCS = Path(__file__).parents[2] / "docs" / "format.md"


def changed(path, *statements):
    """Change a file as somebody does who knows SQL."""
    connection = sqlite3.connect(path)
    for each in statements:
        connection.execute(each)
    connection.commit()
    connection.close()


# What can be wrong


def test_each_thing_that_can_be_wrong_has_its_sentence(tmp_path):
    taught("plain").save(tmp_path / "good")
    for name, statement in {
        "newer": "PRAGMA user_version=99",
        "other": "PRAGMA application_id=1",
        "empty": "DROP VIEW moves",
    }.items():
        shutil.copyfile(tmp_path / "good", tmp_path / name)
        changed(tmp_path / name, statement)
    (tmp_path / "text").write_text("hello " * 500)
    (tmp_path / "folder").mkdir()
    changed(tmp_path / "foreign", "CREATE TABLE a (b)")
    for name, sentence in {
        "newer": "was written by a newer version of minout; update minout to read it",
        "other": "is not a minout model",
        "foreign": "is not a minout model",
        "empty": "is not a minout model, or it was truncated or damaged",
        "text": "is not a minout model: its first bytes are not those of an SQLite file",
        "folder": "is a folder, not a file",
        "nothing": "There is no file",
    }.items():
        with pytest.raises(MissingDataError, match=sentence):
            Learner.load(tmp_path / name)
        if name != "nothing":
            with pytest.raises((MissingDataError, UnwritableError)):
                Learner.open(tmp_path / name)
    with pytest.raises(UnwritableError, match=r"There is no folder .*; make it first"):
        Learner.open(tmp_path / "no" / "where")
    with pytest.raises(InvalidInputError, match="`durability` must be"):
        Learner.open(tmp_path / "m", durability="batch")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("kind", ["plain", "codes"])
def test_settings_codec_and_map_must_be_those_of_the_model(tmp_path, kind):
    taught(kind).save(tmp_path / "m")
    with pytest.raises(InvalidInputError, match=r"was made with C=5\.0, not 6\.0"):
        Learner.open(tmp_path / "m", C=6.0)
    with pytest.raises(InvalidInputError, match="a model knows the rows of one map only"):
        Learner.load(tmp_path / "m", features="scattering")
    if kind == "plain":
        with pytest.raises(InvalidInputError, match="stores rows as they are"):
            Learner.load(tmp_path / "m", memory=CODEC)


# What people read


def test_the_queries_of_the_documentation_tell_what_the_learner_does(tmp_path):
    learner = Learner.open(tmp_path / "m")
    rows, labels = rows_and_labels(5, 60)
    names = {"c0": "cat", "c1": "dog", "c2": "cow"}
    learner.teach_many(rows, [names[each] for each in labels], at=1_700_000_000.0)
    learner.correct(3, "dog" if learner.example(3)[1] != "dog" else "cat")
    counts, misfits, moves = re.findall(r"```sql\n(.*?)\n```", DOCS.read_text(), re.DOTALL)
    connection = sqlite3.connect(tmp_path / "m")
    labelled = [learner.example(each)[1] for each in learner.ids]
    found = connection.execute(counts).fetchall()
    assert {label: n for label, n, _ in found} == {n: labelled.count(n) for n in set(labelled)}
    assert sum(n for *_, n in found) == len(learner.misfits) > 0
    assert [id for id, *_ in connection.execute(misfits)] == list(learner.misfits)
    assert {at for *_, at in connection.execute(misfits)} == {"2023-11-14 22:13:20"}
    logged = [
        (each.action, each.id)
        for each in store.read_log(tmp_path / "m")
        for pair in each.moved
        if set(pair) == {"cat", "dog"}
    ]
    assert [(action, id) for _, action, id in connection.execute(moves)] == logged
    assert ("correct", 3) in logged
    pending = connection.execute("SELECT id FROM examples WHERE pending").fetchall()
    assert {id for (id,) in pending} == set(learner.pending)


# Audit, repair, copies


@pytest.mark.parametrize("kind", SETTINGS)
def test_repair_rescues_every_example_that_is_intact(tmp_path, kind):
    learner, path = taught(kind), tmp_path / "m"
    learner.save(path)
    lost = learner.ids[4]
    changed(path, f"UPDATE examples SET weight = 77.0 WHERE id = {lost}", "DELETE FROM separators")
    health = store.audit(path)
    assert not health.ok
    assert any(f"damaged or missing: 1 ({lost})" in each for each in health.problems)
    before = path.read_bytes()
    repair = store.repair(path, tmp_path / "new")
    assert path.read_bytes() == before
    assert (repair.examples, repair.lost, repair.lost_ids) == (len(learner) - 1, 1, (lost,))
    assert repair.lost_parts == ()
    found = Learner.load(tmp_path / "new")
    learner.forget(lost)
    learner.consolidate()
    assert answers(found)[2:] == answers(learner)[2:]
    assert np.allclose(found.scores(questions()), learner.scores(questions()), rtol=1e-9)
    assert store.audit(tmp_path / "new").ok


def test_repair_keeps_rows_of_zeros_in_single_precision(tmp_path):
    learner = Learner(features=Identity("float32"))
    learner.teach_many([[0, 0], [1, 0], [0, 0], [0, 1]], ["a", "b", "a", "b"])
    learner.save(tmp_path / "m")
    assert store.repair(tmp_path / "m", tmp_path / "new").examples == 4
    assert Learner.load(tmp_path / "new").example(0)[0].dtype == np.float32


def test_rows_that_are_mostly_zeros_take_little_room_and_are_rescued_too(tmp_path):
    rows = np.repeat(np.eye(40), 10, axis=1)
    learner = Learner()
    learner.teach_many(rows, [0, 1] * 20)
    learner.save(tmp_path / "m")
    with closing(sqlite3.connect(tmp_path / "m")) as connection:
        ((stored,),) = connection.execute("SELECT sum(length(row)) FROM rows")
    assert 20 * stored < rows.nbytes
    assert store.repair(tmp_path / "m", tmp_path / "new").examples == 40
    for name in ("m", "new"):
        model = Learner.load(tmp_path / name)
        assert (np.array([model.example(n)[0] for n in range(40)]) == rows).all()


def test_a_row_that_grows_beyond_its_width_is_refused(tmp_path):
    taught("plain").save(tmp_path / "m")
    bomb = zlib.compress(bytes(10**7)).hex()
    changed(tmp_path / "m", f"UPDATE rows SET row = x'{bomb}' WHERE key = 0")
    with pytest.raises(MissingDataError, match="damaged"):
        Learner.load(tmp_path / "m")
    room = 2 * (tmp_path / "m").stat().st_size
    bomb = zlib.compress(bytes(100 * room)).hex()
    changed(tmp_path / "m", f"UPDATE rows SET row = x'{bomb}' WHERE key < 3")
    tracemalloc.start()
    assert "damaged or missing: 3" in " ".join(store.audit(tmp_path / "m").problems)
    assert tracemalloc.get_traced_memory()[1] < 200 * room  # not three rows of 100
    tracemalloc.stop()


def test_repair_says_what_else_was_lost(tmp_path):
    taught("hats").save(tmp_path / "m")
    changed(tmp_path / "m", "DELETE FROM frame", "DELETE FROM log")
    repair = store.repair(tmp_path / "m", tmp_path / "new")
    assert repair.lost_parts == ("settings", "feature map", "columns and labels", "notes")
    assert Learner.load(tmp_path / "new").ids == taught("hats").ids
    changed(tmp_path / "m", "DELETE FROM rows")
    with pytest.raises(MissingDataError, match=r"Nothing in .* can be rescued"):
        store.repair(tmp_path / "m", tmp_path / "other")


def test_a_page_that_is_damaged_costs_its_examples_only(tmp_path):
    learner = Learner()
    rng = np.random.default_rng(0)
    learner.teach_many(rng.normal(size=(400, 50)), rng.integers(0, 2, 400).tolist())
    learner.save(tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    at = content.find(np.asarray(learner.example(200)[0]).tobytes())
    content[at : at + 3000] = bytes(3000)
    (tmp_path / "m").write_bytes(bytes(content))
    repair = store.repair(tmp_path / "m", tmp_path / "new")
    assert 0 < repair.lost < 40
    assert repair.examples + repair.lost == 400


def test_a_copy_of_a_live_file_is_one_file_and_a_new_one(tmp_path):
    learner = taught("hats", learner=Learner.open(tmp_path / "m", **SETTINGS["hats"]))
    with learner.turn():  # commits the notes
        shown = []
    store.copy(tmp_path / "m", tmp_path / "copy", shown.append)
    assert shown[-1] == 1.0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copy", "m", "m-shm", "m-wal"]
    assert differing(tmp_path / "copy", learner) == []
    with pytest.raises(UnwritableError, match="There is already a"):
        store.copy(tmp_path / "m", tmp_path / "copy")
    assert store.audit(tmp_path / "copy").ok


# Traces


def traces(folder, rows, *texts):
    """Name the files that hold a number of some rows, or a text."""
    numbers = np.unique(np.asarray(rows, dtype=np.float64))
    wanted = [each.tobytes() for each in numbers] + [text.encode() for text in texts]
    files = [each for each in folder.iterdir() if each.is_file()]
    return {each.name for each in files for number in wanted if number in each.read_bytes()}


@pytest.mark.parametrize(
    "settings", [{}, {"expand": 3}, {"keep": 40}], ids=["auto", "hats", "keep"]
)
def test_compacting_leaves_no_trace_of_what_was_forgotten(tmp_path, settings):
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 3, 60)
    rows = 3.0 * np.eye(3, 4)[numbers] + rng.normal(size=(60, 4))
    ids = [f"{SECRET}-{n}" if n in (0, 7, 11) else n for n in range(60)]
    learner = Learner.open(tmp_path / "m", **settings)
    learner.teach_many(rows[:30], [f"kind{n}" for n in numbers[:30]], ids[:30], at=np.arange(30.0))
    learner.correct(f"{SECRET}-7", f"{SECRET}-label")
    assert traces(tmp_path, rows[[0, 7]], SECRET)
    learner.teach_many(
        rows[30:], [f"kind{n}" for n in numbers[30:]], ids[30:], at=np.arange(30.0, 60)
    )
    learner.forget([each for each in learner.ids if str(each).startswith(SECRET)])
    assert learner.compact()
    assert traces(tmp_path, rows[[0, 7, 11]], SECRET) == set()
    assert traces(tmp_path, rows[40:41])  # the test can find what is there
    learner.close()
    assert traces(tmp_path, rows[[0, 7, 11]], SECRET) == set()
    assert store.audit(tmp_path / "m").ok


def test_compacting_is_pending_while_another_connection_reads(tmp_path):
    learner = taught("plain", learner=Learner.open(tmp_path / "m"))
    other = sqlite3.connect(tmp_path / "m", isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT * FROM meta").fetchall()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minout.store.file.PATIENCE", 0.05)
        learner.forget(learner.ids[0])
        assert not learner.compact()
    other.close()
    assert learner.compact()


def test_a_copy_without_its_write_ahead_log_is_told_so(tmp_path):
    writer = Learner.open(tmp_path / "m")
    writer.teach([1.0], "a")
    (tmp_path / "copy").write_bytes((tmp_path / "m").read_bytes())
    with pytest.raises(MissingDataError, match="copy-wal belongs to it"):
        Learner.open(tmp_path / "copy", read_only=True)
    writer.close()
