"""Whole products of matrices, in the fixed order of `native/product.hpp`."""

import numpy as np

from minout._typing import Floats
from minout.kernels._native import native
from minout.kernels.threads import in_threads

COLUMNS = 128  # so many columns are computed at a time
WORTH_DIVIDING = 2_000_000  # fewer multiplications are not divided between threads


def product(A: Floats, B: Floats, *, upper: bool = False) -> Floats:
    """Return A B; with `upper`, only what is above its diagonal, the rest is of no use.

    Each sum runs through the inner axis in ascending order, as no BLAS promises.
    """
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    n, columns = len(A), B.shape[1]
    out: Floats = np.zeros((n, columns), dtype=A.dtype)

    def multiply(first: int) -> None:
        last = min(first + COLUMNS, columns)
        rows = min(last, n) if upper else n
        native.multiply(A[:rows], B, out[:rows], first, last)

    parts = range(0, columns, COLUMNS)
    if A.size * columns < WORTH_DIVIDING:
        for part in parts:
            multiply(part)
    else:
        in_threads(multiply, parts[::-1] if upper else parts)
    return out
