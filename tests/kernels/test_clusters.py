"""The compiled clusters against `maths/clusters.py`, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels, maths

SHAPES = [
    (1, 3, 4),
    (30, 6, 1),
    (2, 1, 2),
    (7, 5, 8),
    (31, 2, 3),
    (40, 20, 8),
    (100, 1, 4),
    (333, 33, 9),
]


@given(st.sampled_from(SHAPES), st.integers(0, 2**32), st.sampled_from([None, 1, 8]), st.booleans())
def test_centres_are_those_of_the_specification(shape, seed, grid, weighted):
    (n, d, k), rng = shape, np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)) + 3.0 * rng.integers(3, size=(n, 1))
    if grid:  # equal rows, equal distances, and centres without rows
        Z = np.rint(Z * grid) / grid
    weights = rng.choice([0.5, 1.0, 3.7], n) if weighted else None
    wanted, found = maths.centres(Z, k, weights), kernels.centres(Z, k, weights)
    assert found.tobytes() == wanted.tobytes()
    assert found.shape == wanted.shape
    assert (kernels.nearest(Z, found) == maths.nearest(Z, wanted)).all()


def test_columns_may_come_first_in_memory():
    Z = np.random.default_rng(0).normal(size=(50, 7))
    found = kernels.centres(np.asfortranarray(Z), 3)
    assert (found == kernels.centres(Z, 3)).all()
    assert (kernels.nearest(np.asfortranarray(Z), found) == kernels.nearest(Z, found)).all()


def test_shapes_that_do_not_fit_are_refused():
    Z = np.zeros((5, 2))
    with pytest.raises(ValueError, match="do not fit"):
        kernels.centres(Z, 2, np.ones(4))
    with pytest.raises(ValueError, match="do not fit"):
        kernels.nearest(Z, np.zeros((2, 3)))
