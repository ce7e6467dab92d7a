"""The rows as they come."""

import numpy as np
import pytest

from minout.errors import InvalidInputError
from minout.features import Identity


def test_numbers_pass_unchanged():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert (Identity().transform(X) == X).all()
    singles = X.astype(np.float32)
    assert (Identity("float32").transform(singles) == singles).all()


@pytest.mark.parametrize("dtype", ["float16", "int64", "f8x", ">f8", None, 4, np.int64])
def test_a_type_in_which_nothing_is_stored_is_refused(dtype):
    with pytest.raises(InvalidInputError, match='pass "float32" or "float64"'):
        Identity(dtype)


@pytest.mark.parametrize(("dtype", "largest"), [("float32", 1e15), ("float64", 1e100)])
def test_numbers_whose_products_overflow_are_refused(dtype, largest):
    assert Identity(dtype).transform([[largest, -largest]]).shape == (1, 2)
    for number in (1.01 * largest, -1.01 * largest):
        with pytest.raises(InvalidInputError, match=f"too large for rows of {dtype}"):
            Identity(dtype).transform([[number, 0.0]])
