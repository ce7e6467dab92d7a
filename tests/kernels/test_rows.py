"""A row's digest: the same for the same values, another for any other."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from minout import kernels


def digests(rows):
    return kernels.digests(np.ascontiguousarray(rows))


def digest(row):
    return digests(np.asarray(row)[None])[0]


@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=6),
    st.sampled_from(["f4", "f8"]),
    st.integers(0, 2**16),
)
def test_a_change_of_any_value_by_a_bit_changes_the_digest(numbers, dtype, bit):
    with np.errstate(over="ignore"):
        row = np.array(numbers).astype(dtype)
    other = row.copy()
    blob = other.view("u1")
    blob[bit // 8 % len(blob)] ^= 1 << bit % 8
    assume(not np.array_equal(row, other))  # -0 equals 0
    assert digest(row) == digest(row.copy())
    assert digest(row) != digest(other)


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1"])
def test_a_row_has_the_same_digest_among_others(dtype):
    rows = (8 * np.random.default_rng(5).random((6, 4))).astype(dtype)
    assert digests(rows).tolist() == [digest(row) for row in rows]
    assert len({*digests(rows).tolist()}) == 6


@given(st.lists(st.floats(width=32), max_size=5), st.integers(0, 3))
def test_digests_are_of_values_and_skip_zeros_at_the_end(numbers, more):
    row = np.array(numbers)
    longer = np.concatenate([row, np.zeros(more)])
    assert digest(row) == digest(longer) == digest(row.astype(np.float32))
    assert digest(row) == digest(np.where(row == 0.0, -row, row))


def test_the_position_of_a_value_counts():
    rows = [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    assert len({*digests(np.array(rows)).tolist()}) == 5


def test_missing_values_are_alike_and_differ_from_0():
    other = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(float)
    missing = [digest([1.0, each]) for each in (np.nan, *other)]
    assert len({*missing}) == 1
    assert missing[0] not in (digest([1.0, 0.0]), digest([1.0, np.inf]))
    assert digest(np.array([1.0, np.nan], dtype=np.float32)) == missing[0]


def test_digests_are_those_that_files_hold():
    row = np.array([[1.0, 0.0, np.nan, -2.5]])
    assert digests(row).tobytes().hex() == "97660dfa4c0bd37572caa3b85e92abea"
