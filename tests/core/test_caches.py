"""What can be computed again (inner products) may be dropped: no bit changes."""

import pytest

from minout import core
from minout.core import pool
from oracle.margin import SETTINGS, differs, stream
from oracle.states import contents, new_state, teach

ROWS, LABELS = stream(11, examples=90, classes=4, features=12, apart=0.35)


def walk(change, *, dtype, settings):
    """Teach, correct, forget and consolidate, with a change of the state between any two steps."""
    state, told = new_state(12, dtype=dtype, **settings), []
    for i, (x, y) in enumerate(zip(ROWS, LABELS.tolist(), strict=True)):
        steps = [lambda state, x=x, y=y, i=i: teach(state, x, y, i)]
        if i % 12 == 11:
            labels = 5 if i > 50 else 4
            steps.append(lambda state, n=labels: relabelled(state, state.examples.places()[-4], n))
        if i % 17 == 16:
            steps.append(lambda state: core.forget(state, state.examples.places()[[-7, -2]]))
        if i == 60:
            steps.append(consolidated)
        for step in steps:
            state, certificate, *_ = step(state)
            state = change(state)
            told.append(certificate)
    return contents(state), told


def consolidated(state):
    state, done = core.consolidate(state)
    return state, done.certificate


def relabelled(state, place, labels):
    return core.relabel(state, place, (state.label_at(place) + 1) % labels)


def drop_products(state):
    state.separators.drop_products()
    return state


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("plain", "float32"), ("all", "float32"), ("all", "float64"), ("auto", "float64")],
)
def test_dropping_inner_products_changes_no_bit(kind, dtype):
    given = {"dtype": dtype, "settings": SETTINGS[kind]}
    usual, told = walk(lambda state: state, **given)
    other, told_otherwise = walk(drop_products, **given)
    assert differs(other, usual) == []
    assert told_otherwise == told


@pytest.mark.parametrize("room", [0, 20_000])
def test_large_pools_end_at_the_same_model_where_room_is_scarce(room, monkeypatch):
    def audited(state):
        assert core.audit(state).ok
        states.append(state)
        return state

    monkeypatch.setattr(pool, "CHEAP", 0)
    states, given = [], {"dtype": "float64", "settings": SETTINGS["loose"]}
    walk(audited, **given)
    monkeypatch.setattr(pool, "LARGE_ROOM", room)
    walk(audited, **given)
    middle = len(states) // 2
    for one, other in zip(states[:middle:9], states[middle::9], strict=True):
        assert one.names(one.misfits()) == other.names(other.misfits())
        ours, theirs = (core.consolidate(each)[0].scores(ROWS) for each in (one, other))
        assert ours.tobytes() == theirs.tobytes()
