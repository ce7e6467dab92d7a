"""The 1,797 digits of 8 × 8 pixels that come with scikit-learn."""

import numpy as np

from minout.streams.data import DIGITS_LEVELS, Data, scaled, split


def digits() -> Data:
    """Load scikit-learn's digits: the first 80 % of each class (rounded down), and the rest.

    Returns
    -------
    Data
        Rows are (1433, 64) and (364, 64), in scikit-learn's order.
    """
    from sklearn.datasets import load_digits

    pixels, classes = load_digits(return_X_y=True)
    labels = np.asarray(classes, dtype=np.int64)
    return split("digits", scaled(pixels, DIGITS_LEVELS), labels, (8, 8))
