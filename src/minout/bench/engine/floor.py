"""The least that one example can cost: one thread's product with all separators."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits


class Floor(NamedTuple):
    """Is the seconds that `W @ x` took, for rows one by one, in each precision."""

    single: float
    double: float


def floor(W: NDArray[Any], rows: NDArray[Any]) -> Floor:
    """Multiplies W (separators, d) with each of rows (n, d)."""
    with threadpool_limits(1):
        return Floor(
            _seconds(W.astype(np.float32), rows.astype(np.float32)),
            _seconds(W.astype(np.float64), rows.astype(np.float64)),
        )


def _seconds(W: NDArray[Any], rows: NDArray[Any]) -> float:
    W @ rows[0]
    start = time.perf_counter()
    for x in rows:
        W @ x
    return time.perf_counter() - start
