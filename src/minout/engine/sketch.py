"""A low-dimensional sketch of each stored row, which bounds the change of its margin."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Ints, Words
from minout.engine.table import RowTable
from minout.kernels import Changes

Singles = NDArray[np.float32]

LEVELS = kernels.LEVELS
DIRECTIONS = LEVELS[-1]
BLOCK = 1_024
BYTES = 4 * (LEVELS[-1] + len(LEVELS)) + 8
"""What a row takes in a sketch."""
WORTH_DIVIDING = 64
"""Fewer rows than this are not divided between threads."""
LARGEST = 1e15
"""The size up to which sums of squares stay finite in float32."""
ROUNDING = 1e-5
"""Tolerance for float32, relative to the lengths of the vectors multiplied.

Sums of products in float32 are off by at most their depth times 2⁻²⁴ of Σ|v_i x_i|: BLAS sums rows
in blocks less than 100 deep, which is 6e-6; directions and rows rounded to float32 add 2·6e-8.
"""


class Anchor(NamedTuple):
    """The weights of a separator at which the activations of some rows are known."""

    w: Floats
    b: float


class Sketch:
    """For each row x: its components along some directions, and the length of the remainder.

    For any v, v·(x - origin) is the inner product of the components plus that of the remainders,
    which is at most ‖remainder of v‖·‖remainder of x‖. The directions are those along which a
    sample of the rows varies most; bounds hold for any others, but are less tight.

    It describes the row at each place whose digest it has noted. `followed` describes those that
    are new or have taken a place over, and returns a new object, which may share arrays: a step
    writes only at places that are not in use without it.
    """

    def __init__(self, origin: Floats, sample: Floats) -> None:
        self._origin = origin.astype(np.float32)
        self._offset = self._origin - origin
        found = _principal((sample - origin).astype(np.float32))
        self._directions = np.zeros((len(found), LEVELS[-1]), dtype=np.float32)
        self._directions[:, : found.shape[1]] = found
        self._halves = [np.ascontiguousarray(half) for half in np.hsplit(self._directions, 2)]
        self._rows: Singles = np.zeros((8, LEVELS[-1]), dtype=np.float32)
        self._rest: Singles = np.zeros((8, len(LEVELS)), dtype=np.float32)
        self._digests: Words = np.zeros(8, dtype=np.uint64)

    def followed(self, table: RowTable, digests: Words) -> "Sketch | None":
        """Return a sketch of all rows with these digests; None if one is too large for float32.

        The sketch is then dropped. A digest of 0 is that of no row.
        """
        more, end = copy.copy(self), len(digests)
        if end > len(self._rows):
            size = len(table)
            more._rows, more._rest = _resized(self._rows, size), _resized(self._rest, size)
            more._digests = np.zeros(size, dtype=np.uint64)
            more._digests[: len(self._digests)] = self._digests
        places = np.flatnonzero(more._digests[:end] != digests)
        blocks = [places[start : start + BLOCK] for start in range(0, len(places), BLOCK)]
        if not all(kernels.in_threads(lambda block: more._describe(table, block), blocks)):
            return None
        more._digests[places] = digests[places]
        return more

    def digests_of(self, places: Ints) -> Words:
        """Return the digests of the rows at some places."""
        return np.asarray(self._digests[places])

    def _describe(self, table: RowTable, block: Ints) -> bool:
        # Fill in a block of rows; False if one is too large.
        far = table[block] - self._origin
        if max(far.max(), -far.min()) > LARGEST:
            return False
        Z = far.astype(np.float32, copy=False)
        self._rows[block] = part = self._along(Z)
        square = np.einsum("ij,ij->i", Z, Z)
        for k, level in enumerate(LEVELS):
            left = square - np.einsum("ij,ij->i", part[:, :level], part[:, :level])
            self._rest[block, k] = np.sqrt(np.maximum(left, 0.0) + ROUNDING * square)
        return True

    def _along(self, Z: Singles) -> Singles:
        if len(Z) < WORTH_DIVIDING:
            return np.asarray(Z @ self._directions)
        return np.hstack(kernels.in_threads(Z.__matmul__, self._halves))

    def changes(self, w: Floats, b: float, anchors: Sequence[Anchor]) -> Changes:
        """Return the changes from some anchors to the weights (w, b); lengths are rounded up."""
        V = w - np.array([anchor.w for anchor in anchors])
        along = V.astype(np.float32) @ self._directions
        square = np.einsum("ij,ij->i", V, V)
        left = [square - np.einsum("ij,ij->i", along[:, :n], along[:, :n]) for n in LEVELS]
        across = np.sqrt(np.maximum(np.stack(left, axis=1), 0.0) + ROUNDING * square[:, None])
        shift = np.array([b - anchor.b for anchor in anchors]) + V @ self._offset
        sizes = np.array([np.linalg.norm(anchor.w) for anchor in anchors]) + np.linalg.norm(w)
        slack = kernels.TOLERANCE * across[:, 0] + rounding(len(w)) * sizes
        return Changes(along, across, shift, slack)

    def doubtful(
        self, known: Floats, since: Ints, places: Ints, changes: Changes, sign: float, bound: float
    ) -> Ints:
        """Return the i whose margin may be below the bound.

        The activation of places[i] was known[i] at the anchor since[i], from which the weights have
        changed by changes[since[i]]; where that is -1, nothing is known.
        """
        out = np.empty(len(places), dtype=np.int64)
        rows, rest = self._rows, self._rest
        count = kernels.doubtful(known, since, places, rows, rest, changes, sign, bound, out)
        return out[:count]


def rounding(width: int) -> float:
    """Return how far a margin may be off by rounding, relative to the lengths multiplied."""
    return (width + 4) * 2.0**-52


def _principal(Z: Singles) -> Floats:
    # Approximate leading directions of Z (n, d) by the power method; orthogonal in float64.
    basis, _ = np.linalg.qr(Z[:DIRECTIONS].T)
    basis, _ = np.linalg.qr(_multiplied(Z, basis))
    basis, _ = np.linalg.qr(_multiplied(Z, basis).astype(np.float64))
    return np.asarray(basis)


def _multiplied(Z: Singles, basis: Singles) -> Singles:
    # Z'Z times a basis, in two halves.
    halves = np.array_split(basis, 2, axis=1)
    return np.hstack(kernels.in_threads(lambda half: Z.T @ (Z @ half), halves))


def _resized(array: Singles, size: int) -> Singles:
    out = np.zeros((size, array.shape[1]), dtype=array.dtype)
    out[: len(array)] = array
    return out
