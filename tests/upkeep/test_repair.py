"""A damaged model is rebuilt from the examples that are intact."""

import shutil
import sqlite3

import numpy as np
import pytest

from long import LONG
from minout import Learner, ScalarCodec
from minout.errors import MissingDataError
from minout.store.schema import ExampleRecord
from minout.upkeep import check, damaged_files, read_log, repair

PAGE = 8_192
OURS = {"model.sqlite", "model.sqlite-wal", "model.sqlite-shm", ".lock"}


def examples(folder):
    """Everything that is stored of each example, by id."""
    learner = Learner.open(folder, read_only=True)
    return {
        id: (
            learner.example(id)[0].tobytes(),
            learner.example(id)[1],
            learner.weight(id),
            learner.corrected.get(id),
        )
        for id in learner.ids
    }


def sql(folder, *statements):
    connection = sqlite3.connect(folder / "model.sqlite", isolation_level=None)
    connection.execute("PRAGMA writable_schema=OFF")
    for statement in statements:
        connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def intact(folder):
    """The ids whose record and row SQLite still finds, and that match their checksums."""
    connection = sqlite3.connect(folder / "model.sqlite", isolation_level=None)
    fields = ", ".join(ExampleRecord._fields)
    found = set()
    for place in range(178):
        try:
            record = connection.execute(
                f"SELECT {fields}, seal FROM examples WHERE place = ?", (place,)
            ).fetchone()
            row = connection.execute("SELECT row FROM rows WHERE place = ?", (place,)).fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            continue
        if record and row and record[1] and ExampleRecord(*record[:-1]).seal() == record[-1]:
            found.add((record[1], bytes(row[0])))
    connection.close()
    return found


def expect_repaired(folder, before):
    """Repair; what is there is what was there, and the model is sound."""
    still = {id for id, row in intact(folder) if before.get(id.strip('"'), [None])[0] == row}
    assert not check(folder).ok
    if not still:  # SQLite finds nothing, such as if the page that lists the tables is damaged
        with pytest.raises(MissingDataError, match="Nothing in"):
            repair(folder)
        return None
    done = repair(folder)
    after = examples(folder)
    assert after.items() <= before.items()
    assert {f'"{id}"' for id in after} >= still
    assert done.examples == len(after)
    assert done.lost >= len(before) - len(after)
    assert not set(done.lost_ids) & set(after)
    assert check(folder).ok
    assert Learner.open(folder, read_only=True).is_consolidated
    return done, after


def test_a_sound_model_is_left_as_it_is(changed):
    before = (changed / "model.sqlite").read_bytes()
    done = repair(changed)
    assert (done.was_sound, done.examples, done.lost, done.kept) == (True, 176, 0, None)
    assert (changed / "model.sqlite").read_bytes() == before
    assert damaged_files(changed) == []


@pytest.mark.parametrize("page", range(1, 16) if LONG else (4, 8, 12))
def test_a_page_of_zeros_costs_what_was_on_it(changed, page):
    before, file = examples(changed), changed / "model.sqlite"
    held = file.read_bytes()
    file.write_bytes(held[: (page - 1) * PAGE] + bytes(PAGE) + held[page * PAGE :])
    expect_repaired(changed, before)


@pytest.mark.parametrize("seed", range(40) if LONG else range(4, 7))
def test_flipped_bytes_cost_the_records_that_they_hit(changed, seed):
    before, file, rng = examples(changed), changed / "model.sqlite", np.random.default_rng(seed)
    held = bytearray(file.read_bytes())
    places = rng.integers(0, len(held), size=4 * (seed + 1))
    if not np.any([held[place] for place in places]):
        places[0] = held.index(b"bottle-")
    for place in places.tolist():
        held[place] ^= int(rng.integers(1, 256))
    file.write_bytes(held)
    if check(changed).ok:  # all hit bytes that are not in use
        assert repair(changed).was_sound
        assert examples(changed) == before
        return
    expect_repaired(changed, before)


@pytest.mark.parametrize("name", ["separators", "log"])
def test_a_table_that_can_be_computed_again_costs_nothing(changed, name):
    before = examples(changed)
    sql(changed, f"DROP TABLE {name}")
    done, after = expect_repaired(changed, before)
    assert (after, done.lost, done.lost_parts) == (before, 0, ())
    assert Learner.open(changed, read_only=True).notes == {"cellar": "north"}


