"""What can be computed again (products, references, sketches) may be dropped: no bit changes."""

import pytest

from minout import engine
from minout.engine import check, frame, pool, sketch
from minout.engine.pool import Pool
from minout.engine.reference import Reference
from oracle.margin import SETTINGS, differs, stream
from oracle.states import new_state, teach, written

ROWS, LABELS = stream(11, examples=110, classes=4, features=12, apart=0.35)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Shrink the limits, so that sketches and references are used for a few rows."""
    monkeypatch.setattr(check, "MANY", 8)
    monkeypatch.setattr(frame, "MANY", 8)
    monkeypatch.setattr(frame, "DIRECTIONS", 4)
    monkeypatch.setattr(sketch, "DIRECTIONS", 4)


def drop_products(state):
    """Let every pool go on from what is saved of it, without inner products."""
    pools = state.separators.pools
    for number, old in pools.items():
        pools[number] = Pool.restored(
            old.prior, old.places, old.signs, old.alpha, old.idle, *old.saved_warm_start()
        )


def drop_references(state):
    references = state.separators.references
    references.update((pair, Reference()) for pair in references)


def drop_sketch(state):
    """Describe all rows anew, along other directions: those of the rows that there are now."""
    examples, places = state.examples, state.examples.places()
    if state.frame.sketch is not None:
        new = frame.sketched(state.frame.geometry, examples.table, places, examples.digests[places])
        state.frame = state.frame._replace(sketch=new)


def drop_everything(state):
    drop_products(state)
    drop_references(state)
    drop_sketch(state)


DROPS = {
    "products": drop_products,
    "references": drop_references,
    "sketch": drop_sketch,
    "everything": drop_everything,
}


def walk(drop, *, dtype, settings):
    """Teach, correct, forget and consolidate, with caches dropped between any two steps."""
    state, told, sketched = new_state(12, dtype=dtype, **settings), [], 0

    def done(certificate):
        nonlocal sketched
        told.append(certificate)
        sketched += state.frame.sketch is not None
        drop(state)

    for i, (x, y) in enumerate(zip(ROWS, LABELS.tolist(), strict=True)):
        done(teach(state, x, y, i).certificate._replace(least_margin=0.0))
        if i % 12 == 11:
            place = state.examples.places()[-4]
            delta = engine.relabel(state, place, (state.label_at(place) + 1) % (5 if i > 50 else 4))
            engine.apply(state, delta)
            done(delta.certificate._replace(least_margin=0.0))
        if i % 17 == 16:
            delta = engine.forget(state, state.examples.places()[[-7, -2]])
            engine.apply(state, delta)
            done(delta.certificate._replace(least_margin=0.0))
        if i == 70:
            state, _ = engine.consolidate(state)
            drop(state)
    assert sketched > 20
    return written(state), told


@pytest.mark.parametrize("kind", ["plain", "means", "all", "auto"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", ["small", "large"])
def test_dropping_a_cache_changes_no_bit(size, dtype, kind, monkeypatch):
    if size == "large":
        monkeypatch.setattr(pool, "CHEAP", 0)
    given = {"dtype": dtype, "settings": SETTINGS[kind]}
    usual, told = walk(lambda _: None, **given)
    for dropped, drop in DROPS.items():
        other, told_otherwise = walk(drop, **given)
        assert differs(other, usual) == [], dropped
        assert told_otherwise == told, dropped


@pytest.mark.parametrize("room", [20_000, 100_000, 180_000, 240_000, 280_000, 300_000, 340_000])
def test_dropping_products_changes_no_bit_where_room_is_scarce(room, monkeypatch):
    monkeypatch.setattr(pool, "CHEAP", 0)
    monkeypatch.setattr(pool, "LARGE_ROOM", room)
    given = {"dtype": "float64", "settings": SETTINGS["loose"]}
    usual, told = walk(lambda _: None, **given)
    other, told_otherwise = walk(drop_products, **given)
    assert differs(other, usual) == []
    assert told_otherwise == told


@pytest.mark.parametrize("size", ["small", "large"])
def test_packing_and_unpacking_between_steps_changes_no_bit(size, monkeypatch):
    if size == "large":
        monkeypatch.setattr(pool, "CHEAP", 0)
    kept, packed = (new_state(12, **SETTINGS["lda"]) for _ in range(2))
    for i, (x, y) in enumerate(zip(ROWS[:60], LABELS[:60].tolist(), strict=True)):
        teach(kept, x, y, i)
        teach(packed, x, y, i)
        about, arrays = engine.packed(packed)
        packed = engine.unpacked(about, {name: each.copy() for name, each in arrays.items()})
    assert differs(written(packed), written(kept)) == []
