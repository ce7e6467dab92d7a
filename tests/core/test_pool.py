"""Pools: the plain optimum whatever is kept between solves, and many at a time as if alone."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
from minout.core import pool
from minout.core.batch import solve_and_measure
from minout.core.images import Images
from minout.core.pool import Pool, Problem
from minout.maths import Geometry, Prior
from oracle.eighths import arrays, drawn

ROWS = 90
MANY = 70
"""So many rows in few dimensions are solved by w, all by themselves."""
OPERATIONS = st.lists(
    st.sampled_from(["join", "leave", "restart", "fork", "trim", "solve"]), max_size=12
)


def problem(rng, d, *, lam=0.1, full=True, dtype="f8", precise=True):
    table = drawn(rng, ROWS, d).astype(dtype)
    A = drawn(rng, d, d)
    K = A @ A.T + np.eye(d) if full else 0.5 + rng.integers(0, 9, d) / 8
    inverse = np.linalg.inv(K) if full else 1.0 / K
    geometry = Geometry(drawn(rng, d), K, inverse if precise else None)
    weights = rng.choice([1.0, 0.25, 2.0, 9.0], ROWS)
    return Problem(table, weights, kernels.digests(table), geometry, Images(geometry), lam)


def walked(operations, made, here, rng, prior, *, first):
    """Take the steps with a pool that keeps what it likes, and solve."""
    places = rng.permutation(ROWS)
    joined = first
    made.join(places[:first], np.where(places[:first] % 2, 1.0, -1.0))
    for operation in operations:
        if operation == "join":
            more = places[joined : joined + 2]
            joined += len(more)
            made.join(more, np.where(more % 2, 1.0, -1.0))
        elif operation == "leave":
            made = made.without(made.places[:1])
        elif operation == "restart":
            made.restart(prior)
        elif operation == "fork":
            made = made.fork()
        else:
            getattr(made, operation)(here)
    made.solve(here)
    return made


def assert_optimal(made, here):
    if not len(made.places):
        assert made.weights(here)[0].tolist() == made.prior.w.tolist()
        return
    X, signs = here.table[made.places].astype(float), made.signs
    weights = here.weights[made.places]
    wanted = maths.separator(X, signs, here.geometry, made.prior, here.lam, weights)
    size = 1.0 + np.abs(wanted.alpha).max(initial=0.0)
    w, b = made.weights(here)
    assert made.alpha == pytest.approx(wanted.alpha, abs=1e-6 * size)
    assert w == pytest.approx(wanted.w, abs=1e-6 * size)
    assert b == pytest.approx(wanted.b, abs=1e-6 * size)


@pytest.mark.parametrize("first", [3, MANY], ids=["few", "many"])
@pytest.mark.parametrize("cheap", [0, pool.CHEAP], ids=["large", "small"])
@given(
    operations=OPERATIONS,
    seed=st.integers(0, 999),
    lam=st.sampled_from([1e-3, 0.1, 1.0]),
    full=st.booleans(),
    dtype=st.sampled_from(["f4", "f8"]),
)
def test_any_history_ends_at_the_plain_optimum(first, cheap, operations, seed, lam, full, dtype):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "CHEAP", cheap)
        rng = np.random.default_rng(seed)
        d = 1 + seed % 3
        here = problem(rng, d, lam=lam, full=full, dtype=dtype)
        prior, other = Prior(np.zeros(d), 0.0), Prior(drawn(rng, d), 0.5)
        made = walked(operations, Pool(prior), here, rng, other, first=first)
        assert_optimal(made, here)


@given(arrays(MANY, lowest=-8, highest=8), st.integers(0, 99))
def test_by_alpha_equals_by_w(column, seed):
    here = problem(np.random.default_rng(seed), 2)
    here.table[:MANY, 0] = column
    answers = []
    for precision in (here.geometry.precision, None):
        mine = here._replace(geometry=here.geometry._replace(precision=precision))
        made = Pool(Prior(np.array([0.5, -0.25]), 0.125))
        made.join(np.arange(MANY), np.where(np.arange(MANY) % 2, 1.0, -1.0))
        assert made.goes_by_alpha(mine) == (precision is None)
        made.solve(mine)
        answers.append((made.alpha, *made.weights(here)))
    (by_w_alpha, by_w_w, by_w_b), (alpha, w, b) = answers
    assert by_w_alpha == pytest.approx(alpha, abs=1e-8)
    assert by_w_w == pytest.approx(w, abs=1e-8)
    assert by_w_b == pytest.approx(b, abs=1e-8)


@pytest.mark.parametrize("first", [8, MANY], ids=["few", "many"])
def test_a_fork_goes_on_as_the_pool_would_have_and_the_pool_does_not_change(first):
    rng = np.random.default_rng(3)
    here = problem(rng, 2)
    made = Pool(Prior(np.zeros(2), 0.0))
    made.join(np.arange(first), np.where(np.arange(first) % 2, 1.0, -1.0))
    made.solve(here)
    before = made.places.tolist(), made.alpha.tolist(), made.idle.tolist()
    again = copy.deepcopy(made)
    twin = made.fork()
    twin.join(np.arange(first, first + 4), np.ones(4))
    twin.solve(here)
    twin = twin.without(np.array([0, 1]))
    twin.solve(here)
    assert (made.places.tolist(), made.alpha.tolist(), made.idle.tolist()) == before
    for each in (twin, made, again):
        each.solve(here)
        assert_optimal(each, here)
    assert made.alpha.tobytes() == again.alpha.tobytes()


def contents(each):
    return [each.places.tolist(), each.signs.tolist(), each.alpha.tolist(), each.idle.tolist()]


TOLERANCE = 1e-3
HALVES = np.arange(12), np.arange(ROWS - 12, ROWS)
"""The rows of two classes; so few that a pool can hold all that matter."""


def several(rng, d, count, *, leans=True):
    """Make pools of some of the rows, the first half of them with signs +1, at any α."""
    pools = []
    for _ in range(count):
        each = Pool(Prior(drawn(rng, d) if leans else np.zeros(d), 0.25 if leans else 0.0))
        places = rng.permutation(np.concatenate(HALVES))[: rng.integers(0, 25)]
        each.join(places, np.where(places < ROWS // 2, 1.0, -1.0))
        each.alpha = np.maximum(drawn(rng, len(places)), 0.0)
        pools.append(each)
    return pools


def sides(rng, count):
    return [tuple(half[: rng.integers(1, len(half))] for half in HALVES) for _ in range(count)]


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
    here = here._replace(table=rng.normal(size=(ROWS, d)).astype(dtype))  # not exact in any order
    pools, both = several(rng, d, count, leans=leans), sides(rng, count)
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


@given(seed=st.integers(0, 9999), bound=st.sampled_from([0.0, 0.5, 1.0]))
def test_settled_says_that_no_example_is_a_misfit_or_short(seed, bound):
    rng = np.random.default_rng(seed)
    here = problem(rng, 3)
    here.table[HALVES[0], 0] += 2.0  # often all are on their sides
    pools, both = several(rng, 3, 4), sides(rng, 4)
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
