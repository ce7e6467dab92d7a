"""A row's digest: the same for the same bits, another for any other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout import kernels


def digest(row):
    row = np.ascontiguousarray(row)
    with np.errstate(over="ignore"):  # uncompiled, NumPy warns where 64 bits overflow as they must
        return int(kernels.digest(row.view(f"u{row.dtype.itemsize}")))


@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=6),
    st.sampled_from(["f4", "f8"]),
    st.integers(0, 2**16),
)
def test_a_change_of_any_bit_changes_the_digest(numbers, dtype, bit):
    with np.errstate(over="ignore"):
        row = np.array(numbers).astype(dtype)
    other = row.copy()
    blob = other.view("u1")
    blob[bit // 8 % len(blob)] ^= 1 << bit % 8
    assert digest(row) == digest(row.copy())
    assert digest(row) != digest(other)


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1"])
def test_rows_with_another_digest_are_counted(dtype):
    rows = (8 * np.random.default_rng(5).random((6, 4))).astype(dtype)
    digests = np.array([digest(row) for row in rows], dtype=np.uint64)
    words = rows.view(f"u{rows.dtype.itemsize}")
    with np.errstate(over="ignore"):
        assert kernels.count_wrong_digests(words, digests) == 0
        rows[[1, 5], [0, 3]] += 1
        assert kernels.count_wrong_digests(words, digests) == 2
