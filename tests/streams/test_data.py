"""Data are refused in one sentence, and split as promised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minout.errors import InvalidInputError
from minout.streams import Data, ordered
from minout.streams.data import DIGITS_LEVELS, MNIST_LEVELS, checked, scaled, split


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": np.zeros((0, 3)), "labels": np.zeros(0, dtype=int)}, "no examples"),
        ({"rows": np.full((6, 3), np.nan)}, "NaN or infinity"),
        ({"test_rows": np.full((2, 3), np.inf)}, "test on contain NaN or infinity"),
        ({"rows": np.full((6, 3), "a")}, "dtype <U1"),
        ({"rows": np.zeros((6, 3), dtype=complex)}, "dtype complex128"),
        ({"rows": np.zeros(6)}, r"shape \(6,\)"),
        ({"labels": np.zeros(5, dtype=int)}, r"labels \(5,\)"),
        ({"labels": np.zeros(6)}, "dtype float64"),
        ({"test_rows": np.zeros((2, 4))}, "4 features, but the rows to learn from have 3"),
    ],
)
def test_bad_data_get_one_sentence_that_names_the_fault(tiny, change, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        ordered(tiny._replace(**change))
    assert "\n" not in str(caught.value)


def test_other_number_types_become_float64_and_int64(tiny):
    data = checked(tiny._replace(rows=np.asfortranarray(tiny.rows, dtype=np.float32)))
    data = checked(data._replace(labels=tiny.labels.astype(np.uint8)))
    assert data.rows.dtype == np.float64
    assert data.rows.flags.c_contiguous
    assert data.labels.dtype == np.int64
    assert np.array_equal(data.rows, tiny.rows)


def test_one_class_only_is_allowed(tiny):
    assert ordered(tiny._replace(labels=np.full(6, 7))).tasks.tolist() == [0] * 6


@given(st.lists(st.integers(0, 3), max_size=40))
def test_split_learns_from_the_first_four_fifths_of_each_class(labels):
    rows = np.arange(len(labels), dtype=float)[:, None]
    data = split("any", rows, np.array(labels, dtype=np.int64), (1, 1))
    seen: dict[int, int] = {}
    learn, test = [], []
    for place, label in enumerate(labels):
        part = learn if seen.get(label, 0) < labels.count(label) * 4 // 5 else test
        part.append(place)
        seen[label] = seen.get(label, 0) + 1
    assert data.rows[:, 0].tolist() == learn
    assert data.test_rows[:, 0].tolist() == test
    assert data.labels.tolist() == [labels[place] for place in learn]
    assert data.test_labels.tolist() == [labels[place] for place in test]


@given(st.integers(0, 2**32), st.sampled_from([(MNIST_LEVELS, 784), (DIGITS_LEVELS, 64)]))
def test_sums_of_products_of_scaled_pixels_do_not_depend_on_their_order(seed, kind):
    levels, width = kind
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, levels, (2, width))
    x, y = scaled(pixels, levels)
    order = rng.permutation(width)
    exact = sum(p * q for p, q in zip(*pixels.tolist(), strict=True)) / levels**2
    assert x @ y == exact
    assert x[order] @ y[order] == exact


def test_scaling_keeps_no_reference_to_the_pixels():
    pixels = np.array([[16.0, 8.0]])
    rows = scaled(pixels, 16)
    pixels[:] = 0
    assert rows.tolist() == [[1.0, 0.5]]


def test_data_are_a_named_tuple_with_the_promised_names():
    assert Data._fields == ("name", "rows", "labels", "test_rows", "test_labels", "image_shape")
