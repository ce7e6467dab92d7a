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
    if name != "row of nobody":  # nothing of it is used
        with pytest.raises(MissingDataError, match="is not a minout model"):
            Learner.open(changed, read_only=True)


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
        assert "damaged or missing: 1 ('bottle-" in " ".join(check(changed).problems)
        hits += 1
    assert hits == 8


def test_a_model_that_was_never_taught_is_sound(tmp_path):
    with Learner.open(tmp_path / "m") as learner:
        learner.notes["a"] = 1
    assert check(tmp_path / "m").ok


@pytest.mark.parametrize("count", [5, 176], ids=["some", "all"])
def test_a_row_that_is_forgotten_leaves_the_database_at_once(changed, count):
    with Learner.open(changed) as learner:
        learner.forget(learner.ids[:count])
    found = check(changed)
    assert (found.ok, found.rows) == (True, 176 - count)


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
    with pytest.raises(MissingDataError, match="holds files, but no model"):
        check(tmp_path)
