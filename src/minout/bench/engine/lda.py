"""Streaming LDA in plain NumPy: what class means and one covariance, summed up, give at the end.

A stream of updates and all rows at once have the same sums, so it is computed at once, with the
ridge of our metric: S_w + 0.25·tr(S_w)/min(n, d)·I. Classes count alike, large or small.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints

RIDGE = 0.25
BLOCK = 4_096


def lda_predictions(rows: NDArray[Any], labels: Ints, asked: NDArray[Any]) -> Ints:
    """Names the class of each asked row (k, d), taught rows (n, d) and their labels."""
    classes, number = np.unique(labels, return_inverse=True)
    n, d = rows.shape
    origin = rows.mean(axis=0, dtype=np.float64)
    means = _means(rows, number, len(classes), origin)
    S = np.zeros((d, d))
    for start in range(0, n, BLOCK):
        block = slice(start, start + BLOCK)
        Z = rows[block] - origin - means[number[block]]
        S += Z.T @ Z
    S /= max(n - len(classes), 1)
    ridge = RIDGE * float(S.trace()) / min(n, d)
    S[np.diag_indices(d)] += ridge if ridge > 0.0 else 1.0
    W = np.linalg.solve(S, means.T)
    b = -(means.T * W).sum(axis=0) / 2.0
    blocks = [
        ((asked[start : start + BLOCK] - origin) @ W + b).argmax(axis=1)
        for start in range(0, len(asked), BLOCK)
    ]
    return np.asarray(classes[np.concatenate(blocks)])


def _means(rows: NDArray[Any], number: Ints, classes: int, origin: Floats) -> Floats:
    means = [rows[number == c].mean(axis=0, dtype=np.float64) for c in range(classes)]
    return np.stack(means) - origin
