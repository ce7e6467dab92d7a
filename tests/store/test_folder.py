"""A model's folder: one process at a time changes it, and nobody else's folder is touched."""

import subprocess
import sys

import pytest

from minout.errors import MissingDataError, UnwritableError
from minout.store import ModelFolder, atomic_write


def saved(path):
    with ModelFolder(path, create=True) as folder:
        atomic_write(folder.file, b"model", "A model")
    return path


def test_a_folder_is_made_and_found_again(tmp_path):
    with ModelFolder(tmp_path / "a" / "b", create=True) as folder:
        assert folder.is_new
        atomic_write(folder.file, b"model", "A model")
    with ModelFolder(tmp_path / "a" / "b") as folder:
        assert not folder.is_new
        assert folder.file.read_bytes() == b"model"


def test_a_folder_in_which_nothing_was_saved_is_gone_again(tmp_path):
    with ModelFolder(tmp_path / "m", create=True):
        pass
    assert not (tmp_path / "m").exists()


def test_what_is_no_model_is_refused_and_left_alone(tmp_path):
    (tmp_path / "file").write_text("words")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"cat")
    with (
        pytest.raises(MissingDataError, match="is a file; a model is a folder"),
        ModelFolder(tmp_path / "file", create=True),
    ):
        pass
    with (
        pytest.raises(MissingDataError, match="holds files, but no model"),
        ModelFolder(tmp_path / "photos", create=True),
    ):
        pass
    with pytest.raises(MissingDataError, match="There is no model"), ModelFolder(tmp_path / "m"):
        pass
    assert [each.name for each in (tmp_path / "photos").iterdir()] == ["cat.png"]
    assert not (tmp_path / "m").exists()


def test_two_processes_do_not_change_one_model(tmp_path):
    path = saved(tmp_path / "m")
    script = (
        "import sys; from minout.store import ModelFolder\n"
        "with ModelFolder(sys.argv[1]): print('in', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "in\n"
        with pytest.raises(UnwritableError, match="Another process"), ModelFolder(path):
            pass
        with ModelFolder(path, shared=True) as folder:  # reading is always possible
            assert folder.file.read_bytes() == b"model"
        other.kill()
    with ModelFolder(path):  # and a process that was killed holds nothing
        pass


def test_what_a_killed_save_left_is_taken_away_under_the_lock(tmp_path):
    path = tmp_path / "m"
    path.mkdir()
    for name in (".model.minout.abc", ".lock"):
        (path / name).write_bytes(b"half")
    with pytest.raises(MissingDataError, match="There is no model in"), ModelFolder(path):
        pass
    with ModelFolder(path, create=True) as folder:
        atomic_write(folder.file, b"model", "A model")
        (path / ".model.minout.def").write_bytes(b"of whoever holds the lock")
        with pytest.raises(UnwritableError, match="Another process"), ModelFolder(path):
            pass
        assert (path / ".model.minout.def").exists()
    with ModelFolder(path, shared=True):
        assert (path / ".model.minout.def").exists()
    with ModelFolder(path):
        assert {each.name for each in path.iterdir()} == {".lock", "model.minout"}
