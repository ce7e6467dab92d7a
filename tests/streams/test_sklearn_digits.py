"""scikit-learn's digits, with a fixed split."""

import numpy as np
from sklearn.datasets import load_digits

from minout.streams import digits


def test_digits_are_split_by_class_in_their_order():
    data, original = digits(), load_digits()
    for label in range(10):
        images = original.data[original.target == label] / 16
        learn = int(0.8 * len(images))
        assert np.array_equal(data.rows[data.labels == label], images[:learn])
        assert np.array_equal(data.test_rows[data.test_labels == label], images[learn:])


def test_digits_have_the_promised_shapes_and_dtypes():
    data = digits()
    assert data.name == "digits"
    assert data.image_shape == (8, 8)
    assert len(data.rows) + len(data.test_rows) == 1797
    assert data.rows.max() == 1.0
    for rows, labels in ((data.rows, data.labels), (data.test_rows, data.test_labels)):
        assert rows.dtype == np.float64
        assert rows.flags.c_contiguous
        assert labels.dtype == np.int64
        assert len(rows) == len(labels)


def test_digits_are_the_same_every_time_and_shared_with_nobody():
    first = digits()
    first.rows[:] = -1
    assert digits().rows.min() == 0
