"""A model with many free places, whose examples were forgotten, takes no memory for them."""

import numpy as np
import pytest

from long import LONG
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


@pytest.mark.parametrize("name", SETTINGS if LONG else ["plain", "far", "codes"])
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
