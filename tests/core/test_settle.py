"""Settled separators are the plain optimum over all examples of two classes.

They are alike to the last bit, whatever else is settled in the same call, in however many threads.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import Learner, kernels, maths
from minout.codecs import Uint8Codec
from minout.core import pool, settle
from minout.core.images import Images
from minout.core.pool import Problem
from minout.core.table import CodedRows
from minout.errors import NotConverged
from minout.features import Identity
from minout.kernels import Pool, Task
from minout.maths import NO_EXPANSION, Geometry, Prior
from oracle.eighths import drawn
from oracle.margin import SETTINGS, everything

SIZES = (30, 14, 9, 22, 5)
ROWS = sum(SIZES)
PAIRS = [*itertools.combinations(range(len(SIZES)), 2)]


def problem(rng, d, *, lam=0.1, full=True, dtype="f8", precise=True, scale=1.0):
    table = (scale * rng.normal(size=(ROWS, d))).astype(dtype)
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    inverse = np.linalg.inv(K) if full else 1.0 / K
    geometry = Geometry(drawn(rng, d), K, inverse if precise else None)
    weights = rng.choice([1.0, 0.25, 2.0, 9.0], ROWS)
    return Problem(table, weights, kernels.digests(table), geometry, Images(geometry), lam)


def jobs(rng, d, pairs=PAIRS, *, most=12):
    """Return the work of settling separators of classes, with some of their rows in the pools."""
    members = np.split(rng.permutation(ROWS), np.cumsum(SIZES)[:-1])
    found = []
    for number, (low, high) in enumerate(pairs):
        sides, w = (members[low], members[high]), drawn(rng, d) / 4
        made = Pool()
        for side, sign in zip(sides, (1.0, -1.0), strict=True):
            some = side[: rng.integers(1, most)]
            made = made.joined(some, np.full(len(some), sign))
        found.append(Task(number, low, high, w, 0.25, made, *sides))
    return found


def assert_optimal(found, here, bound):
    *_, w, b, _, side, other = found.task
    places, signs = np.append(side, other), np.repeat([1.0, -1.0], [len(side), len(other)])
    X, weights, prior = here.table[places].astype(float), here.weights[places], Prior(w, b)
    if bound < 1.0:  # what is not in the pool has margins that are large enough
        inside = np.isin(places, found.pool.places)
        X, signs, weights = X[inside], signs[inside], weights[inside]
    wanted = maths.separator(X, signs, here.geometry, prior, here.lam, weights)
    size = 1.0 + np.abs(wanted.alpha).max(initial=0.0)
    assert found.w == pytest.approx(wanted.w, abs=1e-6 * size)
    assert found.b == pytest.approx(wanted.b, abs=1e-6 * size)


def margins_of(found, here):
    places = np.append(found.task.side, found.task.other_side)
    margins = np.empty(len(places))
    origin = here.geometry.origin
    kernels.activations(found.w, found.b, here.table, places, origin, margins)
    margins[len(found.task.side) :] *= -1.0
    return places, margins


def bits(found):
    made = found.pool
    parts = found.w, made.places, made.signs, made.alpha, made.idle, found.misfits
    return [part.tobytes() for part in parts], found.b, found.least


@pytest.mark.parametrize("cheap", [0, pool.CHEAP], ids=["large", "small"])
@given(
    seed=st.integers(0, 9999),
    d=st.sampled_from([1, 2, 3, 33]),
    lam=st.sampled_from([1e-3, 0.1, 1.0]),
    full=st.booleans(),
    dtype=st.sampled_from(["f4", "f8"]),
    bound=st.sampled_from([0.5, 1.0 - 1e-9]),
)
def test_any_pool_ends_at_the_plain_optimum(cheap, seed, d, lam, full, dtype, bound):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "CHEAP", cheap)
        rng = np.random.default_rng(seed)
        here = problem(rng, d, lam=lam, full=full, dtype=dtype)
        work = jobs(rng, d)
        for found, again in zip(
            settle.settle(work, here, bound),
            settle.settle(work, here, bound),
            strict=True,
        ):
            assert bits(found) == bits(again)
            assert_optimal(found, here, bound)
            places, margins = margins_of(found, here)
            assert {*found.misfits.tolist()} == {*places[margins <= 0.0].tolist()}
            assert found.least == margins[margins > 0.0].min(initial=np.inf)
            short = {*places[margins < bound].tolist()}
            assert short <= {*found.pool.places.tolist()}


@pytest.mark.parametrize("cheap", [0, pool.CHEAP], ids=["large", "small"])
@given(seed=st.integers(0, 9999), d=st.sampled_from([2, 9]), precise=st.booleans())
def test_any_history_ends_at_the_plain_optimum(cheap, seed, d, precise):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "CHEAP", cheap)
        rng = np.random.default_rng(seed)
        here = problem(rng, d, precise=precise)
        work = jobs(rng, d, PAIRS[:2])
        for _ in range(4):
            settled = settle.settle(work, here, 0.5)
            leaving = settled[0].pool.places[: rng.integers(0, 3)]
            following = []
            for each in settled:
                side, other = (part[~np.isin(part, leaving)] for part in each.task[-2:])
                left = each.pool.without(leaving)
                following.append(each.task._replace(pool=left, side=side, other_side=other))
            before = [each.pool.alpha.tolist() for each in following]
            done = settle.settle(following, here, 0.5)
            for each in done:
                assert_optimal(each, here, 0.5)
            # A pool is never changed.
            assert [each.pool.alpha.tolist() for each in following] == before
            again = settle.settle(following, here, 0.5)
            assert [bits(each) for each in again] == [bits(each) for each in done]
            work = following


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("d", [1, 7, 90, 300])
def test_neither_bounds_nor_threads_nor_company_change_a_bit(d, dtype, monkeypatch):
    rng = np.random.default_rng(d)
    here = problem(rng, d, dtype=dtype)
    work = jobs(rng, d)
    usual = [bits(each) for each in settle.settle(work, here, 1.0 - 1e-9)]
    fresh = here._replace(images=Images(here.geometry))
    alone = [bits(*settle.settle([each], fresh, 1.0 - 1e-9)) for each in work]
    assert alone == usual
    for enough, threads in [(1, 0), (10**9, 0), (1, 1e30)]:
        monkeypatch.setattr(settle, "ENOUGH", enough)
        monkeypatch.setattr(settle, "WORTH_THREADS", threads)
        assert [bits(each) for each in settle.settle(work, here, 1.0 - 1e-9)] == usual


@pytest.mark.parametrize("scale", [1e-42, 1e-20, 1e15, 1e30, 1e60])
def test_numbers_that_single_precision_does_not_hold_change_no_bit(scale, monkeypatch):
    rng = np.random.default_rng(2)
    here = problem(rng, 4, full=False, scale=scale)
    origin, K, _, share = here.geometry
    geometry = Geometry(scale * origin, K / scale**2, None, share)
    here = here._replace(geometry=geometry, images=Images(geometry))
    work = [each._replace(w=np.zeros(4), b=0.0) for each in jobs(rng, 4)]
    usual = [bits(each) for each in settle.settle(work, here, 0.5)]
    monkeypatch.setattr(settle, "ENOUGH", 10**9)
    assert [bits(each) for each in settle.settle(work, here, 0.5)] == usual


def test_codes_are_settled_as_the_rows_that_they_stand_for(monkeypatch):
    rng = np.random.default_rng(1)
    codec = Uint8Codec().for_width(6)
    table = CodedRows(codec.encode(rng.normal(size=(ROWS, 6))), codec, np.float64, NO_EXPANSION)
    here = problem(rng, 6)
    work = jobs(rng, 6)
    rows = here._replace(table=table[np.arange(ROWS)], images=Images(here.geometry))
    usual = [bits(each) for each in settle.settle(work, rows, 0.5)]
    coded = here._replace(table=table)
    for numbers in (2**22, 50):
        monkeypatch.setattr(settle, "NUMBERS", numbers)
        for _ in range(2):  # the second time images are known
            assert [bits(each) for each in settle.settle(work, coded, 0.5)] == usual


@pytest.mark.parametrize("seed", range(3))
def test_equal_margins_join_by_digest_whatever_their_places(seed):
    n, rng = 200, np.random.default_rng(seed)
    digests = np.frombuffer(rng.bytes(16 * n), dtype="S16")
    table = np.ones((n, 1))
    table[n // 2 :] = -1.0
    geometry = Geometry(np.zeros(1), np.ones(1), None)
    here = Problem(table, np.ones(n), digests, geometry, Images(geometry), 1e-4)
    sides = rng.permutation(n // 2), n // 2 + rng.permutation(n // 2)
    made = Pool().joined(sides[1][:1], np.array([-1.0]))
    work = [Task(0, 0, 1, np.zeros(1), 0.0, made, *sides)]
    (found,) = settle.settle(work, here, 1.0 - 1e-9)
    first = found.pool.places[1:25]
    mine = sides[0]  # they are the worst at first, all alike
    assert first.tolist() == mine[np.argsort(digests[mine])][:24].tolist()


def test_what_has_no_optimum_in_double_precision_is_said():
    rng = np.random.default_rng(0)
    here = problem(rng, 3, full=False, precise=False)
    here.table[0, 0] = np.inf
    work = jobs(rng, 3)
    with pytest.raises(NotConverged, match="did not settle"):
        settle.settle(work, here, 0.5)


@pytest.mark.parametrize(("kind", "dtype"), [("plain", "float64"), ("all", "float32")])
def test_a_model_does_not_depend_on_what_was_bounded(kind, dtype, monkeypatch):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, 150)
    rows = rng.normal(size=(150, 8)) + 0.9 * rng.normal(size=(5, 8))[labels]

    def walked(enough, threads):
        monkeypatch.setattr(settle, "WORTH_THREADS", threads)
        monkeypatch.setattr(settle, "ENOUGH", enough)
        learner = Learner(**SETTINGS[kind], features=Identity(dtype))
        learner.teach_many(rows[:120], labels[:120].tolist(), at=0.0)
        learner.consolidate()
        learner.teach_many(rows[120:], labels[120:].tolist(), at=0.0)
        assert learner.misfits
        return everything(learner)

    exact = walked(10**9, 1e30)
    assert walked(1, 0.0) == exact
