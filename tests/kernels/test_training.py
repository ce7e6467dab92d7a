"""The compiled training of one unit; tests/paper compares whole lessons with an oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import maths
from minout.kernels import training
from minout.kernels.training import UnitTable


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_the_index_equals_brute_force_under_a_random_walk(seed):
    rng = np.random.default_rng(seed)
    k, n, room = rng.integers(1, 6), rng.integers(0, 12), 14
    unit = UnitTable(np.zeros((k, room)), np.ones((k, room), bool), np.full(room, k))
    for _ in range(6):
        moved = rng.random(k) < 0.5
        unit.a[moved, :n] = rng.integers(-2, 3, (moved.sum(), n)) / 8
        training.follow(unit, moved, 0.0, n)
        table = unit.a[:, :n] <= 0.0
        assert (unit.clipped[:, :n] == table).all()
        assert (unit.counters[:n] == table.sum(axis=0)).all()
        asked = rng.random(k) < 0.5
        found = training._interfered(unit, asked, n)
        assert (found == maths.interfered(table.T, np.flatnonzero(asked))).all()
    assert (unit.counters[n:] == k).all()  # rows beyond the first n are left alone


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 1), (5, 9), (40, 7), (300, 100)])
def test_a_draw_is_that_of_numpy(n, size):
    ours, theirs = np.random.default_rng(n), np.random.default_rng(n)
    for _ in range(20):
        pool = np.arange(2 * n + 1) % 2 == 1
        chosen = training._draw(ours, pool, size)
        expected = theirs.choice(np.flatnonzero(pool), min(size, n), replace=False, shuffle=False)
        assert np.flatnonzero(chosen).tolist() == sorted(expected.tolist())
    assert ours.bit_generator.state == theirs.bit_generator.state
