"""A reader follows a database that another process makes or replaces."""

import shutil

import pytest

from minout import Learner
from minout.errors import MissingDataError


def test_a_reader_follows_a_database_that_is_replaced(tmp_path):
    for name, ids in (("a", [1, 2]), ("b", [7, 8, 9])):
        with Learner.open(tmp_path / name) as learner:
            learner.teach_many([[float(id), 1.0] for id in ids], ["x"] * len(ids), ids=ids)
    reader = Learner.open(tmp_path / "a", read_only=True)
    assert not reader.reload()
    (tmp_path / "a" / "model.sqlite").unlink()
    shutil.copy(tmp_path / "b" / "model.sqlite", tmp_path / "a" / "model.sqlite")
    assert reader.reload()
    assert reader.ids == [7, 8, 9]
    assert not reader.reload()


def test_a_reader_of_an_empty_database_checks_what_comes_into_it(tmp_path):
    writer = Learner.open(tmp_path / "m")
    reader = Learner.open(tmp_path / "m", read_only=True)
    assert not reader.reload()
    writer.teach([1.0], "x", id="one")
    writer.flush()
    assert reader.reload()
    assert reader.ids == ["one"]
    connection = writer._store.database._connection
    connection.execute("CREATE VIEW more AS SELECT 1")
    with pytest.raises(MissingDataError, match="truncated or changed"):
        Learner.open(tmp_path / "m", read_only=True)
