"""The log says which change moved which separators."""

import time

import pytest

from minout import InvalidInputError, Learner
from minout.engine import draft
from minout.errors import NotConverged
from minout.upkeep import read_log


def test_each_change_that_moves_something_has_an_entry(tmp_path):
    start = time.time()
    with Learner.open(tmp_path / "m") as learner:
        learner.teach([0.0, 1.0], "cat", id="a")
        learner.teach([1.0, 0.0], "dog", id="b")
        learner.teach([1.1, 0.0], "dog", id="c")  # moves nothing
        learner.correct("c", "cat")
        learner.forget("c")
        learner.consolidate()
    entries = read_log(tmp_path / "m")
    told = [(each.action, each.id, each.moved) for each in entries]
    assert told[0] == ("teach", "b", (("cat", "dog"),))
    assert [each[0] for each in told] == ["teach", "correct", "forget", "consolidate"]
    assert told[1][1] is None  # it was forgotten
    assert entries[2].details["forgotten"] == 1
    assert [each.number for each in entries] == [1, 2, 3, 4]
    assert all(start - 1 <= each.time <= time.time() + 1 for each in entries)


def test_the_log_agrees_with_the_certificates(tmp_path, wine_data):
    rows, labels, ids = (each[:60] for each in wine_data)
    with Learner.open(tmp_path / "m") as learner:
        reports = learner.teach_many(rows, labels, ids)
    moved = [(each.example_id, each.certificate) for each in reports if each.certificate.moved]
    entries = [each for each in read_log(tmp_path / "m") if each.moved]
    assert [each.id for each in entries] == [id for id, _ in moved]
    assert [each.moved for each in entries] == [found.moved for _, found in moved]
    assert [each.details["checked"] for each in entries] == [found.checked for _, found in moved]


@pytest.mark.parametrize("settings", [{}, {"keep": 30}], ids=["all", "window"])
def test_the_log_never_names_what_is_not_stored(tmp_path, wine_data, settings):
    rows, labels, ids = (each[:90] for each in wine_data)
    with Learner.open(tmp_path / "m", **settings) as learner:
        for row, label, id in zip(rows, labels, ids, strict=True):
            learner.teach(row, label, id=id)
        learner.forget(learner.ids[:5])
        learner.flush()
        named = {each.id for each in read_log(tmp_path / "m")} - {None}
        assert named
        assert named <= set(learner.ids)


def test_a_call_that_was_undone_is_not_in_the_log(tmp_path, monkeypatch):
    def settle(*args):
        calls.append(args)
        if len(calls) == 2:
            raise NotConverged("on purpose")
        return real(*args)

    with Learner.open(tmp_path / "m", refresh="manual") as learner:
        learner.teach_many([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
        learner.flush()
        before = read_log(tmp_path / "m")
        real, calls = draft.settle, []
        monkeypatch.setattr(draft, "settle", settle)
        with pytest.raises(InvalidInputError, match="scale the features"):
            learner.teach_many([[0.9, 0.1], [0.1, 0.9]], ["a", "b"])
        monkeypatch.setattr(draft, "settle", real)
        learner.teach([0.0, 1.1], "a")
        learner.flush()
    assert len(calls) == 2
    assert read_log(tmp_path / "m") == before
