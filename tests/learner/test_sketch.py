"""The sketch only says whose margin need not be computed: with it or without, the same answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import Learner
from minout.features import Identity
from minout.learner import _check, _margin, _reference, _sketch
from minout.learner._check import check
from minout.learner._reference import Reference
from minout.learner._sketch import Sketch
from minout.maths import Geometry, Prior
from minout.memory import RamMemory
from minout.rules import Ground, MarginRule, Pictures, Pool
from oracle.margin import differs, snapshot

PLAIN = {"metric": False, "prior": False, "columns": False}


@pytest.fixture
def small(monkeypatch):
    """Shrinks the knobs, so that eight rows are many and eight directions few."""
    shrink(monkeypatch)


def shrink(patch):
    patch.setattr(_sketch, "DIRECTIONS", 8)
    patch.setattr(_sketch, "BLOCK", 5)
    patch.setattr(_margin, "DIRECTIONS", 8)
    patch.setattr(_margin, "MANY", 8)
    patch.setattr(_check, "MANY", 8)
    patch.setattr(_reference, "WORTH_DIVIDING", 6)


def without_sketch(patch):
    patch.setattr(_margin, "MANY", 10**9)
    patch.setattr(_check, "MANY", 10**9)


def table(rng, n, d, *, rank, offset, size, dtype):
    """Draws rows near a plane of few dimensions, far from 0 or near."""
    rows = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) / np.sqrt(rank)
    rows = size * (rows + 0.01 * rng.normal(size=(n, d)) + offset * rng.normal(size=d))
    memory = RamMemory(d, dtype)
    for row in rows.astype(dtype):
        memory.add(row, 0)
    return memory


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(["f4", "f8"]),
    offset=st.sampled_from([0.0, 1.0, 1e3, 1e5]),
    size=st.sampled_from([1e-4, 1.0, 1e6]),
    rank=st.sampled_from([2, 6, 20]),
    sign=st.sampled_from([1.0, -1.0]),
)
def test_whoever_is_below_the_bound_is_in_doubt(seed, dtype, offset, size, rank, sign):
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        rng = np.random.default_rng(seed)
        memory = table(rng, 30, 40, rank=rank, offset=offset, size=size, dtype=dtype)
        X = memory.table[:30].astype(float)
        origin = X.mean(axis=0)
        sketch = Sketch(origin, X)
        sketch.catch_up(memory)
        v = (X - origin)[:5].T @ rng.normal(size=5) / size**2
        shift, known = rng.normal(), 0.1 * rng.normal(size=30)
        margins = sign * (known + shift + (X - origin) @ v)
        rounding = 1e-13 * (np.abs(X - origin) @ np.abs(v) + 1.0)
        move = sketch.split(v)
        for bound in margins:
            listed = sketch.doubtful(known, np.arange(30), move, shift, sign, bound + 1e-9)
            assert set(np.flatnonzero(margins < bound - rounding)) <= set(listed.tolist())


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(["f4", "f8"]),
    offset=st.sampled_from([0.0, 1.0, 1e3, 1e5]),
    bound=st.sampled_from([0.5, 1.0 - 1e-9]),
)
def test_a_check_finds_the_same_with_and_without_the_sketch(seed, dtype, offset, bound):
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        rng = np.random.default_rng(seed)
        memory = table(rng, 40, 24, rank=4, offset=offset, size=1.0, dtype=dtype)
        X = memory.table[:40].astype(float)
        geometry = Geometry(X.mean(axis=0), np.ones(24), np.ones(24))
        ground = Ground(memory.table, geometry, Pictures(geometry, memory.dtype), 0.01)
        sketch, reference, pool = Sketch(geometry.origin, X), Reference(), Pool(Prior(X[0], 0.0))
        w = rng.normal(size=24) * 0.3
        for turn in range(6):
            count = 20 + 4 * turn  # more come between two checks
            sketch.catch_up(memory)
            sides = np.arange(0, count, 2), np.arange(1, count, 2)
            w = w + 0.1 ** (turn % 3) * 0.3 * rng.normal(size=24)
            b = float(rng.normal())
            lazy = check(w, b, sides, pool, ground, bound, reference, sketch)
            plain = check(w, b, sides, pool, ground, bound, Reference(), None)
            assert lazy.places.tolist() == plain.places.tolist()
            assert lazy.signs.tolist() == plain.signs.tolist()
            assert lazy.wrong.tolist() == plain.wrong.tolist()
            assert lazy.checked == plain.checked == count
            assert lazy.least <= plain.least


def walk(rows, labels, *, rule, dtype):
    """Teaches, corrects, forgets and consolidates; gives what every step told and left."""
    learner, told = Learner(rule=rule, features=Identity(dtype)), []
    for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
        told.append(learner.teach(x, int(y), id=i).certificate)
        if i % 10 == 9:
            told.append(learner.correct(i - 4, int(labels[i - 5])).certificate)
        if i % 15 == 14:
            told.append(learner.forget([i - 7, i - 2]))
        if i % 40 == 39:
            learner.consolidate()
    assert learner.audit().ok
    return learner, told


@pytest.mark.parametrize("pins", [PLAIN, {"metric": True, "prior": True, "columns": True}])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_a_walk_ends_in_the_same_bits_with_and_without_the_sketch(pins, dtype, offset, small):
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 3, 100)
    rows = rng.normal(size=(100, 20)) + 0.8 * rng.normal(size=(3, 20))[labels] + offset
    rule = MarginRule(**pins, price=0.01)
    with_it, told = walk(rows, labels, rule=rule, dtype=dtype)
    assert with_it._margin.sketch is not None
    with pytest.MonkeyPatch.context() as patch:
        without_sketch(patch)
        without, plainly_told = walk(rows, labels, rule=rule, dtype=dtype)
    assert without._margin.sketch is None
    assert differs(snapshot(with_it), snapshot(without)) == ["sketched"]
    for lazy, plain in zip(told, plainly_told, strict=True):
        assert lazy._replace(least_margin=0.0) == plain._replace(least_margin=0.0)
        assert lazy.least_margin <= plain.least_margin


def test_with_many_rows_of_many_numbers_the_sketch_spares_work_and_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(12)
    n, d = 2_300, 520
    labels = np.arange(n) % 2
    rows = rng.normal(size=(n, 40)) @ rng.normal(size=(40, d)) / 20 + 0.05 * rng.normal(size=(n, d))
    rows = (rows + 0.25 * rng.normal(size=(2, d))[labels]).astype(np.float32)

    def taught():
        learner = Learner(rule=MarginRule(**PLAIN, price=0.01), features=Identity("float32"))
        for i in range(n - 100):
            learner.teach(rows[i], int(labels[i]), id=i)
        learner.consolidate()
        looked = []
        real = _check.kernels.activations

        def counted(*args):
            looked.append(len(args[3]))
            real(*args)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_check.kernels, "activations", counted)
            told = [
                learner.teach(rows[i], int(labels[i]), id=i).certificate for i in range(n - 100, n)
            ]
            told += [
                learner.teach(-3.0 * rows[i] + k, int(labels[i])).certificate
                for k, i in enumerate([5, 6])
            ]
            told.append(learner.correct(8, 1))
            told.append(learner.forget([1, 2, 3]))
        return learner, told, sum(looked)

    lazy, told, looked = taught()
    assert lazy._margin.sketch is not None
    assert lazy.audit().ok
    without_sketch(monkeypatch)
    plain, plainly_told, looked_plainly = taught()
    assert plain._margin.sketch is None
    assert looked < 0.8 * looked_plainly
    assert differs(snapshot(lazy), snapshot(plain)) == ["sketched"]
    for pair in zip(told, plainly_told, strict=True):
        first, second = (getattr(each, "certificate", each) for each in pair)
        assert first._replace(least_margin=0.0) == second._replace(least_margin=0.0)
        assert first.least_margin <= second.least_margin


@pytest.mark.parametrize("big", [1e30, 1e60])
def test_numbers_beyond_float32_are_learned_without_a_sketch(big, small):
    rng = np.random.default_rng(13)
    learner = Learner(rule=MarginRule(**PLAIN, price=0.01))
    for i in range(40):
        learner.teach(big * (rng.normal(size=20) + i % 2), i % 2)
    assert learner._margin.sketch is None
    assert learner.audit().ok


def test_a_row_taken_back_is_described_anew(small):
    rng = np.random.default_rng(14)
    memory = table(rng, 20, 24, rank=24, offset=0.0, size=1.0, dtype="f8")
    X = memory.table[:20].copy()
    sketch, afresh = Sketch(X.mean(axis=0), X), Sketch(X.mean(axis=0), X)
    sketch.catch_up(memory)
    memory.truncate(15)
    sketch.forget_from(15)
    for _ in range(9):
        memory.add(rng.normal(size=24), 0)
    sketch.catch_up(memory)
    afresh.catch_up(memory)
    assert sketch._rows[:24] == pytest.approx(afresh._rows[:24], rel=1e-4, abs=1e-5)
    assert sketch._rest[:24] == pytest.approx(afresh._rest[:24], rel=1e-4, abs=1e-5)
