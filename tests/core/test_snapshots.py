"""A state never changes: whatever is done with it, whoever holds it sees the same."""

import gc
import threading

import numpy as np
import pytest

from minout import Learner, core
from minout.core import pool
from minout.core import state as state_module
from minout.core.state import Move
from minout.features import Encoder
from oracle.margin import SETTINGS as PINNED
from oracle.margin import clusters, stream
from oracle.states import contents, new_state, taught_state, teach

SETTINGS = {
    **PINNED,
    "far": PINNED["lda"] | {"C": 5.0, "near_classes": 1},
    "window": PINNED["loose"] | {"keep": 12},
    "missing": PINNED["loose"] | {"missing": "mean"},
    "regions": PINNED["loose"] | {"regions": 2, "expand": 3},
}


KINDS = ["teach", "teach", "update", "relabel", "forget"]


def a_step(state, rng, number):
    """Return the state after one random step of any kind."""
    places, x = state.examples.places(), rng.normal(size=2) * 2.0
    label, kind = int(rng.integers(6)), rng.choice(KINDS)
    if len(places) < 4 or kind == "teach":
        return teach(state, x, label, f"n{number}").state
    place = int(rng.choice(places))
    if kind == "update":
        return core.update(state, place, x).state
    if kind == "relabel":
        return core.relabel(state, place, label).state
    if number % 5:
        return core.forget(state, np.sort(rng.choice(places, 2, replace=False))).state
    return core.consolidate(state)[0]


@pytest.mark.parametrize("kind", SETTINGS)
def test_no_later_step_changes_what_a_state_shows(kind, monkeypatch):
    monkeypatch.setattr(state_module, "FEW", 4)  # places are numbered anew very often
    rng, state = np.random.default_rng(len(kind)), new_state(2, **SETTINGS[kind])
    held = []
    for number in range(60):
        state = a_step(state, rng, number)
        if number % 7 == 3:  # branches: steps from an older state
            a_step(held[-2][0], rng, 1000 + number)
        held.append((state, contents(state)))
        assert core.audit(state).ok, number
        assert [contents(old) == seen for old, seen in held[-12:]] == [True] * len(held[-12:])
    assert all(contents(old) == seen for old, seen in held)


@pytest.mark.parametrize("cheap", [pool.CHEAP, 0], ids=["small pools", "large pools"])
def test_a_step_that_is_given_up_leaves_no_trace_in_the_next_one(cheap, monkeypatch):
    monkeypatch.setattr(pool, "CHEAP", cheap)
    rows, labels = clusters(2, classes=4, each=8, features=2, apart=1.0)
    for kind, settings in SETTINGS.items():
        state = taught_state(rows, labels, **settings)
        again = taught_state(rows, labels, **settings)
        for i in range(3):
            teach(state, rows[i] + 0.3, 5, f"given up {i}")
        one, other = (contents(teach(each, rows[4], 2, "new").state) for each in (state, again))
        assert [name for name in one if one[name] != other[name]] == [], kind


def test_an_id_that_is_taught_again_does_not_show_in_an_older_state():
    rows, labels = stream(3, examples=12, features=2, apart=0.5)
    state = taught_state(rows, labels.tolist(), **PINNED["loose"])
    place = state.place_of("e3")
    without = core.forget(state, np.array([place])).state
    again = teach(without, [9.0, 9.0], 0, "e3").state
    assert (state.place_of("e3"), without.place_of("e3")) == (place, None)
    assert again.row_at(again.place_of("e3")).tolist() == [9.0, 9.0]
    assert state.row_at(place).tolist() == rows[3].tolist()


def test_a_reader_does_not_wait_for_a_step():
    begun, go_on, learned = threading.Event(), threading.Event(), []

    def slow(X):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            go_on.wait(60)
        return X

    learner = Learner(features=Encoder(slow, name="slow", dtype="float64"))
    learner.teach_many([[0.0, 0.0], [1.0, 1.0]], ["a", "b"])
    thread = threading.Thread(target=lambda: learned.append(learner.teach([2.0, 2.0], "c")))
    thread.start()
    assert begun.wait(60)
    assert learner.predict([[0.9, 1.0]]).tolist() == ["b"]
    assert (len(learner), learner.audit().ok, learned) == (2, True, [])
    go_on.set()
    thread.join(60)
    assert (len(learner), len(learned)) == (3, 1)


def moves():
    gc.collect()
    return sum(type(each) is Move for each in gc.get_objects())


def test_the_last_move_does_not_hold_on_to_the_one_before_it():
    rng = np.random.default_rng(1)
    learner, before, moved = Learner(), moves(), 0
    for i in range(40):
        moved += bool(learner.teach(rng.normal(size=3), i % 4).certificate.moved)
    assert moved > 10
    assert learner.partition()
    assert moves() == before + 1


def test_a_block_that_fails_leaves_examples_and_notes_as_they_were():
    learner = Learner()
    learner.teach_many([[0.0], [1.0]], ["a", "b"])
    learner.notes["seen"] = [1]

    def block():
        with learner.turn():
            learner.teach([2.0], "c")
            learner.notes["more"] = True
            raise KeyError

    with pytest.raises(KeyError):
        block()
    assert (len(learner), learner.notes) == (2, {"seen": [1]})
