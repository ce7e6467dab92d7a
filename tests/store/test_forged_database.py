"""Databases with right checksums that no model has are refused in one sentence."""

import json

import numpy as np
import pytest

from faults import database_content, forge_database
from faults.database_content import building
from faults.models import whitened
from minout import Learner
from minout.errors import MissingDataError
from minout.store import encode_arrays
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


@pytest.mark.parametrize("version", [0, 2**62])
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
    "nested": '{"moved": [[["a"], "b"]]}',
    "many pairs": json.dumps({"moved": [["a", "b"]] * 101}),
    "no count": '{"checked": "x"}',
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


def test_a_number_in_the_log_after_which_there_is_no_other_is_damage(content, tmp_path):
    with building(tmp_path / "copy", *content) as connection:
        connection.execute("UPDATE log SET number = ? WHERE number = 1", (2**63 - 1,))
    with pytest.raises(MissingDataError):
        read_log(tmp_path / "copy")
    with Learner.open(tmp_path / "copy", durability="example") as learner:
        with pytest.raises(MissingDataError):
            learner.forget(learner.ids[0])
        assert len(learner) == len(content[1]["rows"])


@pytest.mark.parametrize("place", [0, 5], ids=["used", "free"])
@pytest.mark.parametrize("position", [-1, 2**62])
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


def test_a_part_that_no_model_has_is_refused(content, tmp_path):
    with building(tmp_path / "copy", *content) as connection:
        value = encode_arrays({"K": np.ones(3)})
        connection.execute("INSERT INTO parts VALUES ('more', ?, 0)", (value,))
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