def test_the_repaired_model_is_the_consolidated_one_to_the_last_bit(changed, tmp_path):
    shutil.copytree(changed, tmp_path / "sound")
    with Learner.open(tmp_path / "sound") as learner:
        learner.consolidate()
        learner.save(tmp_path / "expected")
    sql(changed, "DELETE FROM separators", "UPDATE head SET total = 0")
    repair(changed)
    Learner.open(changed, read_only=True).save(tmp_path / "repaired")
    assert (tmp_path / "repaired").read_bytes() == (tmp_path / "expected").read_bytes()


def test_without_the_parts_settings_and_notes_are_lost_but_no_example(changed):
    before = examples(changed)
    sql(changed, "PRAGMA secure_delete=ON", "DROP TABLE parts")
    done, after = expect_repaired(changed, before)
    assert after == before
    assert done.lost_parts == ("settings", "feature map", "notes")
    assert Learner.open(changed, read_only=True).settings.C == "auto"


def test_deleted_records_are_lost_and_said_to_be(changed):
    before = examples(changed)
    sql(changed, "DELETE FROM examples WHERE place IN (3, 4)", "DELETE FROM rows WHERE place = 7")
    done, after = expect_repaired(changed, before)
    assert len(after) == len(before) - 3
    assert done.lost == 3
    assert len(done.lost_ids) == 1  # that of the record without a row


def test_a_changed_label_is_noticed_and_that_example_lost(changed):
    before = examples(changed)
    sql(changed, "UPDATE examples SET label = '\"barolo\"' WHERE place = 3")
    done, after = expect_repaired(changed, before)
    assert set(done.lost_ids) == set(before) - set(after)
    assert done.lost == len(before) - len(after) == 1


def test_the_write_ahead_log_of_the_damaged_file_is_read_kept_and_not_applied_again(
    changed, wine_data, tmp_path
):
    learner = Learner.open(changed)
    learner.teach_many(wine_data[0][:20] + 0.5, wine_data[1][:20], list(range(20)))
    learner.flush()
    before = examples(changed)
    connection = sqlite3.connect(changed / "model.sqlite", isolation_level=None)
    connection.execute("DELETE FROM separators")
    copy = shutil.copytree(changed, tmp_path / "copy")  # as if the power had been cut
    connection.close()
    learner._store.abandon()
    assert (copy / "model.sqlite-wal").stat().st_size > 0
    assert repair(copy).lost == 0
    assert (copy / "model.sqlite.damaged-wal").stat().st_size > 0
    assert examples(copy) == before
    assert check(copy).ok


def test_the_damaged_file_is_kept_and_never_overwritten(changed):
    damaged = []
    for _ in range(2):
        held = bytearray((changed / "model.sqlite").read_bytes())
        held[PAGE : 2 * PAGE] = bytes(PAGE)
        (changed / "model.sqlite").write_bytes(held)
        damaged.append(bytes(held))
        repair(changed)
    names = ["model.sqlite.damaged", "model.sqlite.damaged-2"]
    assert [each.name for each in damaged_files(changed)] == names
    assert [(changed / name).read_bytes() for name in names] == damaged
    assert len(examples(changed)) == 176


@pytest.mark.parametrize("held", [b"", b"not a database" * 1000], ids=["empty", "another"])
def test_nothing_is_written_if_nothing_can_be_rescued(changed, held):
    (changed / "model.sqlite").write_bytes(held)
    with pytest.raises(
        MissingDataError, match=r"Nothing in .* can be rescued; it is left as it is"
    ):
        repair(changed)
    assert (changed / "model.sqlite").read_bytes() == held
    assert {each.name for each in changed.iterdir()} <= OURS


def test_a_repair_that_fails_leaves_everything_as_it_was(changed, monkeypatch):
    sql(changed, "DROP TABLE separators")
    before = (changed / "model.sqlite").read_bytes()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("minout.upkeep.rebuild._swap", stop)
    with pytest.raises(KeyboardInterrupt):
        repair(changed)
    assert (changed / "model.sqlite").read_bytes() == before
    assert {each.name for each in changed.iterdir()} <= OURS


