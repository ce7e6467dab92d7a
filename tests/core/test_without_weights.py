"""With very many labels of wide rows no weights are stored, and all holds as with them."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from minout import Learner
from minout.core.separators import ROOM, WIDE, have_room
from minout.features import Identity
from oracle.margin import SETTINGS, by_label, clusters, differs, model_bits, reloaded, saved


@pytest.fixture
def no_room(monkeypatch):
    monkeypatch.setattr("minout.core.draft.have_room", lambda *_: False)


def taught(rows, labels, *, kind="loose", memory="auto"):
    learner = Learner(**SETTINGS[kind], memory=memory, features=Identity("float32"))
    learner.teach_many(rows, labels, [f"e{i}" for i in range(len(labels))])
    return learner


def drawn(seed=1):
    """Draw rows of which some have two labels, so that there are misfits."""
    rows, labels = clusters(seed, classes=8, each=6, dtype="float32")
    return np.concatenate([rows, rows[:3]]), [*labels, *((each + 1) % 8 for each in labels[:3])]


def weights_in(learner, folder):
    learner.save(folder / "model")
    with closing(sqlite3.connect(folder / "model")) as file:
        return file.execute("SELECT sum(length(w)) FROM separators").fetchone()[0]


@pytest.mark.parametrize("kind", ["plain", "loose", "scaled"])
def test_the_model_is_that_with_weights(kind, monkeypatch, tmp_path):
    rows, labels = drawn()
    stored = taught(rows, labels, kind=kind)
    monkeypatch.setattr("minout.core.draft.have_room", lambda *_: False)
    bare = taught(rows, labels, kind=kind)
    for learner in (stored, bare):
        learner.consolidate()
        assert learner.audit().ok
    assert weights_in(bare, tmp_path) == 0
    wanted = by_label(stored.inspect())
    for pair, (w, b) in by_label(bare.inspect()).items():
        assert w == pytest.approx(wanted[pair][0], rel=1e-6, abs=1e-7)
        assert b == pytest.approx(wanted[pair][1], rel=1e-6, abs=1e-7)
    assert bare.misfits == stored.misfits != []
    others = clusters(2, classes=8, dtype="float32")[0]
    assert bare.predict(others).tolist() == stored.predict(others).tolist()
    assert bare.left_out_probabilities() == pytest.approx(stored.left_out_probabilities(), abs=1e-6)


def test_no_bit_depends_on_the_order_or_on_what_was_forgotten(no_room):
    rows, labels = drawn()
    straight, rng = taught(rows, labels), np.random.default_rng(0)
    other = taught(rows[:0], [])
    for n, i in enumerate(rng.permutation(len(labels)).tolist()):
        other.teach(rows[i], labels[i], id=f"e{i}")
        if n % 4 == 1:
            other.teach(rng.normal(size=4).astype("float32"), int(rng.integers(9)), id=f"x{n}")
        if n % 4 == 3:
            other.forget(f"x{n - 2}")
        assert other.audit().ok
    other.forget([each for each in other.ids if each[0] == "x"])
    for learner in (straight, other):
        learner.consolidate()
    assert model_bits(straight) == model_bits(other)


@pytest.mark.parametrize("memory", ["auto", "uint8"])
def test_a_saved_model_is_the_same(memory, no_room):
    rows, labels = drawn()
    learner = taught(np.clip(rows, -1, 1), labels, memory=memory)
    for _ in range(2):
        again = reloaded(learner)
        assert not differs(saved(again), saved(learner))
        assert again.scores(rows).tobytes() == learner.scores(rows).tobytes()
        learner.consolidate()


def test_scores_do_not_depend_on_what_is_asked_together(no_room):
    rows, labels = drawn()
    learner = taught(rows, labels)
    alone = np.concatenate([learner.scores(row[None]) for row in rows])
    assert alone.tobytes() == learner.scores(rows).tobytes()


def test_weights_are_stored_while_there_is_room():
    assert have_room(200, 0, WIDE)
    assert have_room(2, 0, 8_192)
    pairs = ROOM // (8 * 8_192)
    labels = int(np.sqrt(2 * pairs))
    assert have_room(labels, 0, 8_192)
    assert not have_room(labels + 2, 0, 8_192)
    assert have_room(labels + 2, 2 * ROOM, 8_192)
