"""Many pools at a time: each as if it were alone, to the last bit, whatever was kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels, maths
from minout.engine import batch, pool
from minout.engine.batch import solve_and_measure
from minout.engine.images import Images
from minout.engine.pool import Pool, Problem
from minout.maths import Geometry, Prior
from oracle.eighths import drawn

ROWS = 24
TOLERANCE = 1e-3


def problem(rng, d, *, lam=0.1, dtype="f8"):
    weights = rng.choice([1.0, 0.5, 3.0], ROWS)
    table, A = rng.normal(size=(ROWS, d)).astype(dtype), rng.normal(size=(d, d))
    K = A @ A.T + np.eye(d)
    geometry = Geometry(drawn(rng, d), K, np.linalg.inv(K))
    return Problem(table, weights, geometry, Images(geometry, np.dtype(dtype)), lam)


def made(rng, d, count, *, leans=True):
    """Make pools of some of the rows, half of them with signs +1, at any α."""
    pools = []
    for _ in range(count):
        each = Pool(Prior(drawn(rng, d) if leans else np.zeros(d), 0.25 if leans else 0.0))
        places = rng.permutation(ROWS)[: rng.integers(0, 9)]
        each.join(places, np.where(places < ROWS // 2, 1.0, -1.0))
        each.alpha = np.maximum(drawn(rng, len(places)), 0.0)
        pools.append(each)
    return pools


def sides(rng, count):
    halves = np.arange(ROWS // 2), np.arange(ROWS // 2, ROWS)
    return [tuple(half[: rng.integers(1, len(half))] for half in halves) for _ in range(count)]


def contents(each):
    return [each.places.tolist(), each.signs.tolist(), each.alpha.tolist(), each.idle.tolist()]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 9999),
    count=st.integers(1, 5),
    d=st.sampled_from([1, 3, 33, 70, 131]),
    dtype=st.sampled_from(["f4", "f8"]),
    leans=st.booleans(),
)
def test_each_pool_is_solved_and_measured_as_if_alone(seed, count, d, dtype, leans):
    rng = np.random.default_rng(seed)
    here = problem(rng, d, dtype=dtype)
    pools, both = made(rng, d, count, leans=leans), sides(rng, count)
    here.images.of(here.table, np.arange(ROWS))
    alone = [each.fork() for each in pools]
    found = solve_and_measure(pools, both, here, -np.inf, TOLERANCE)
    for each, twin, side, one in zip(pools, alone, both, found, strict=True):
        twin.solve(here)
        w, b = twin.weights(here)
        assert contents(each) == contents(twin)
        assert one.w.tolist() == w.tolist()
        assert one.b == b
        places = np.concatenate(side)
        margins = np.empty(len(places))
        kernels.activations(w, b, here.table, places, here.geometry.origin, margins)
        margins *= np.repeat([1.0, -1.0], [len(side[0]), len(side[1])])
        assert one.margins.tolist() == margins.tolist()
        assert one.least == margins.min()


@settings(max_examples=40)
@given(seed=st.integers(0, 9999), bound=st.sampled_from([-1.0, 0.0, 0.5, 1.0]))
def test_settled_says_that_no_example_is_a_misfit_or_short(seed, bound):
    rng = np.random.default_rng(seed)
    here = problem(rng, 3)
    pools, both = made(rng, 3, 4), sides(rng, 4)
    for each, side, one in zip(
        pools, both, solve_and_measure(pools, both, here, bound, TOLERANCE), strict=True
    ):
        slacks = here.lam * each.alpha / here.weights[each.places]
        slack = dict(zip(each.places.tolist(), slacks, strict=True))
        settled = all(
            margin >= bound
            or (margin > 0 and place in slack and margin + slack[place] >= bound - TOLERANCE)
            for place, margin in zip(np.concatenate(side).tolist(), one.margins, strict=True)
        )
        assert one.is_settled == settled


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["join", "leave", "restart", "solve"]), max_size=8), st.integers(0))
def test_what_is_kept_changes_no_bit(operations, seed):
    walked = []
    for room in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pool, "SMALL_ROOM", room)
            rng = np.random.default_rng(seed % 10_000)
            here = problem(rng, 40)
            here.images.of(here.table, np.arange(ROWS))
            each, places = Pool(Prior(np.zeros(40), 0.0)), rng.permutation(ROWS).tolist()
            everybody = [(np.arange(ROWS // 2), np.arange(ROWS // 2, ROWS))]
            for operation in ["join", "solve", *operations, "join", "solve"]:
                if operation == "join" and places:
                    some = np.array([places.pop() for _ in range(min(5, len(places)))])
                    each.join(some, np.where(some < ROWS // 2, 1.0, -1.0))
                elif operation == "leave":
                    each = each.without(each.places[1:3], here)
                elif operation == "restart":
                    each.restart(Prior(drawn(rng, 40), 0.5))
                else:
                    (one,) = solve_and_measure([each], everybody, here, 0.5, TOLERANCE)
                    assert (each.products() is not None) == (room > 0 or not len(each.places))
            walked.append([*contents(each), one.w.tolist(), one.b])
    assert walked[0] == walked[1]


def test_members_that_were_idle_too_long_leave_when_all_is_settled():
    geometry = Geometry(np.zeros(1), np.ones(1), np.ones(1))
    table = np.array([[1.0], [-1.0], [40.0]])
    here = Problem(table, np.ones(len(table)), geometry, Images(geometry, np.dtype("f8")), 0.1)
    each = Pool(Prior(np.zeros(1), 0.0))
    each.join(np.arange(3), np.array([1.0, -1.0, 1.0]))
    for _ in range(pool.IDLE + 1):
        assert each.places.tolist() == [0, 1, 2]
        solve_and_measure([each], [(np.array([0, 2]), np.array([1]))], here, 0.5, TOLERANCE)
    assert each.places.tolist() == [0, 1]
    (one,) = solve_and_measure([each], [(np.array([0, 2]), np.array([1]))], here, 0.5, TOLERANCE)
    wanted = maths.separator(table[:2], np.array([1.0, -1.0]), geometry, each.prior, 0.1)
    assert one.w == pytest.approx(wanted.w)
    assert each.alpha == pytest.approx(wanted.alpha)


def test_a_pool_that_is_not_solved_is_left_as_it_was(monkeypatch):
    rng = np.random.default_rng(3)
    here = problem(rng, 2)
    pools = made(rng, 2, 3)
    before = [contents(each) for each in pools]

    def fail_on_the_second(first, last, *rest):
        settle(first, last, *rest)
        verdicts = rest[-2]
        verdicts[1] = kernels.UNSOLVED

    settle = kernels.settle_pools
    monkeypatch.setattr(kernels, "settle_pools", fail_on_the_second)
    found = solve_and_measure(pools, sides(rng, 3), here, 0.5, TOLERANCE)
    assert [one is None for one in found] == [False, True, False]
    assert contents(pools[1]) == before[1]
    assert contents(pools[0]) != before[0]


def test_a_divided_batch_gives_the_same_bits(monkeypatch):
    answers, asked = [], []

    def counted(function, items):
        asked.append(len(items))
        return [function(item) for item in items]

    for worth in (10**12, 0):
        rng = np.random.default_rng(5)
        here = problem(rng, 40)
        pools, both = made(rng, 40, 9), sides(rng, 9)
        monkeypatch.setattr(batch, "WORTH_DIVIDING", worth)
        monkeypatch.setattr(kernels, "in_threads", counted)
        found = solve_and_measure(pools, both, here, 0.5, TOLERANCE)
        answers.append([(one.w.tolist(), one.b, one.margins.tolist()) for one in found])
        answers[-1] += [contents(each) for each in pools]
    assert answers[0] == answers[1]
    assert max(asked) > 1
