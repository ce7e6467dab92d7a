"""The records that kernels take and return; `native/` has a structure for each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Digests, Floats, Ints
from minout.kernels._native import native


class Order(NamedTuple):
    """The label of each region, and the rank of each: of equal scores, the lowest rank wins."""

    rank: Ints
    owner: Ints


class Far(NamedTuple):
    """A model with far pairs: one linear score per class, and what pairs of classes add to it.

    V (m, d) and half (m,) are the scores, owner (m,) the labels. By pair number: scale is the
    factor of a far pair; `at` is a near pair's row of W and b, or minus the number of a far pair's
    corrections, or 0 without any.

    Corrections are concatenated: number k has size[k] entries from start[k] on, each with its coef
    and its place; images[slot[place]] is the image of a stored row. bounds[k] are floor, ceiling
    and norm of their sum at z: it is between floor - norm·‖z‖ and ceiling + norm·‖z‖, in the norm
    of the metric.
    """

    V: Floats
    half: Floats
    owner: Ints
    scale: Floats
    at: NDArray[np.int32]
    start: Ints
    size: Ints
    bounds: Floats
    coef: Floats
    places: Ints
    images: Floats
    slot: Ints
    W: Floats
    b: Floats


def digests(rows: NDArray[Any]) -> Digests:
    """Return a digest of each row (n, d), 128 bits, of its values as float64.

    Values that are 0 are skipped, so that more columns of zeros change no digest; -0 is 0. Missing
    values are all alike, and not 0. The digests of codes are those of their bytes as numbers.
    """
    out = np.empty((len(rows), 2), dtype=np.uint64)
    native.add_up(rows, out)
    return out.view("S16")[:, 0]
