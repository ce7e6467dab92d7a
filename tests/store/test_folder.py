"""A model's folder: only a folder of ours is used, and one that stays empty is removed."""

import pytest

from minout import Learner
from minout.errors import MissingDataError
from minout.store import holds_model, prepare_folder
from minout.store.folder import remove_if_empty


def test_a_folder_is_made_with_its_parents_and_removed_with_them(tmp_path):
    path = tmp_path / "a" / "b" / "c"
    assert prepare_folder(path, create=True) == tmp_path / "a"
    assert prepare_folder(path, create=True) is None
    (path / ".lock").touch()
    remove_if_empty(path, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_model_is_not_removed(tmp_path):
    path = tmp_path / "m"
    prepare_folder(path, create=True)
    (path / "model.sqlite").touch()
    remove_if_empty(path, path)
    assert [each.name for each in path.iterdir()] == ["model.sqlite"]


@pytest.mark.parametrize("read_only", [True, False])
def test_an_empty_model_that_others_have_open_is_not_removed(tmp_path, read_only):
    with Learner.open(tmp_path / "m") as first:
        second = Learner.open(tmp_path / "m", read_only=read_only)
        first.close()
        writer = Learner.open(tmp_path / "m") if read_only else second
        writer.teach([1.0], "a", id="x")
        writer.close()
        second.reload()
        assert second.ids == ["x"]
        second.close()
    assert Learner.open(tmp_path / "m", read_only=True).ids == ["x"]


def test_an_empty_model_is_removed_by_the_last_that_closes_it(tmp_path):
    first, second = Learner.open(tmp_path / "m"), Learner.open(tmp_path / "m")
    second.close()
    first.close()
    assert not (tmp_path / "m").exists()


def test_what_is_no_model_is_refused_and_left_alone(tmp_path):
    (tmp_path / "file").write_text("words")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_bytes(b"cat")
    for create in (True, False):
        with pytest.raises(MissingDataError, match="is a file; a model is a folder"):
            prepare_folder(tmp_path / "file", create=create)
        with pytest.raises(MissingDataError, match="holds files, but no model"):
            prepare_folder(tmp_path / "photos", create=create)
    for name in ("file", "photos"):
        with pytest.raises(MissingDataError):
            holds_model(tmp_path / name)
    with pytest.raises(MissingDataError, match="There is no model"):
        prepare_folder(tmp_path / "m", create=False)
    assert not holds_model(tmp_path / "m")
    assert [each.name for each in (tmp_path / "photos").iterdir()] == ["cat.png"]
    assert not (tmp_path / "m").exists()
