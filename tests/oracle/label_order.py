"""Small streams to teach the paper's learner."""

import numpy as np


def stream(seed, *, examples=40, classes=3, features=8, parts=8):
    """Draw rows in multiples of 1/parts, about a centre for each class, sorted by label.

    The first row is 0: with biases of 0 every neuron ties there, and sits exactly on the hard clip.
    """
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, classes, examples))
    centres = rng.integers(-parts, parts + 1, (classes, features))
    rows = (centres[labels] + rng.integers(-parts, parts + 1, (examples, features))) / parts
    rows[0] = 0.0
    return rows, labels
