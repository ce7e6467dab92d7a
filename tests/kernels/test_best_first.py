"""Best-first predictions: the label of the full evaluation in every case, ties included."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from minout import kernels
from oracle import fixed_order
from oracle.eighths import drawn
from oracle.fixed_order import LANES, spread

WIDTHS = [1, 2, LANES - 1, LANES + 1, 4 * LANES, 9 * LANES + 3]
CLASSES = [1, 2, 3, 4, 5, 6, 9, 23, 60]


def found(W, b, X, origin, order, start, *, rows=None, together=1):
    """Return winners, whether they are clipped, and the number of separators computed."""
    rows = np.arange(len(X)) if rows is None else rows
    winner, clipped = np.full(len(X), 77), np.zeros(len(X), dtype=bool)
    args = *spread(np.random.default_rng(len(b)), W, b), X, origin, rows, start, order
    computed = kernels.best_first(*args, together, winner, clipped)
    return winner, clipped, computed


def wanted(W, b, X, origin, order):
    """Return the labels of the full evaluation, of ties the lowest rank, and if clipped."""
    out = np.empty((len(X), len(order.rank)))
    kernels.scores(W, b, np.arange(len(b), dtype=np.int32), X, origin, order.owner, out)
    by_rank = np.argsort(order.rank)
    return order.owner[by_rank[out[:, by_rank].argmax(axis=1)]], out.max(axis=1) <= 0.0


def drawn_order(rng, regions):
    """Draw labels of regions, one region each or not, and the rank of each region."""
    labels = regions if rng.random() < 0.5 else int(rng.integers(1, regions + 1))
    owner = rng.permutation(regions) if labels == regions else rng.integers(0, labels, regions)
    rank = np.empty(regions, dtype=np.int64)
    rank[np.argsort(owner, kind="stable")] = np.arange(regions)
    return kernels.Order(rank, owner)


def single(rank):
    """Return the order of labels that have one region each."""
    return kernels.Order(np.asarray(rank), np.asarray(rank))


def model(rng, classes, width, *, size=8, dtype="f8"):
    """Draw a model on a grid: ties, separators that are 0, and equal ones are common."""
    pairs = max(classes * (classes - 1) // 2, 1)
    W, b = drawn(rng, pairs, width, size=size), drawn(rng, pairs, size=size)
    kind = rng.integers(0, 4)
    if kind == 0:
        W[rng.random(pairs) < 0.5] = 0.0
        b[rng.random(pairs) < 0.5] = -0.0
    elif kind == 1:
        W[:], b[:] = W[rng.integers(0, pairs, pairs)], b[rng.integers(0, pairs, pairs)]
    elif kind == 2:
        W, b = rng.normal(size=(pairs, width)), rng.normal(size=pairs)
    X = drawn(rng, 200, width, size=size).astype(dtype)
    X[rng.random(len(X)) < 0.1] = -0.0
    return W, b, X, drawn(rng, width, size=size), drawn_order(rng, classes)


@settings(max_examples=3 * settings.default.max_examples)
@given(
    st.sampled_from(CLASSES),
    st.sampled_from(WIDTHS),
    st.integers(0, 10_000),
    st.sampled_from([1, 8]),
    st.sampled_from(["f4", "f8"]),
    st.sampled_from([1, 3, 7, 32]),
)
def test_the_winner_and_its_side_are_those_of_the_full_evaluation(
    classes, width, seed, size, dtype, together
):
    rng = np.random.default_rng(seed)
    W, b, X, origin, order = model(rng, classes, width, size=size, dtype=dtype)
    start = rng.integers(0, classes, len(X))  # any class may be tried first
    rows = np.argsort(start, kind="stable")
    winner, clipped, computed = found(W, b, X, origin, order, start, rows=rows, together=together)
    right, is_clipped = wanted(W, b, X, origin, order)
    assert order.owner[winner].tolist() == right.tolist()
    assert clipped.tolist() == is_clipped.tolist()
    assert computed <= 4 * len(X) * classes * (classes - 1) // 2  # at most twice, roughly and not


@settings(max_examples=3 * settings.default.max_examples)
@given(
    st.sampled_from([2, 3, 6]),
    st.sampled_from(WIDTHS),
    st.integers(0, 10_000),
    st.sampled_from([-300, -40, -20, 0, 20, 35, 150]),
    st.sampled_from([-150, -38, -30, 0, 15]),
    st.sampled_from([1, 32]),
)
def test_scores_that_differ_by_less_than_rounding_are_decided_by_the_fixed_order(
    classes, width, seed, w_power, x_power, together
):
    rng = np.random.default_rng(seed)
    W, b, X, origin, order = model(rng, classes, width, size=1)
    if seed % 2:  # of some rows, float32 cannot tell the side
        W, X = rng.normal(size=W.shape), rng.normal(size=X.shape)
        here = X[rng.integers(0, len(X), len(b))] - origin
        b = 1e-9 * rng.normal(size=len(b)) - np.einsum("ij,ij->i", W, here)
    W = W * (1.0 + 1e-15 * rng.integers(-3, 4, W.shape)) * 10.0**w_power
    X = X * (1.0 + 1e-15 * rng.integers(-3, 4, X.shape)) * 10.0**x_power
    b, origin = b * 10.0 ** (w_power + x_power), origin * 10.0**x_power
    start = np.zeros(len(X), dtype=np.int64)
    winner, clipped, _ = found(W, b, X, origin, order, start, together=together)
    right, is_clipped = wanted(W, b, X, origin, order)
    assert order.owner[winner].tolist() == right.tolist()
    assert clipped.tolist() == is_clipped.tolist()


@given(st.sampled_from([2, 3, 7]), st.sampled_from(WIDTHS[:4]), st.integers(0, 999))
def test_rows_do_not_depend_on_each_other_or_on_the_class_tried_first(classes, width, seed):
    rng = np.random.default_rng(seed)
    W, b, X, origin, order = model(rng, classes, width, size=1)
    X, owner = X[:12], order.owner
    usual = found(W, b, X, origin, order, np.zeros(len(X), dtype=np.int64))
    for c in range(classes):
        rows = rng.permutation(len(X))
        other = found(W, b, X, origin, order, np.full(len(X), c), rows=rows)
        assert owner[other[0]].tolist() == owner[usual[0]].tolist()
        assert other[1].tolist() == usual[1].tolist()
    winner, clipped, _ = found(W, b, X, origin, order, np.zeros(12, dtype=int), rows=np.array([5]))
    assert (winner[5], clipped[5]) == (usual[0][5], usual[1][5])
    assert np.delete(winner, 5).tolist() == [77] * 11  # other rows are left alone


def test_a_class_with_positive_margins_wins_after_its_own_separators():
    W, b = np.zeros((15, 2)), np.full(15, -1.0)
    pairs = [max(c, 2) * (max(c, 2) - 1) // 2 + min(c, 2) for c in range(6) if c != 2]
    b[pairs] = [-1.0, -1.0, 1.0, 1.0, 1.0]  # all on the side of class 2
    for n in (1, 6):
        X, start = np.ones((n, 2)), np.full(n, 2)
        found_ = found(W, b, X, np.zeros(2), single(range(6)), start, together=n)
        assert [each.tolist() for each in found_[:2]] == [[2] * n, [False] * n]
        assert found_[2] == 5 * n


@given(
    st.integers(1, 5), st.sampled_from(WIDTHS), st.sampled_from(["f4", "f8"]), st.integers(0, 99)
)
def test_scores_have_the_bits_of_the_fixed_order(classes, width, dtype, seed):
    rng = np.random.default_rng(seed)
    pairs = classes * (classes - 1) // 2
    W, b, origin = rng.normal(size=(pairs, width)), rng.normal(size=pairs), rng.normal(size=width)
    X = rng.normal(size=(5 if seed % 4 else 37, width)).astype(dtype)
    out, owner = np.zeros((len(X), classes)), drawn_order(rng, classes).owner
    kernels.scores(*spread(rng, W, b), X, origin, owner, out)
    assert out.tobytes() == fixed_order.scores(W, b, X, origin, owner).tobytes()


def test_proposals_are_the_regions_with_the_highest_guesses():
    rng = np.random.default_rng(0)
    _, _, X, origin, _ = model(rng, 40, 35)
    V, v = drawn(rng, 40, 35).astype("f4"), drawn(rng, 40).astype("f4")
    out = np.full(len(X), 77)
    kernels.proposals(V, v, X, origin, out)
    assert out.tolist() == ((X - origin) @ V.T + v).argmax(axis=1).tolist()
    V[::2] = np.nan
    V[1::2] = np.inf
    kernels.proposals(V, v, X, origin, out)
    assert set(out.tolist()) <= set(range(40))
