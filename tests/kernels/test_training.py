"""The compiled training of one unit; tests/paper compares whole lessons with an oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels, maths
from minout.paper.equations import GRID
from minout.paper.rule import POLICIES


def lesson(unit, rows, policy, budget=-1, steps=1):
    """Return a lesson on the last row as one that the unit does not want, and an empty log."""
    new, positive = len(rows) - 1, np.zeros(len(rows), bool)
    return kernels.Lesson(
        new, rows @ rows.T + 1, positive, 1.0, False, 0.0, steps, 0.0, GRID,
        POLICIES.index(policy), budget,
    ), kernels.Log(
        np.zeros((len(unit.a), new + 1)), np.zeros((3, new), bool), np.zeros(5, np.int64)
    )  # fmt: skip


def make_unit(rng, k, rows, room):
    W, b = rng.integers(-8, 9, (k, rows.shape[1])) / 8, rng.integers(-8, 9, k) / 8
    a = np.zeros((k, room))
    a[:, : len(rows)] = W @ rows.T + b[:, None]
    clipped = a <= 0.0
    return kernels.UnitTable(a, clipped, clipped.sum(axis=0))


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(["none", "conditional", "closed"]))
def test_the_index_equals_brute_force_after_every_step(seed, policy):
    rng = np.random.default_rng(seed)
    k, n, room = rng.integers(1, 6), rng.integers(0, 150), 160
    rows = rng.integers(-4, 5, (n + 1, 3)) / 4
    unit = make_unit(rng, k, rows, room)
    beyond = [each[..., n + 1 :].copy() for each in unit]
    for _ in range(6):
        table, first = unit.a[:, :n] <= 0.0, unit.a[:, n].argmin()
        plan, log = lesson(unit, rows, policy)
        bits = rng.bit_generator
        with bits.lock:
            steps, _ = kernels.train_unit(unit, plan, bits, log)
        assert steps == 1
        moved = np.flatnonzero(log.changes.any(axis=1))
        for found, asked in ((log.sets[0], [first]), (log.sets[1], moved)):
            assert (found == maths.interfered(table.T, np.array(asked))).all()
        now = unit.a[:, : n + 1] <= 0.0
        assert (unit.clipped[:, : n + 1] == now).all()
        assert (unit.counters[: n + 1] == now.sum(axis=0)).all()
    for each, before in zip(unit, beyond, strict=True):
        assert (each[..., n + 1 :] == before).all()  # rows beyond the new one are left alone


GENERATORS = [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize("kind", GENERATORS, ids=lambda each: each.__name__)
@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 1), (5, 9), (40, 7), (300, 100)])
def test_a_draw_is_that_of_numpy(n, size, kind):
    ours, theirs = np.random.Generator(kind(n)), np.random.Generator(kind(n))
    rows = np.ones((2 * n + 2, 1)) / 4
    for policy, is_in_pool in (("conditional", np.arange(2 * n + 1) % 2 == 1), ("random", None)):
        for _ in range(10):
            unit = make_unit(theirs, 2, rows, len(rows))
            ours.bit_generator.state = theirs.bit_generator.state
            unit.a[:], unit.clipped[:], unit.counters[:] = 1.0, False, 0
            if is_in_pool is not None:  # the others are clipped by both neurons: out of danger
                outside = np.append(~is_in_pool, False)
                unit.a[:, outside], unit.clipped[:, outside], unit.counters[outside] = -1.0, True, 2
            plan, log = lesson(unit, rows, policy, size)
            with ours.bit_generator.lock:
                kernels.train_unit(unit, plan, ours.bit_generator, log)
            pool = np.arange(2 * n + 1) if is_in_pool is None else np.flatnonzero(is_in_pool)
            expected = pool
            if policy == "random" or size < len(pool):
                count = min(size, len(pool))
                expected = theirs.choice(pool, count, replace=False, shuffle=False)
            assert np.flatnonzero(log.sets[2]).tolist() == sorted(expected.tolist())
            assert str(ours.bit_generator.state) == str(theirs.bit_generator.state)


def test_a_first_activation_that_is_not_a_number_ends_the_training():
    unit = make_unit(np.random.default_rng(0), 3, np.ones((4, 2)), 4)
    unit.a[1, 3] = np.nan
    plan, log = lesson(unit, np.ones((4, 2)), "none", steps=5)
    bits = np.random.PCG64(0)
    steps, loss = kernels.train_unit(unit, plan, bits, log)
    assert steps == 0
    assert np.isnan(loss)
