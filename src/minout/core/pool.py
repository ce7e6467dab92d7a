"""What all separators share, and the weights of a separator that its pool gives."""

import ctypes
import sys
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Digests, Floats
from minout.core.images import Images
from minout.core.table import RowTable
from minout.kernels import Pool
from minout.maths import Geometry, Prior

CHEAP = 16_000_000
"""A pool whose inner products take fewer multiplications is small: its factor is not kept."""
SMALL_ROOM = 400_000_000
"""The bytes that all small pools together may use for inner products."""
LARGE_ROOM = 4_000_000_000
"""The bytes that all large pools together may use for inner products and factors."""


class Problem(NamedTuple):
    """What all separators share: rows, weights and digests by place, metric, λ, their number."""

    table: RowTable
    weights: Floats
    digests: Digests
    geometry: Geometry
    images: Images
    lam: float
    separators: int = 1


def support(pool: Pool) -> Pool:
    """Return a pool of the rows with α > 0, for another geometry and prior."""
    return pool.picked(np.flatnonzero(pool.alpha > 0.0))


def weights(prior: Prior, pool: Pool, problem: Problem) -> tuple[Floats, float]:
    """Return w and b of the separator with this α."""
    amounts = pool.signs * pool.alpha
    used = np.flatnonzero(amounts)
    images, which = problem.images.of(problem.table, pool.places[used])
    w = prior.w.copy()
    kernels.add_multiples(w[None], np.zeros_like(used), images, which, amounts[used])
    return w, prior.b + float(np.append(0.0, amounts).cumsum()[-1])  # one after the other


def goes_by_alpha(pool: Pool, problem: Problem) -> bool:
    """Return whether the next solve is for α, from images, not for w directly."""
    many = len(pool) > max(problem.table.shape[1] + 1, 64)
    return not many or problem.geometry.precision is None


def trim_heap() -> None:
    """Ask the C library to return freed memory; glibc otherwise keeps up to 100 MB here."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
