"""A model with many free places, whose examples were forgotten, takes no memory for them."""

import numpy as np
import pytest

from minout import Learner, model_reading

N, WIDTH = 240, 80
KEPT = (*range(0, N, 16), N - 1)
SETTINGS = {
    "plain": {"refresh": "manual"},
    "far": {"near_classes": 1},
    "codes": {"memory": "uint8"},
    "regions": {"regions": 2},
    "missing": {"missing": "mean"},
}


@pytest.fixture(autouse=True)
def _always_too_many(monkeypatch):
    monkeypatch.setattr(model_reading, "SPARE", -(10**9))


def rows_of(n, seed=0):
    return np.random.default_rng(seed).integers(-8, 9, (n, WIDTH)) / 8.0


def taught(folder, **settings):
    """Return a learner in a folder that has a place for each of N rows, and few examples."""
    learner = Learner.open(folder, **settings)
    with learner.turn():
        learner.teach_many(rows_of(N), [i % 4 for i in range(N)], ids=[*range(N)])
        learner.forget([i for i in range(N) if i not in KEPT])
    return learner


def answers(learner):
    stored = [learner.example(each)[0].tolist() for each in learner.ids]
    scores = learner.scores(rows_of(20, seed=1)).tolist()
    return learner.ids, learner.misfits, learner.pending, scores, stored


def test_rows_that_would_take_more_bytes_than_the_file_allows_are_not_refused(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(model_reading, "SPARE", 0)
    X = np.random.default_rng(0).normal(size=(300, 2_000))
    with Learner.open(tmp_path / "m", refresh="manual") as learner, learner.turn():
        learner.teach_many(X, [i % 2 for i in range(300)], ids=[*range(300)])
        learner.forget([*range(100), *range(105, 300)])
    assert (tmp_path / "m" / "model.sqlite").stat().st_size * 4 < X.nbytes
    with Learner.open(tmp_path / "m") as again:
        assert again.ids == [100, 101, 102, 103, 104]
        assert again.example(104)[0].tolist() == X[104].tolist()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_that_forgot_most_of_what_a_turn_taught_is_opened_and_changed(tmp_path, name):
    first = taught(tmp_path / "m", **SETTINGS[name])
    before = answers(first)
    first.close()
    with Learner.open(tmp_path / "m") as again:
        assert answers(again) == before
        assert sorted(again.inspect().places.values()) == list(range(len(KEPT)))
        assert again.audit().ok
        again.teach(rows_of(1, seed=2)[0], 0, id="new")
        again.correct(KEPT[1], 3)
        wanted = answers(again)
    with Learner.open(tmp_path / "m", read_only=True) as last:
        assert answers(last) == wanted


def test_a_reader_follows_a_model_whose_places_are_numbered_again(tmp_path):
    writer = Learner.open(tmp_path / "m", refresh="manual", durability="example")
    writer.teach_many(rows_of(4, seed=3), [0, 1, 2, 3], ids=["a", "b", "c", "d"])
    with Learner.open(tmp_path / "m", read_only=True) as reader:
        taught(tmp_path / "m").close()
        for change in (
            lambda: writer.forget(["a"]),
            lambda: writer.teach(rows_of(1, seed=4)[0], 1, id="e"),
            lambda: writer.notes.update(key="value"),
            writer.compact,
            writer.consolidate,
        ):
            change()
            writer.flush()
            reader.reload()
            assert answers(reader) == answers(writer)
            assert reader.notes == writer.notes
    writer.close()


def test_notes_alone_are_written_to_a_model_whose_places_are_numbered_again(tmp_path):
    first = taught(tmp_path / "m", refresh="manual")
    before = answers(first)
    first.close()
    with Learner.open(tmp_path / "m") as again:
        again.notes["key"] = "value"
    with Learner.open(tmp_path / "m") as last:
        assert (answers(last), last.notes) == (before, {"key": "value"})
