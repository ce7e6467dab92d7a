"""A learner in a folder answers as one in RAM does, to the last bit, also when opened again."""

import time

import numpy as np
import pytest

from long import LONG
from minout import InvalidInputError, Learner, model_store, steps
from minout.errors import MinoutError
from minout.features import Identity
from oracle.margin import differs, saved
from oracle.operations import KINDS, drawn, perform

DURABILITIES = ("example", "batch")
FLOAT32 = ("straight", "newest 30", "far", "regions and hats")
"""Kinds that have rows of float32 with "batch"; the others have them with "example"."""


def same(one, other):
    """Compare the bits of two learners."""
    return differs(saved(one), saved(other)) == []


PAIRS = [
    (kind, each)
    for n, kind in enumerate(KINDS)
    for each in DURABILITIES
    if LONG or each == DURABILITIES[n % 2]
]


@pytest.mark.parametrize(("kind", "durability"), PAIRS)
def test_every_call_does_in_a_folder_what_it_does_in_ram(tmp_path, kind, durability):
    rng, settings = np.random.default_rng(len(kind)), KINDS[kind]
    features = Identity("float32" if (kind in FLOAT32) == (durability == "batch") else "float64")
    ram = Learner(features=features, **settings)
    learner = Learner.open(tmp_path, durability=durability, features=features, **settings)
    reader, done = Learner.open(tmp_path, read_only=True), set()  # before there is anything
    for number in range(70 if LONG else 32):
        operation = drawn(rng, ram, number)
        done.add(operation[0])
        assert perform(learner, operation) == perform(ram, operation), operation
        assert same(ram, learner), operation
        if number % 9 == 0:
            learner.close()
            learner = Learner.open(tmp_path, durability=durability)
            assert same(ram, learner), operation
        if durability == "example" or number % 7 == 0:
            learner.flush()
            reader.reload()
            assert same(ram, reader), operation
    assert {"teach", "correct"} <= done
    learner.close()
    again = Learner.open(tmp_path, read_only=True)
    assert same(ram, again)
    assert again.audit().ok == ram.audit().ok


@pytest.mark.parametrize("durability", DURABILITIES)
def test_a_refused_call_leaves_the_folder_as_it_was(tmp_path, durability):
    learner = Learner.open(tmp_path, durability=durability)
    learner.teach([0.0, 1.0], "a", id="first")
    learner.teach([1.0, 0.0], "b")
    learner.flush()
    before = saved(learner)
    calls = [
        lambda: learner.teach([1.0], "a"),
        lambda: learner.teach([2.0, 0.0], "a", id="first"),
        lambda: learner.correct("nobody", "a"),
        lambda: learner.forget("nobody"),
        lambda: learner.forget_class("c"),
        lambda: learner.set_keep("soon"),
        lambda: learner.teach_many([[5.0, 5.0], [1.0]], ["a", "b"]),
    ]
    for call in calls:
        with pytest.raises(InvalidInputError):
            call()
        assert saved(learner) == before
        assert saved(Learner.open(tmp_path, read_only=True)) == before


@pytest.mark.parametrize("durability", DURABILITIES)
def test_notes_survive(tmp_path, durability):
    with Learner.open(tmp_path, durability=durability) as learner:
        learner.notes["how"] = ["by", "hand"]
        learner.teach([0.0, 1.0], "a")
    with Learner.open(tmp_path, durability=durability) as learner:
        learner.notes["why"] = None  # and no call but close
    assert Learner.open(tmp_path, read_only=True).notes == {"how": ["by", "hand"], "why": None}


def test_notes_that_are_not_json_are_refused_by_a_call_that_commits(tmp_path):
    learner = Learner.open(tmp_path, durability="example")
    learner.teach([0.0, 1.0], "a", id=1)
    learner.notes["what"] = {1, 2}
    with pytest.raises(InvalidInputError, match="must be plain JSON"):
        learner.teach([1.0, 1.0], "b", id=2)
    assert learner.ids == [1]
    assert learner.notes == {"what": {1, 2}}
    del learner.notes["what"]
    learner.teach([1.0, 1.0], "b", id=2)
    assert Learner.open(tmp_path, read_only=True).ids == [1, 2]


def test_notes_that_are_not_json_cost_no_example_of_a_group(tmp_path):
    learner = Learner.open(tmp_path, durability="batch")
    learner.teach([0.0, 1.0], "a", id=1)
    learner.notes["what"] = {1, 2}
    with pytest.raises(InvalidInputError, match="must be plain JSON"):
        learner.flush()
    with pytest.raises(MinoutError, match="must be plain JSON"):
        learner.close()
    assert learner.ids == [1]
    learner.notes.clear()
    learner.teach([1.0, 1.0], "b", id=2)
    learner.close()
    assert Learner.open(tmp_path, read_only=True).ids == [1, 2]


def test_a_folder_in_which_nothing_was_taught_is_removed(tmp_path):
    Learner.open(tmp_path / "some" / "where").close()
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_examples_can_be_opened_again(tmp_path):
    for durability in DURABILITIES:
        ram, learner = Learner(), Learner.open(tmp_path / durability, durability=durability)
        for each in (ram, learner):
            each.set_keep(5)
            each.notes["n"] = 1
        learner.close()
        learner = Learner.open(tmp_path / durability, durability=durability)
        assert same(ram, learner)
        for each in (ram, learner):
            each.teach([1.0, 2.0], "a")
            each.forget(0)
            each.teach([1.0, 3.0], "a")
        learner.close()
        assert same(ram, Learner.open(tmp_path / durability, read_only=True))


def test_a_part_of_a_call_is_not_committed_while_the_rest_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(model_store, "BATCH_SECONDS", 0.01)
    learner, real = Learner.open(tmp_path, durability="batch"), steps.taught
    learner.teach([0.0, 1.0], "a", id="first")
    learner.flush()
    reader, seen = Learner.open(tmp_path, read_only=True), set()

    def slow(*args):
        time.sleep(0.15)
        reader.reload()
        seen.add(len(reader))
        return real(*args)

    monkeypatch.setattr(steps, "taught", slow)
    learner.teach_many([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], ["a", "b", "b"])
    assert seen == {1}
    learner.close()
    reader.reload()
    assert len(reader) == 4
