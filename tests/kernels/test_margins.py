"""Margins in one fixed order: the numbers of the specification, and the same bits everywhere."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths
from oracle.eighths import drawn
from oracle.fixed_order import LANES, spread

WIDTHS = st.sampled_from([1, 2, LANES - 1, LANES, LANES + 1, 2 * LANES + 5])


def one(w, b, x, origin):
    out = np.empty(1)
    kernels.activations(w, b, x[None], np.array([0]), origin, out)
    return out[0]


@given(WIDTHS, st.integers(0, 99), st.sampled_from(["f4", "f8"]))
def test_a_row_has_the_same_bits_wherever_it_lies_and_whoever_else_is_asked(width, seed, dtype):
    rng = np.random.default_rng(seed)
    w, b, origin = rng.normal(size=width), rng.normal(), rng.normal(size=width)
    table = rng.normal(size=(9, width)).astype(dtype)
    out = np.empty(9)
    kernels.activations(w, b, table, np.arange(9), origin, out)
    assert out.tolist() == [one(w, b, table[i], origin) for i in range(9)]
    least = np.empty((9, 2))
    owner = np.arange(2)
    packed = spread(rng, w[None], np.array([b]))
    kernels.scores(*packed, table, origin, owner, least)
    assert least[:, 0].tolist() == out.tolist()
    assert least[:, 1].tolist() == (-out).tolist()
    margins = np.full(2, np.inf)
    args = *packed, table[3], origin, owner, 1, -np.inf
    assert kernels.region_margins(*args, margins) == -out[3]
    assert margins.tolist() == [-out[3], np.inf]


@given(st.integers(1, 5), WIDTHS, st.integers(0, 99), st.booleans())
def test_margins_and_scores_are_those_of_the_specification(classes, width, seed, single):
    rng = np.random.default_rng(seed)
    owner = np.arange(classes) if single else rng.integers(0, 3, classes)
    pairs = classes * (classes - 1) // 2
    W, b, origin = drawn(rng, pairs, width), drawn(rng, pairs), drawn(rng, width)
    X, packed = drawn(rng, 4, width), spread(rng, W, b)
    least = np.empty((4, classes))
    kernels.scores(*packed, X, origin, owner, least)
    for c in range(classes):
        siblings = owner == owner[c]
        wanted = maths.margins(W, b, X, origin, np.full(4, c), classes)
        wanted[:, siblings] = np.inf
        assert least[:, c].tolist() == wanted.min(axis=1).tolist()
        for x, row in zip(X, wanted, strict=True):
            out = np.full(classes, 77.0)
            args = *packed, x, origin, owner, c
            assert kernels.region_margins(*args, -np.inf, out) == row.min()
            assert (out[siblings] == 77.0).all()
            assert out[~siblings].tolist() == row[~siblings].tolist()
            low = kernels.region_margins(*args, 0.5, out)
            assert low == row.min() or row.min() <= low < 0.5
