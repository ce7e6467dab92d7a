"""Folders from before there was a database: they hold one file, model.minout."""

import json
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from minout import Learner, model_folder
from minout.cli import app as cli
from minout.errors import InvalidInputError, MissingDataError, UnwritableError
from minout.store import database


@pytest.fixture
def learner():
    rng = np.random.default_rng(0)
    learner = Learner()
    for n in range(30):
        learner.teach(rng.normal(size=3) + n % 3, f"k{n % 3}", id=f"r{n}")
    learner.notes["mine"] = [1, 2]
    return learner


@pytest.fixture
def folder(tmp_path, learner):
    (tmp_path / "m").mkdir()
    learner.save(tmp_path / "m" / "model.minout")
    (tmp_path / "m" / ".model.minout.abc").write_bytes(b"left by a process that was killed")
    return tmp_path / "m"


def saved(learner, tmp_path):
    learner.save(tmp_path / "saved")
    return (tmp_path / "saved").read_bytes()


def files(folder):
    return sorted(each.name for each in folder.iterdir())


def test_it_is_read_as_it_is(folder, learner, tmp_path):
    before = files(folder)
    with Learner.open(folder, read_only=True) as opened:
        assert saved(opened, tmp_path) == (folder / "model.minout").read_bytes()
        assert opened.reload() is False
        with pytest.raises(UnwritableError, match="read only"):
            opened.forget("r0")
    assert files(folder) == before


def test_to_be_changed_it_is_imported_and_the_file_is_removed(folder, learner, tmp_path):
    with Learner.open(folder) as opened:
        assert saved(opened, tmp_path) == saved(learner, tmp_path)
        assert opened.notes == {"mine": [1, 2]}
        assert opened.audit().ok
        opened.forget("r0")
    assert files(folder) == [".lock", "model.sqlite"]
    with Learner.open(folder, read_only=True) as again:
        assert again.ids == learner.ids[1:]


def test_one_that_is_read_meanwhile_is_read_from_the_database_then(folder):
    with Learner.open(folder, read_only=True) as reader:
        with Learner.open(folder) as writer:
            writer.forget("r0")
        assert reader.reload() is True
        assert "r0" not in reader
        assert reader.reload() is False
        with Learner.open(folder) as writer:
            writer.forget("r1")
        assert reader.reload() is True
        assert "r1" not in reader


def test_one_that_is_imported_while_it_is_opened_is_read(folder, monkeypatch):
    real = model_folder.FileStore.__init__

    def imported_first(store, path):
        real(store, path)
        Learner.open(path).close()

    monkeypatch.setattr(model_folder.FileStore, "__init__", imported_first)
    with Learner.open(folder, read_only=True) as opened:
        assert len(opened) == 30
    assert not [name for name in files(folder) if "minout" in name]


@pytest.mark.parametrize("where", ["before the commit", "before the file is removed"])
def test_an_import_that_is_interrupted_is_all_or_nothing(
    folder, learner, tmp_path, monkeypatch, where
):
    place, name = (
        (database.Database, "commit")
        if where == "before the commit"
        else (model_folder, "remove_file")
    )

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(place, name, stop)
    with pytest.raises(KeyboardInterrupt):
        Learner.open(folder)
    monkeypatch.undo()
    assert "model.minout" in files(folder)
    assert saved(Learner.open(folder, read_only=True), tmp_path) == saved(learner, tmp_path)
    with Learner.open(folder) as opened:
        assert saved(opened, tmp_path) == saved(learner, tmp_path)
    assert files(folder) == [".lock", "model.sqlite"]


def test_a_killed_import_leaves_the_file(folder, learner, tmp_path):
    child = os.fork()
    if not child:  # killed in the middle of the import
        database.Database.commit = lambda *_: os.kill(os.getpid(), 9)
        Learner.open(folder)
    assert os.waitpid(child, 0)[1] == 9
    assert "model.sqlite" in files(folder)
    assert saved(Learner.open(folder, read_only=True), tmp_path) == saved(learner, tmp_path)
    Learner.open(folder).close()
    assert files(folder) == [".lock", "model.sqlite"]


def test_a_file_that_cannot_be_read_is_left_alone(folder, tmp_path):
    file = folder / "model.minout"
    file.write_bytes(file.read_bytes()[:-50])
    before = file.read_bytes()
    for read_only in (True, False):
        with pytest.raises(MissingDataError, match="truncated or changed"):
            Learner.open(folder, read_only=read_only)
    assert file.read_bytes() == before
    assert [name for name in files(folder) if name != ".lock"] == [
        ".model.minout.abc",
        "model.minout",
    ]


def test_what_was_forgotten_is_in_no_file_though_another_process_reads(folder, learner):
    row = learner.example("r0")[0].tobytes()
    with Learner.open(folder) as opened:
        opened.teach([5.0, 5.0, 5.0], "k0")
    assert any(row in each.read_bytes() for each in folder.iterdir())
    with Learner.open(folder, read_only=True):
        with Learner.open(folder) as opened:
            opened.forget("r0")
            opened.consolidate()
        assert not any(row in each.read_bytes() for each in folder.iterdir())


def test_settings_and_feature_map_must_be_those_of_the_file(folder):
    with pytest.raises(InvalidInputError, match="was made with keep='all', not 5"):
        Learner.open(folder, read_only=True, keep=5)
    with pytest.raises(InvalidInputError, match="a model knows the rows of one map only"):
        Learner.open(folder, features="random_fourier")
    assert len(Learner.open(folder, read_only=True)) == 30


def test_a_learner_is_stored_in_a_new_folder_only(learner, folder, tmp_path):
    before = files(folder)
    with pytest.raises(InvalidInputError, match="There is already a model in"):
        learner.store_in(folder)
    assert files(folder) == before
    notes, learner.notes["mine"] = learner.notes["mine"], object()
    with pytest.raises(InvalidInputError, match="must be plain JSON"):
        learner.store_in(tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()
    learner.notes["mine"] = notes
    learner.store_in(tmp_path / "new" / "folder")
    learner.close()
    with Learner.open(tmp_path / "new" / "folder") as opened:
        assert saved(opened, tmp_path) == saved(learner, tmp_path)
    with pytest.raises(InvalidInputError, match="There is already a model in"):
        Learner().store_in(tmp_path / "new" / "folder")


def test_an_old_folder_in_which_an_import_was_begun_is_audited(folder):
    database.Database(folder).close()
    assert json.loads(audited(folder))["ok"]
    with Learner.open(folder) as opened:
        opened.forget("r0")
    assert json.loads(audited(folder))["ok"]


def audited(folder):
    return CliRunner().invoke(cli.app, ["audit", str(folder), "--json"]).stdout


def test_a_timeout_that_is_raised_while_a_change_waits_is_not_told_as_an_error_of_the_folder(
    folder,
):
    alarm = TimeoutError("too late")

    def stop(_):
        raise alarm

    with Learner.open(folder) as first, Learner.open(folder, on_wait=stop) as second:
        with first.turn(), pytest.raises(TimeoutError) as caught:
            second.forget("r1")
        assert caught.value is alarm
        second.forget("r1")
        second.flush()
        assert first.reload()
