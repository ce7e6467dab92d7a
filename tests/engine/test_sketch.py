"""The sketch says which margins need not be computed: with it or without, the same answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import Learner
from minout.engine import check as check_module
from minout.engine import frame, pool, reference, sketch
from minout.engine.check import check
from minout.engine.examples import Examples
from minout.engine.images import Images
from minout.engine.pool import Pool, Problem
from minout.engine.reference import Reference
from minout.engine.sketch import Anchor, Sketch
from minout.features import Identity
from minout.maths import Geometry, Prior
from oracle.margin import SETTINGS, differs, last_move, saved


@pytest.fixture
def small(monkeypatch):
    """Shrink the limits, so that eight rows are many and eight directions few."""
    shrink(monkeypatch)


def shrink(patch):
    patch.setattr(sketch, "DIRECTIONS", 8)
    patch.setattr(sketch, "BLOCK", 5)
    patch.setattr(frame, "DIRECTIONS", 8)
    patch.setattr(frame, "MANY", 8)
    patch.setattr(check_module, "MANY", 8)
    patch.setattr(reference, "WORTH_DIVIDING", 6)
    patch.setattr(reference, "ANCHORS", 3)


def without_sketch(patch):
    patch.setattr(frame, "MANY", 10**9)
    patch.setattr(check_module, "MANY", 10**9)


def table(rng, n, d, *, rank, offset, size, dtype):
    """Draw rows near a plane of few dimensions, far from 0 or near."""
    rows = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) / np.sqrt(rank)
    rows = size * (rows + 0.01 * rng.normal(size=(n, d)) + offset * rng.normal(size=d))
    examples = Examples(d, dtype)
    for row in rows.astype(dtype):
        examples = examples.staged(row, 0)
    return examples


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(["f4", "f8"]),
    offset=st.sampled_from([0.0, 1.0, 1e3, 1e5]),
    size=st.sampled_from([1e-4, 1.0, 1e6]),
    rank=st.sampled_from([2, 6, 20]),
    sign=st.sampled_from([1.0, -1.0]),
)
def test_every_margin_below_the_bound_is_in_doubt(seed, dtype, offset, size, rank, sign):
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        rng = np.random.default_rng(seed)
        examples = table(rng, 30, 40, rank=rank, offset=offset, size=size, dtype=dtype)
        X = examples.table[:30].astype(float)
        origin = X.mean(axis=0)
        made = Sketch(origin, X).followed(examples.table, examples.digests[:30])
        v = (X - origin)[:5].T @ rng.normal(size=5) / size**2
        shift, known = rng.normal(), 0.1 * rng.normal(size=30)
        margins = sign * (known + shift + (X - origin) @ v)
        rounding = 1e-13 * (np.abs(X - origin) @ np.abs(v) + 1.0)
        w, since = rng.normal(size=40), rng.integers(0, 2, 30)
        moved = made.changes(w, 2.0, [Anchor(w - v, 2.0 - shift), Anchor(w - v, 2.0 - shift)])
        for bound in margins:
            listed = made.doubtful(known, since, np.arange(30), moved, sign, bound + 1e-9)
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
        examples = table(rng, 40, 24, rank=4, offset=offset, size=1.0, dtype=dtype)
        X = examples.table[:40].astype(float)
        geometry = Geometry(X.mean(axis=0), np.ones(24), np.ones(24))
        images = Images(geometry, examples.dtype)
        problem = Problem(examples.table, examples.weights, geometry, images, 0.01)
        made, known = Sketch(geometry.origin, X), Reference()
        own = Pool(Prior(X[0], 0.0))
        w = rng.normal(size=24) * 0.3
        for turn in range(12):
            count = min(20 + 4 * turn, 40)  # more come between two checks
            made = made.followed(examples.table, examples.digests[:count])
            sides = np.arange(0, count, 2), np.arange(1, count, 2)
            w = w + 0.1 ** (turn % 3) * 0.3 * rng.normal(size=24)
            b = float(rng.normal())
            lazy = check(w, b, sides, own, problem, bound, known, made)
            plain = check(w, b, sides, own, problem, bound, Reference(), None)
            assert lazy.places.tolist() == plain.places.tolist()
            assert lazy.signs.tolist() == plain.signs.tolist()
            assert lazy.misfits.tolist() == plain.misfits.tolist()
            assert lazy.checked == plain.checked == count
            assert lazy.least <= plain.least


def walk(rows, labels, *, dtype, **settings):
    """Teach, correct, forget and consolidate; return what every step told and left."""
    learner, told = Learner(**settings, features=Identity(dtype)), []
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


@pytest.mark.parametrize("cheap", [0, pool.CHEAP], ids=["large", "small"])
@pytest.mark.parametrize("kind", ["plain", "all"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_a_walk_ends_in_the_same_bits_with_and_without_the_sketch(
    kind, dtype, offset, cheap, small, monkeypatch
):
    monkeypatch.setattr(pool, "CHEAP", cheap)  # large pools are checked one by one
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 3, 100)
    rows = rng.normal(size=(100, 20)) + 0.8 * rng.normal(size=(3, 20))[labels] + offset
    settings = SETTINGS[kind] | {"C": 50.0}
    with_it, told = walk(rows, labels, dtype=dtype, **settings)
    assert with_it.inspect().sketched
    with pytest.MonkeyPatch.context() as patch:
        without_sketch(patch)
        without, plainly_told = walk(rows, labels, dtype=dtype, **settings)
    assert not without.inspect().sketched
    assert differs(saved(with_it), saved(without)) == ["about.sketched"]
    assert last_move(with_it) == last_move(without)
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
        learner = Learner(**SETTINGS["plain"], features=Identity("float32"))
        for i in range(n - 100):
            learner.teach(rows[i], int(labels[i]), id=i)
        learner.consolidate()
        measured = []
        real = check_module.kernels.activations

        def counted(*args):
            measured.append(len(args[3]))
            real(*args)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(check_module.kernels, "activations", counted)
            told = [
                learner.teach(rows[i], int(labels[i]), id=i).certificate for i in range(n - 100, n)
            ]
            told += [
                learner.teach(-3.0 * rows[i] + k, int(labels[i])).certificate
                for k, i in enumerate([5, 6])
            ]
            told.append(learner.correct(8, 1))
            told.append(learner.forget([1, 2, 3]))
        return learner, told, sum(measured)

    lazy, told, measured = taught()
    assert lazy.inspect().sketched
    assert lazy.audit().ok
    without_sketch(monkeypatch)
    plain, plainly_told, measured_plainly = taught()
    assert not plain.inspect().sketched
    assert measured < 0.8 * measured_plainly
    assert differs(saved(lazy), saved(plain)) == ["about.sketched"]
    for pair in zip(told, plainly_told, strict=True):
        first, second = (getattr(each, "certificate", each) for each in pair)
        assert first._replace(least_margin=0.0) == second._replace(least_margin=0.0)
        assert first.least_margin <= second.least_margin


@pytest.mark.parametrize("big", [1e30, 1e60])
def test_numbers_beyond_float32_are_learned_without_a_sketch(big, small):
    rng = np.random.default_rng(13)
    learner = Learner(**SETTINGS["plain"])
    for i in range(40):
        learner.teach(big * (rng.normal(size=20) + i % 2), i % 2)
    assert not learner.inspect().sketched
    assert learner.audit().ok


def test_a_row_taken_back_is_described_anew(small):
    rng = np.random.default_rng(14)
    examples = table(rng, 15, 24, rank=24, offset=0.0, size=1.0, dtype="f8")
    X = examples.table[:15].copy()
    origin = X.mean(axis=0)
    short, given_up = Sketch(origin, X).followed(examples.table, examples.digests[:15]), examples
    for _ in range(5):
        given_up = given_up.staged(rng.normal(size=24), 0)
    short.followed(given_up.table, given_up.digests[:20])
    for _ in range(9):
        examples = examples.staged(rng.normal(size=24), 0)
    after = short.followed(examples.table, examples.digests[:24])
    afresh = Sketch(origin, X).followed(examples.table, examples.digests[:24])
    places = np.arange(24)
    for _ in range(20):
        v, known = rng.normal(size=24), rng.normal(size=24)
        changes = after.changes(v, 0.5, [Anchor(np.zeros(24), 0.0)])
        for bound in (-1.0, 0.0, 1.0):
            asked = known, np.zeros(24, dtype=np.int64), places, changes, 1.0, bound
            assert after.doubtful(*asked).tolist() == afresh.doubtful(*asked).tolist()