def test_the_log_is_kept_and_names_the_repair(changed):
    before = read_log(changed)
    sql(changed, "DROP TABLE separators")
    repair(changed)
    after = read_log(changed)
    assert [each[1:] for each in after[:-1]] == [each[1:] for each in before]
    assert after[-1].action == "repair"


def test_a_model_with_a_function_of_the_users_own_is_repaired_without_it(tmp_path, wine_data):
    def halved(X):
        return np.asarray(X) / 2.0

    with Learner.open(tmp_path / "m", features=halved, regions=1, expand=None) as learner:
        learner.teach_many(*wine_data)
        fingerprint = learner.features.fingerprint
    sql(tmp_path / "m", "DROP TABLE separators")
    assert repair(tmp_path / "m").lost == 0
    again = Learner.open(tmp_path / "m", read_only=True, features=halved)
    assert again.features.fingerprint == fingerprint
    assert again.predict(wine_data[0][:3]).tolist() == wine_data[1][:3]


CODED = {"uint8": "uint8", "fitted": ScalarCodec(4, [-4.0] * 3, [4.0] * 3)}


class Halves:
    """A codec of the user's own: a byte for each number."""

    width, bytes_per_row, fingerprint = 3, 3, "halves, 1"

    def encode(self, rows):
        return np.clip(np.rint(2.0 * rows) + 128, 0, 255).astype(np.uint8)

    def decode(self, codes):
        return (codes.astype(np.float64) - 128) / 2.0


@pytest.mark.parametrize("name", ["fitted", "own"])
def test_a_model_of_codes_is_checked_copied_and_repaired(tmp_path, name):
    codec = Halves() if name == "own" else CODED[name]
    own = {"memory": codec} if name == "own" else {}
    rng, folder = np.random.default_rng(0), tmp_path / "model"
    with Learner.open(folder, memory=codec) as learner:
        for n in range(40):
            learner.teach(rng.normal(size=3) + n % 2, n % 2, id=n, at=float(n))
    assert check(folder, **own).ok
    reader = Learner.open(folder, read_only=True, **own)
    before = {id: np.asarray(reader.code(id)).tolist() for id in reader.ids}
    sql(folder, "UPDATE rows SET row = zeroblob(length(row)) WHERE place = 7")
    assert not check(folder, **own).ok
    done = repair(folder, **own)
    assert (done.examples, done.lost_ids) == (39, (7,))
    assert check(folder, **own).ok
    after = Learner.open(folder, read_only=True, **own)
    del before[7]
    assert {id: np.asarray(after.code(id)).tolist() for id in after.ids} == before
    after.close()
    with Learner.open(folder, **own) as learner:
        learner.teach(np.ones(3), 1, id="more")
        assert learner.audit().ok


def test_codes_without_their_codec_are_left_as_they_are(tmp_path):
    with Learner.open(tmp_path / "model", memory=CODED["fitted"]) as learner:
        learner.teach([1.0, 2.0, 3.0], "a")
    sql(tmp_path / "model", "UPDATE parts SET value = zeroblob(9) WHERE key = 'memory'")
    before = (tmp_path / "model" / "model.sqlite").read_bytes()
    with pytest.raises(MissingDataError, match="their codec cannot be read"):
        repair(tmp_path / "model")
    assert (tmp_path / "model" / "model.sqlite").read_bytes() == before


def test_rows_with_missing_values_are_rescued(tmp_path):
    rng, folder = np.random.default_rng(1), tmp_path / "model"
    rows = rng.normal(size=(20, 3))
    rows[rng.random(rows.shape) < 0.3] = np.nan
    with Learner.open(folder, missing="mean") as learner:
        for n, row in enumerate(rows):
            learner.teach(row, n % 2, id=n, at=float(n))
    assert check(folder).ok
    sql(folder, "UPDATE rows SET row = zeroblob(length(row)) WHERE place = 7")
    assert (repair(folder).examples, check(folder).ok) == (19, True)
    after = Learner.open(folder, read_only=True)
    assert all(np.array_equal(after.example(n)[0], rows[n], equal_nan=True) for n in after.ids)
