"""Databases with right checksums that no model has are refused in one sentence."""

import json
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from faults import database_content, forge_database
from faults.database_content import building
from faults.models import far, hats, whitened
from minout import Learner
from minout.errors import MissingDataError
from minout.features import Identity
from minout.store import DamagedRecord, decode_arrays, encode_arrays
from minout.upkeep import check, read_log, repair


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return _stored(whitened(), tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def content(folder):
    """Return metadata and arrays of a model, with free places and a log."""
    return database_content.read(folder)


def _stored(learner, folder):
    learner.store_in(folder)
    learner.correct(8, 7)
    learner.close()
    return folder


def _refused(folder):
    """Open a folder to write and to read; return whether both are refused in the same sentence."""
    for read_only in (False, True):
        with pytest.raises(MissingDataError, match=r"is not a minout model, or it was truncated"):
            Learner.open(folder, read_only=read_only)
    return True


@pytest.mark.parametrize("version", [0, -1, 2**62, 2**63 - 1])
def test_a_full_model_whose_number_of_the_state_is_absurd_is_refused(content, tmp_path, version):
    with building(tmp_path / "copy", *content) as connection:
        connection.execute("UPDATE head SET version = ?", (version,))
    assert _refused(tmp_path / "copy")
    _, arrays = database_content.read(tmp_path / "copy")
    assert len(arrays["rows"]) == len(content[1]["rows"])


def test_the_last_state_that_can_be_numbered_is_read_but_not_changed(content, tmp_path):
    with building(tmp_path / "copy", *content) as connection:
        connection.execute("UPDATE head SET version = ?", (2**62 - 1,))
    with Learner.open(tmp_path / "copy", durability="example") as learner:
        before = learner.ids
        with pytest.raises(MissingDataError):
            learner.forget(before[0])
        assert learner.ids == before
    assert Learner.open(tmp_path / "copy", read_only=True).ids == before


DETAILS = {
    "no JSON": "[1",
    "deep": "[" * 99_999,
    "a list": "[]",
    "no pairs": '{"moved": 3}',
    "one label": '{"moved": [["a"]]}',
    "nested": '{"moved": [[["a"], "b"]]}',
    "many pairs": json.dumps({"moved": [["a", "b"]] * 101}),
    "no count": '{"checked": "x"}',
    "no ids": '{"forgotten_ids": [[1]]}',
    "no seconds": '{"refresh_seconds": NaN}',
}


@pytest.mark.parametrize("name", DETAILS)
def test_an_entry_of_the_log_that_cannot_be_read_is_damage_everywhere(content, tmp_path, name):
    with building(tmp_path / "copy", *content) as connection:
        count = connection.execute("SELECT count(*) FROM log").fetchone()[0]
        connection.execute("INSERT INTO log VALUES (?, 1.0, 'x', NULL, ?)", (99, DETAILS[name]))
    with pytest.raises(MissingDataError):
        read_log(tmp_path / "copy")
    assert "1 entries of the log cannot be read." in check(tmp_path / "copy").problems
    learner = Learner.open(tmp_path / "copy", durability="example")
    label, before = learner.classes.tolist()[0], learner.ids
    with pytest.raises(MissingDataError):
        learner.forget_class(label)
    assert learner.ids == before
    with pytest.raises(MissingDataError):
        learner.compact()
    learner.close()
    assert repair(tmp_path / "copy").lost == 0
    assert len(read_log(tmp_path / "copy")) > count
    with Learner.open(tmp_path / "copy") as learner:
        learner.forget_class(label)


@pytest.mark.parametrize("time", [1e300, -1e300, float("inf"), 1e14], ids=str)
def test_a_time_in_the_log_that_no_calendar_has_is_damage(content, tmp_path, time):
    with building(tmp_path / "copy", *content) as connection:
        connection.execute("UPDATE log SET time = ?", (time,))
    with pytest.raises(MissingDataError):
        read_log(tmp_path / "copy")


def test_a_number_in_the_log_after_which_there_is_no_other_is_damage(content, tmp_path):
    with building(tmp_path / "copy", *content) as connection:
        connection.execute("UPDATE log SET number = ? WHERE number = 1", (2**63 - 1,))
    with pytest.raises(MissingDataError):
        read_log(tmp_path / "copy")
    with Learner.open(tmp_path / "copy", durability="example") as learner:
        with pytest.raises(MissingDataError):
            learner.forget(learner.ids[0])
        assert len(learner) == len(content[1]["rows"])


def test_thousands_of_labels_are_refused_before_their_pairs_are_listed(content, tmp_path):
    about, arrays = content
    labels = [*about["state"]["labels"], *range(1_000, 4_000)]
    about = {**about, "state": {**about["state"], "labels": labels}}
    database_content.write(tmp_path / "copy", about, arrays)
    tracemalloc.start()
    try:
        assert _refused(tmp_path / "copy")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("place", [0, 5], ids=["used", "free"])
@pytest.mark.parametrize("position", [-1, 2**62, 2**63 - 1])
def test_a_position_after_which_there_is_no_other_is_refused(content, tmp_path, position, place):
    about, arrays = content
    positions = arrays["examples.position"].copy()
    positions[place] = position
    database_content.write(tmp_path / "copy", about, {**arrays, "examples.position": positions})
    assert _refused(tmp_path / "copy")


def test_earlier_labels_of_a_place_that_is_free_are_refused(content, tmp_path):
    with building(tmp_path / "copy", *content) as connection:
        connection.execute("UPDATE examples SET id = '\"\"' WHERE place = 0")
        connection.execute("UPDATE examples SET corrected = '[1]' WHERE id IS NULL")
    assert _refused(tmp_path / "copy")


@pytest.mark.parametrize("number", range(len(forge_database.HEADERS)))
def test_a_header_that_lies_is_a_damaged_record(number):
    header = forge_database.HEADERS[number].encode()
    with pytest.raises(DamagedRecord):
        decode_arrays(len(header).to_bytes(8, "little") + header)


def test_a_number_without_an_axis_is_a_damaged_record():
    header = b'[["a", "<f8", []]]'
    with pytest.raises(DamagedRecord):
        decode_arrays(len(header).to_bytes(8, "little") + header + bytes(8))


def test_arrays_without_numbers_are_read_as_they_were_written():
    arrays = {"a": np.zeros((0, 5)), "b": np.zeros((3, 0), dtype=np.int64), "c": np.zeros(0)}
    found = decode_arrays(encode_arrays(arrays))
    assert {name: each.shape for name, each in found.items()} == {
        "a": (0, 5),
        "b": (3, 0),
        "c": (0,),
    }


@pytest.mark.parametrize("make", [hats, far], ids=["hats", "far"])
def test_an_array_in_the_part_of_others_is_refused(tmp_path, make):
    about, arrays = database_content.read(_stored(make(), tmp_path / "model"))
    names = [name.split(".", 2)[1:] for name in arrays if name.startswith("parts.")]
    tried = 0
    for other in dict.fromkeys(part for part, _ in names):
        part, name = next(each for each in names[tried:] + names if each[0] != other)
        moved = {**arrays, f"parts.{other}.{name}": arrays[f"parts.{part}.{name}"]}
        database_content.write(tmp_path / other, about, moved)
        assert _refused(tmp_path / other)
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize("name", ["more", "", "sums "])
def test_a_part_that_no_model_has_is_refused(content, tmp_path, name):
    with building(tmp_path / "copy", *content) as connection:
        value = encode_arrays({"K": np.ones(3)})
        connection.execute("INSERT INTO parts VALUES (?, ?, 0)", (name, value))
    assert _refused(tmp_path / "copy")


TABLES = ("examples", "rows", "separators", "images", "log", "sqlite_master")


@pytest.mark.parametrize("table", TABLES)
def test_a_table_whose_pages_repeat_ends(content, tmp_path, table):
    forge_database.repeat_pages(*content, tmp_path / "copy", table, levels=4)
    if table == "log":
        with Learner.open(tmp_path / "copy", durability="example") as learner:
            with pytest.raises(MissingDataError):
                learner.forget(learner.ids[0])
            with pytest.raises(MissingDataError):
                learner.compact()
    else:
        assert _refused(tmp_path / "copy")
    assert not check(tmp_path / "copy").ok


def test_a_number_that_is_zero_in_single_precision_is_stored_as_zero(tmp_path):
    class Double:
        dtype, fingerprint = np.dtype(np.float32), "in double precision"

        def transform(self, X):
            return np.asarray(X, dtype=np.float64)

    for number, features in enumerate((Identity("float32"), Double())):
        folder = tmp_path / str(number)
        with Learner.open(folder, features=features) as learner:
            learner.teach([-1e-60, 1.0], "a", id="one")
            learner.teach_many([[-1e-60, 1.0], [0.0, 1.0]], ["a", "a"], ["two", "three"])
            assert not any(np.signbit(learner.example(each)[0]).any() for each in learner.ids)
        with closing(sqlite3.connect(folder / "model.sqlite")) as connection:
            digests = connection.execute("SELECT DISTINCT digest FROM examples").fetchall()
        assert len(digests) == 1


def test_the_log_of_a_database_that_was_emptied_is_not_lost(tmp_path):
    learner = whitened()
    learner.store_in(tmp_path / "model")
    learner.forget(learner.ids[0])
    learner.flush()
    copy = Path(shutil.copytree(tmp_path / "model", tmp_path / "copy"))
    learner.close()
    (copy / "model.sqlite").write_bytes(b"")
    size = (copy / "model.sqlite-wal").stat().st_size
    assert _refused(copy)
    assert (copy / "model.sqlite-wal").stat().st_size == size > 0
    assert repair(copy).lost == 0
    assert Learner.open(copy, read_only=True).ids == learner.ids
