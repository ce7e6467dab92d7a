"""`check` finds every kind of damage, and nothing in a sound model."""

import sqlite3

import numpy as np
import pytest

from minout import Learner
from minout.errors import InvalidInputError, MissingDataError
from minout.upkeep import check

STATEMENTS = {
    "seal of an example": "UPDATE examples SET weight = 1.5 WHERE place = 3",
    "row": "UPDATE rows SET row = zeroblob(104) WHERE place = 3",
    "missing row": "DELETE FROM rows WHERE place = 3",
    "row of nobody": "INSERT INTO rows VALUES (5000, zeroblob(104))",
    "missing example": "DELETE FROM examples WHERE place = 3",
    "seal of a separator": "UPDATE separators SET value = CAST(value || x'00' AS BLOB)",
    "missing separator": "DELETE FROM separators WHERE key = 0",
    "missing image": "DELETE FROM images WHERE key = (SELECT min(key) FROM images)",
    "notes": "UPDATE parts SET value = CAST('{}' AS BLOB) WHERE key = 'notes'",
    "missing part": "DELETE FROM parts WHERE key = 'metric'",
    "sum of seals": "UPDATE head SET total = total + 1",
    "no head": "DELETE FROM head",
    "missing table": "DROP TABLE images",
    "more tables": "CREATE TABLE more (a)",
    "missing index": "DROP INDEX examples_by_version",
    "application": "PRAGMA application_id = 7",
}


def test_a_sound_model_has_no_problems(changed):
    found = check(changed)
    assert found.ok
    assert (found.problems, found.rows, found.audit.examples) == ((), 176, 176)
    assert found.records > 178


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_kind_of_damage_is_found(changed, name):
    connection = sqlite3.connect(changed / "model.sqlite", isolation_level=None)
    connection.execute(STATEMENTS[name])
    connection.close()
    found = check(changed)
    assert not found.ok
    assert found.problems
    assert all(each.endswith(".") and "\n" not in each for each in found.problems)


def test_the_sum_of_all_checksums_is_compared(changed):
    connection = sqlite3.connect(changed / "model.sqlite", isolation_level=None)
    connection.execute("UPDATE head SET total = total + 1")
    connection.close()
    assert "sum of all checksums" in check(changed).problems[0]


def test_every_byte_of_a_row_is_checked(changed):
    file = changed / "model.sqlite"
    learner = Learner.open(changed, read_only=True)
    row = learner.example(learner.ids[20])[0].tobytes()
    held = file.read_bytes()
    start, hits = held.index(row), 0
    for place in range(start, start + len(row), 13):
        damaged = bytearray(held)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        assert "was changed" in " ".join(check(changed).problems)
        hits += 1
    assert hits == 8


def test_a_record_of_an_earlier_state_is_found(changed, wine_data):
    columns = (
        "place, version, id, label, region, position, weight, time, serial, digest, corrected, seal"
    )
    connection = sqlite3.connect(changed / "model.sqlite", isolation_level=None)
    old = connection.execute(f"SELECT {columns} FROM examples WHERE place = 3").fetchone()
    connection.close()
    with Learner.open(changed) as learner:
        learner.correct(learner.ids[3], "barolo" if old[3] != '"barolo"' else "barbera")
    connection = sqlite3.connect(changed / "model.sqlite", isolation_level=None)
    marks = ", ".join("?" * 12)
    connection.execute(f"INSERT OR REPLACE INTO examples VALUES ({marks})", old)
    connection.close()
    assert not check(changed).ok


def test_a_model_that_was_never_taught_is_sound(tmp_path):
    with Learner.open(tmp_path / "m") as learner:
        learner.notes["a"] = 1
    assert check(tmp_path / "m").ok


def test_a_forgotten_model_is_sound(changed):
    with Learner.open(changed) as learner:
        learner.forget(learner.ids)
    assert check(changed).ok
    assert check(changed).rows == 0


@pytest.mark.parametrize("held", [b"", b"x" * 20_000])
def test_a_file_that_is_no_database_is_a_problem(changed, held):
    (changed / "model.sqlite").write_bytes(held)
    found = check(changed)
    assert found.problems
    assert found.audit is None


def test_the_feature_map_must_be_given_if_it_is_the_users_own(tmp_path):
    def halved(X):
        return np.asarray(X) / 2.0

    with Learner.open(tmp_path / "m", features=halved) as learner:
        learner.teach([1.0], "a")
    assert check(tmp_path / "m", features=halved).ok
    with pytest.raises(InvalidInputError, match="pass it as `features`"):
        check(tmp_path / "m")


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(MissingDataError, match="There is no model"):
        check(tmp_path / "m")
    Learner().save(tmp_path / "model.minout")
    with pytest.raises(MissingDataError, match="holds a model of an earlier version"):
        check(tmp_path)


def test_checking_goes_on_while_the_model_is_taught(changed, wine_data):
    with Learner.open(changed) as learner:
        learner.teach(wine_data[0][0] + 1.0, "barolo", id="new")
        assert check(changed).rows == 176
        learner.flush()
        assert check(changed).rows == 177
