"""Decode rows of small whole numbers; the bits of a row do not depend on the other rows."""

import numpy as np

from minout._typing import Floats
from minout.kernels._compiled import compiled


@compiled
def decode_columns(
    numbers: np.ndarray, last: int, low: Floats, step: Floats, high: Floats, out: Floats
) -> None:
    """Set out[i, j] to low[j] + k·step[j], k = numbers[i, j]; to high[j] if k is the last."""
    d = out.shape[1]
    values = np.empty(d)
    for i in range(out.shape[0]):
        for j in range(d):
            values[j] = low[j] + numbers[i, j] * step[j]
        for j in range(d):
            out[i, j] = high[j] if numbers[i, j] == last else values[j]


@compiled
def decode_levels(codes: np.ndarray, levels: Floats, scale: Floats, out: Floats) -> None:
    """Set out[i, j] = levels[codes[i, j]]·scale[i]."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = levels[codes[i, j]] * scale[i]
