"""Whoever is truly below the bound is listed, whatever float32 makes of the numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels
from oracle.eighths import drawn

LEVELS = kernels.LEVELS
WIDTH = LEVELS[-1] + 44


class Described:
    """Describes rows along the first axes, as float32, with the lengths of what is left."""

    def __init__(self, X, v):
        self.X, self.v = X, v
        self.rows = X[:, : LEVELS[-1]].astype(np.float32)
        self.rest = lengths(X).astype(np.float32)
        self.along = v[: LEVELS[-1]].astype(np.float32)
        self.across = lengths(v[None])[0]

    def doubtful(self, known, places, shift, sign, bound, since=None):
        """Asks about a change, beside another one that nobody has gone through."""
        out = np.full(len(places) + 1, -7)
        across = np.stack([np.full(len(LEVELS), 1e9), self.across])
        along = np.stack([np.zeros_like(self.along), self.along])
        slack = kernels.TOLERANCE * across[:, 0]
        changes = kernels.Changes(along, across, np.array([0.0, shift]), slack)
        since = np.ones(len(places), dtype=np.int64) if since is None else since
        args = known, since, places, self.rows, self.rest, changes, sign, bound, out
        count = kernels.doubtful(*args)
        assert out[count:].tolist() == [-7] * (len(out) - count)
        return out[:count]


def lengths(X):
    return np.stack([np.sqrt((X[:, level:] ** 2).sum(axis=1)) for level in LEVELS], axis=1)


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([1e-6, 1.0, 1e3, 1e12]),
    length=st.sampled_from([0.0, 1e-6, 1.0, 1e6]),
    sign=st.sampled_from([1.0, -1.0]),
    inside=st.booleans(),
    aligned=st.booleans(),
    nudge=st.sampled_from([0.0, 1e-12, 1e-7, 1e-5, 0.1]),
)
def test_whoever_is_below_the_bound_is_listed(seed, size, length, sign, inside, aligned, nudge):
    rng = np.random.default_rng(seed)
    X, v = size * rng.normal(size=(12, WIDTH)), length * rng.normal(size=WIDTH)
    if aligned:  # then nothing but the whole product of the lengths will do
        X = rng.choice([-1.0, 1.0], (12, 1)) * X[:1]
        v = length * X[0] / np.linalg.norm(X[0])
    if inside:
        X[:, LEVELS[-1] :] = v[LEVELS[-1] :] = 0.0
    shift, places = rng.normal(), rng.permutation(12)[:9]
    moved = X[places] @ v
    known = rng.normal(size=9) * rng.choice([1.0, np.abs(moved).max() + 1.0])
    margins = sign * (known + shift + moved)
    described = Described(X, v)
    for bound in margins:  # just above somebody, relative to the lengths that are multiplied
        above = bound + nudge * (1.0 + np.abs(moved).max())
        listed = described.doubtful(known, places, shift, sign, above)
        exact = 1e-15 * WIDTH * (np.abs(X[places]) @ np.abs(v) + np.abs(known) + 1.0)
        assert set(np.flatnonzero(margins < above - exact)) <= set(listed.tolist())
        assert sorted(set(listed.tolist())) == listed.tolist()


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([1.0, -1.0]))
def test_whoever_is_far_above_the_bound_is_not_listed(seed, sign):
    rng = np.random.default_rng(seed)
    X, v = rng.normal(size=(8, WIDTH)), rng.normal(size=WIDTH)
    X[:, LEVELS[-1] :] = 0.0  # all of the change is known
    known = rng.normal(size=8)
    margins = sign * (known + 0.5 + X @ v)
    bound = float(np.median(margins))
    listed = Described(X, v).doubtful(known, np.arange(8), 0.5, sign, bound).tolist()
    assert not set(listed) & set(np.flatnonzero(margins > bound + 0.01).tolist())


def test_nothing_moved_and_nobody_is_in_doubt():
    rng = np.random.default_rng(2)
    known = np.array([0.5, 0.75, 2.0])
    described = Described(drawn(rng, 3, WIDTH), np.zeros(WIDTH))
    assert described.doubtful(known, np.arange(3), 0.0, 1.0, 0.5).tolist() == []
    assert described.doubtful(known, np.arange(3), 0.0, 1.0, 0.76).tolist() == [0, 1]
    assert described.doubtful(-known, np.arange(3), 0.0, -1.0, 0.76).tolist() == [0, 1]


def test_lengths_that_are_no_numbers_leave_a_row_in_doubt():
    described = Described(np.ones((2, WIDTH)), np.ones(WIDTH))
    described.rest[0] = np.nan
    listed = described.doubtful(np.full(2, 1e9), np.arange(2), 0.0, 1.0, 0.5)
    assert listed.tolist() == [0]


def test_a_row_of_which_nothing_is_known_is_in_doubt():
    described = Described(np.ones((3, WIDTH)), np.zeros(WIDTH))
    since = np.array([1, -1, 1])
    listed = described.doubtful(np.full(3, 1e9), np.arange(3), 0.0, 1.0, 0.5, since)
    assert listed.tolist() == [1]


def test_each_row_is_bounded_from_the_weights_at_which_it_is_known():
    described = Described(np.ones((2, WIDTH)), np.zeros(WIDTH))
    far_moved, not_moved = np.array([0, 1])
    for sign in (1.0, -1.0):
        known, since = np.full(2, sign * 1e3), np.array([far_moved, not_moved])
        assert described.doubtful(known, np.arange(2), 0.0, sign, 0.5, since).tolist() == [0]
