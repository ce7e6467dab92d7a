"""The 1,797 digits of 8 × 8 pixels that scikit-learn carries: small, and always there."""

import numpy as np

from minout.streams.data import DIGITS_LEVELS, Data, scaled, split


def digits() -> Data:
    """Returns the first 80 % of each class (rounded down) to learn from, the rest to test on.

    Rows are float64 (n, 64), in the order in which scikit-learn has them.
    """
    from sklearn.datasets import load_digits

    pixels, classes = load_digits(return_X_y=True)
    labels = np.asarray(classes, dtype=np.int64)
    return split("digits", scaled(pixels, DIGITS_LEVELS), labels, (8, 8))
