"""What can be computed again (inner products) may be dropped: no bit changes."""

import pytest

from minout import engine
from minout.engine import pool
from minout.engine.pool import Pool
from oracle.margin import SETTINGS, differs, stream
from oracle.states import new_state, teach, written

ROWS, LABELS = stream(11, examples=90, classes=4, features=12, apart=0.35)


def drop_products(state):
    """Let every pool go on from what is saved of it, without inner products."""
    pools = state.separators.pools
    for number, old in pools.items():
        pools[number] = Pool.restored(
            old.prior, old.places, old.signs, old.alpha, old.idle, *old.saved_warm_start()
        )


def walk(drop, *, dtype, settings):
    """Teach, correct, forget and consolidate, with caches dropped between any two steps."""
    state, told = new_state(12, dtype=dtype, **settings), []

    def done(certificate):
        told.append(certificate)
        drop(state)

    for i, (x, y) in enumerate(zip(ROWS, LABELS.tolist(), strict=True)):
        done(teach(state, x, y, i).certificate)
        if i % 12 == 11:
            place = state.examples.places()[-4]
            delta = engine.relabel(state, place, (state.label_at(place) + 1) % (5 if i > 50 else 4))
            engine.apply(state, delta)
            done(delta.certificate)
        if i % 17 == 16:
            delta = engine.forget(state, state.examples.places()[[-7, -2]])
            engine.apply(state, delta)
            done(delta.certificate)
        if i == 60:
            state, _ = engine.consolidate(state)
            drop(state)
    return written(state), told


@pytest.mark.parametrize(
    ("kind", "dtype", "size"),
    [
        ("plain", "float64", "small"),
        ("plain", "float32", "large"),
        ("means", "float64", "large"),
        ("all", "float32", "small"),
        ("all", "float64", "large"),
        ("auto", "float64", "small"),
    ],
)
def test_dropping_a_cache_changes_no_bit(kind, dtype, size, monkeypatch):
    if size == "large":
        monkeypatch.setattr(pool, "CHEAP", 0)
    given = {"dtype": dtype, "settings": SETTINGS[kind]}
    usual, told = walk(lambda _: None, **given)
    other, told_otherwise = walk(drop_products, **given)
    assert differs(other, usual) == []
    assert told_otherwise == told


@pytest.mark.parametrize("room", [20_000, 180_000, 280_000, 340_000])
def test_dropping_products_changes_no_bit_where_room_is_scarce(room, monkeypatch):
    monkeypatch.setattr(pool, "CHEAP", 0)
    monkeypatch.setattr(pool, "LARGE_ROOM", room)
    given = {"dtype": "float64", "settings": SETTINGS["loose"]}
    usual, told = walk(lambda _: None, **given)
    other, told_otherwise = walk(drop_products, **given)
    assert differs(other, usual) == []
    assert told_otherwise == told


@pytest.mark.parametrize(
    ("more", "cheap"),
    [({}, pool.CHEAP), ({}, 0), ({"near_classes": 1}, pool.CHEAP)],
    ids=["small", "large", "far"],
)
def test_packing_and_unpacking_between_steps_changes_no_bit(more, cheap, monkeypatch):
    monkeypatch.setattr(pool, "CHEAP", cheap)
    kept, packed = (new_state(12, **SETTINGS["lda"], **more) for _ in range(2))
    for i, (x, y) in enumerate(zip(ROWS[:60], LABELS[:60].tolist(), strict=True)):
        teach(kept, x, y, i)
        teach(packed, x, y, i)
        about, arrays = engine.packed(packed)
        packed = engine.unpacked(about, {name: each.copy() for name, each in arrays.items()})
    assert differs(written(packed), written(kept)) == []
