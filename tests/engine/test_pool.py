"""A pool's optimum: the plain one, by α or by w, with or without what is kept between solves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import maths
from minout.engine import pool
from minout.engine.images import Images
from minout.engine.pool import Pool, Problem
from minout.errors import NotConverged
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
    return Problem(table, weights, geometry, Images(geometry, np.dtype("f8")), lam)


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
            made = made.without(made.places[:1], here)
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
@settings(max_examples=25)
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


@settings(max_examples=20)
@given(arrays(MANY, lowest=-8, highest=8), st.integers(0, 99))
def test_by_alpha_equals_by_w(column, seed):
    here = problem(np.random.default_rng(seed), 2)
    here.table[:MANY, 0] = column
    answers = []
    for precision in (here.geometry.precision, None):
        made = Pool(Prior(np.array([0.5, -0.25]), 0.125))
        made.join(np.arange(MANY), np.where(np.arange(MANY) % 2, 1.0, -1.0))
        made.solve(here._replace(geometry=here.geometry._replace(precision=precision)))
        assert made.solved_by_alpha() == (precision is None)
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
    twin = made.fork()
    twin.join(np.arange(first, first + 4), np.ones(4))
    twin.solve(here)
    twin = twin.without(np.array([0, 1]), here)
    twin.solve(here)
    assert (made.places.tolist(), made.alpha.tolist(), made.idle.tolist()) == before
    for each in (twin, made):
        each.solve(here)
        assert_optimal(each, here)


def test_a_member_that_was_idle_too_long_leaves():
    here = problem(np.random.default_rng(4), 1, full=False)
    here.table[:3, 0] = here.geometry.origin[0] + np.array([1.0, -1.0, 40.0])
    made = Pool(Prior(np.zeros(1), 0.0))
    made.join(np.arange(3), np.array([1.0, -1.0, 1.0]))
    for _ in range(pool.IDLE + 1):
        made.solve(here)
        made.trim(here)
    assert made.places.tolist() == [0, 1]
    made.solve(here)
    assert_optimal(made, here)


def test_a_member_that_is_needed_again_is_no_longer_idle():
    here = problem(np.random.default_rng(5), 1, full=False)
    made = Pool(Prior(np.zeros(1), 0.0))
    made.join(np.array([0]), np.ones(1))
    made.idle[:] = pool.IDLE
    made.solve(here)
    assert made.alpha[0] > 0.0
    assert made.idle.tolist() == [0]


def test_the_support_is_the_rows_that_matter():
    made = Pool(Prior(np.zeros(2), 0.0))
    made.join(np.array([5, 3, 9]), np.array([1.0, -1.0, 1.0]))
    made.alpha = np.array([0.0, 2.0, 1.0])
    prior = Prior(np.ones(2), 1.0)
    twin = made.support(prior)
    assert twin.places.tolist() == [3, 9]
    assert twin.signs.tolist() == [-1.0, 1.0]
    assert twin.alpha.tolist() == [2.0, 1.0]
    assert twin.prior is prior
    twin.alpha[:] = 0.0
    assert made.alpha.tolist() == [0.0, 2.0, 1.0]


def test_a_pool_sorted_by_rank_has_the_rows_that_matter():
    made = Pool(Prior(np.zeros(2), 0.0))
    made.join(np.array([5, 3, 0, 1]), np.array([1.0, -1.0, 1.0, -1.0]))
    made.alpha = np.array([3.0, 2.0, 0.0, 1.0])
    twin = made.sorted_by(np.array([9, 8, 7, 6, 5, 4]), np.zeros(6))
    assert twin.places.tolist() == [5, 3, 1]
    assert twin.alpha.tolist() == [3.0, 2.0, 1.0]
    assert twin.signs.tolist() == [1.0, -1.0, -1.0]


def test_a_solve_that_fails_says_so_and_nothing_torn_is_kept(monkeypatch):
    rng = np.random.default_rng(6)
    here = problem(rng, 2)
    made = Pool(Prior(np.zeros(2), 0.0))
    made.join(np.arange(6), np.where(np.arange(6) % 2, 1.0, -1.0))
    with monkeypatch.context() as patch:
        patch.setattr(pool.kernels, "newton", lambda *_: False)
        with pytest.raises(NotConverged):
            made.solve(here)
    made.solve(here)
    assert_optimal(made, here)


@pytest.mark.parametrize(
    ("cheap", "separators", "is_kept"),
    [
        (0, 1, True),
        (0, 500_000, True),
        (0, 10**9, False),
        (pool.CHEAP, 1, True),
        (pool.CHEAP, 500_000, False),
    ],
    ids=["large", "many large", "too many large", "small", "too many small"],
)
def test_a_pool_keeps_what_there_is_room_for(monkeypatch, cheap, separators, is_kept):
    monkeypatch.setattr(pool, "CHEAP", cheap)
    here = problem(np.random.default_rng(8), 3)
    made = Pool(Prior(np.zeros(3), 0.0))
    made.join(np.arange(6), np.where(np.arange(6) % 2, 1.0, -1.0))
    made.solve(here)
    assert made.is_small(here) == (cheap > 0)
    made.trim(here._replace(separators=separators))
    assert [each is not None for each in made.saved_warm_start()] == [is_kept, *[False] * 3]
    made.join(np.arange(6, 9), np.ones(3))
    made.solve(here)
    assert_optimal(made, here)


def test_an_empty_pool_is_its_prior():
    here = problem(np.random.default_rng(7), 2)
    made = Pool(Prior(np.array([1.0, 2.0]), 3.0))
    made.solve(here)
    w, b = made.weights(here)
    assert w.tolist() == [1.0, 2.0]
    assert b == 3.0
