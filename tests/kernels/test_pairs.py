"""Separators of all pairs at once: what they say of other rows is what each pair's own says."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
from minout.maths import Geometry, Prior
from oracle.eighths import drawn

LAMS = np.array([1.0, 0.1, 0.01])


@given(st.integers(2, 4), st.booleans(), st.integers(0, 999), st.booleans())
def test_scores_are_the_least_margins_over_the_pairs(classes, leans, seed, single):
    rng = np.random.default_rng(seed)
    owner = np.arange(classes) if single else np.arange(classes) // 2
    sizes = rng.integers(1, 9, classes)  # some pairs have more rows than there are columns
    start = np.concatenate([[0], np.cumsum(sizes)])
    X, others = drawn(rng, int(start[-1]), 3), drawn(rng, 5, 3)
    means = np.array([X[a:b].mean(axis=0) for a, b in itertools.pairwise(start)])
    middle, scale = drawn(rng, classes, classes), drawn(rng, classes, classes) * leans
    found = np.empty((len(LAMS), len(others), classes))
    rows = rng.permutation(len(X))
    weights = rng.choice([1.0, 0.5, 3.0], len(X))
    divided = kernels.Divided(np.argsort(rows), start, owner, weights[rows])
    inside, outside = (np.ascontiguousarray(means @ each.T) for each in (X[rows], others))
    priors, unread = kernels.ClassPriors(inside, outside, middle, scale), np.empty((0, 0))
    if seed % 2:
        to_others = np.ascontiguousarray(X[rows] @ others.T)
        given = X[:, :0], others[:, :0], np.ascontiguousarray(X[rows] @ X[rows].T), to_others
    else:
        given = X[rows], others, unread, unread
    products = kernels.Products(*given)
    assert kernels.pair_scores(products, divided, priors, LAMS, found)
    plain = Geometry(np.zeros(3), np.ones(3), None)
    for lam, scores in zip(LAMS.tolist(), found, strict=True):
        wanted = np.full((len(others), classes), np.inf)
        for a in range(classes):
            for b in [b for b in range(a + 1, classes) if owner[a] != owner[b]]:
                w0 = scale[a, b] * (means[a] - means[b])
                prior = Prior(w0, -scale[a, b] * middle[a, b])
                mine = np.r_[start[a] : start[a + 1], start[b] : start[b + 1]]
                signs = np.where(mine < start[a + 1], 1.0, -1.0)
                w, bias, _ = maths.separator(X[mine], signs, plain, prior, lam, weights[mine])
                f = others @ w + bias
                wanted[:, a] = np.minimum(wanted[:, a], f)
                wanted[:, b] = np.minimum(wanted[:, b], -f)
        assert scores == pytest.approx(wanted, abs=1e-6)


def test_what_cannot_be_solved_is_said():
    start, nothing = np.array([0, 1, 2]), np.zeros((2, 2))
    priors = kernels.ClassPriors(nothing, np.zeros((2, 1)), nothing, nothing)
    H = np.full((2, 2), np.nan)
    found = np.empty((1, 1, 2))
    products = kernels.Products(H[:, :0], H[:1, :0], H, np.zeros((2, 1)))
    divided = kernels.Divided(np.arange(2), start, np.arange(2), np.ones(2))
    assert not kernels.pair_scores(products, divided, priors, LAMS[:1], found)
