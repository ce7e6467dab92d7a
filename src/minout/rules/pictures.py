"""Images K(x - origin) of the rows that separators rest on, each computed once."""

from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.maths import Geometry

FEW = 64
"""Fewer than so many images are divided between threads by columns, more by rows."""
BLOCK = 1_024
"""So many are made at a time."""


class Pictures:
    """Keeps one image per row that was asked for, under the place of the row in its table."""

    def __init__(self, geometry: Geometry, dtype: np.dtype[Any]) -> None:
        self.geometry = geometry
        self._K = np.ascontiguousarray(geometry.K, dtype=dtype)
        self._images = np.zeros((16, len(geometry.origin)), dtype=dtype)
        self._of: Ints = np.empty(16, dtype=np.int64)
        self._which: Ints = np.full(16, -1, dtype=np.int64)
        self._taken = 0

    def of(self, table: Floats, places: Ints) -> tuple[Floats, Ints]:
        """Gives an array that holds the images of some rows, and where in it each one is.

        A place may be asked for more than once.
        """
        with kernels.one_worker_at_a_time():
            if len(self._which) < len(table):
                known = len(self._which)
                self._which = _longer(self._which, len(table))
                self._which[known:] = -1
            which = self._which[places]
            missing = places[which < 0]
            if len(missing):
                self._add(table, missing[np.sort(np.unique(missing, return_index=True)[1])])
                which = self._which[places]
            return self._images, which

    def round_to(self, dtype: np.dtype[Any]) -> None:
        """Keeps images, and makes later ones, in another precision."""
        self._K = np.ascontiguousarray(self.geometry.K, dtype=dtype)
        self._images = self._images.astype(dtype, copy=False)

    def kept(self) -> tuple[Floats, Ints]:
        """Gives the images, and the place of the row that each belongs to (negative: wiped)."""
        return self._images[: self._taken], self._of[: self._taken]

    def restore(self, images: Floats, of: Ints) -> None:
        """Takes images over that `kept` gave."""
        if not len(of):
            return
        self._images, self._of, self._taken = images, of.copy(), len(of)
        stored = np.flatnonzero(of >= 0)
        self._which = np.full(int(of.max(initial=-1)) + 1, -1, dtype=np.int64)
        self._which[of[stored]] = stored

    def discard(self, place: int) -> None:
        """Wipes a row's image."""
        for which in np.flatnonzero(self._of[: self._taken] == place).tolist():
            self._images[which] = 0.0
            self._of[which] = -1 - which  # its room stays taken
            self._which[place] = -1

    def __len__(self) -> int:
        """Counts the places for images that are taken up."""
        return self._taken

    def _add(self, table: Floats, places: Ints) -> None:
        start = self._taken
        end = start + len(places)
        if end > len(self._images):
            size = max(end, 2 * len(self._images))
            self._images, self._of = _longer(self._images, size), _longer(self._of, size)
        for first in range(0, len(places), BLOCK):
            block = slice(first, min(first + BLOCK, len(places)))
            Z = (table[places[block]] - self.geometry.origin).astype(self._K.dtype, copy=False)
            self._multiply(Z, self._images[start + block.start : start + block.stop])
        self._of[start:end] = places
        self._taken = end
        self._which[places] = np.arange(start, end)

    def _multiply(self, Z: Floats, out: Floats) -> None:
        K = self._K
        if K.ndim == 1:
            np.multiply(Z, K, out=out)
        elif len(Z) < FEW:
            parts = _halves(len(K))
            kernels.in_threads(lambda part: np.matmul(Z, K[:, part], out=out[:, part]), parts)
        else:
            parts = _halves(len(Z))
            kernels.in_threads(lambda part: np.matmul(Z[part], K, out=out[part]), parts)


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n)


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)  # no memory until written to
    longer[: len(array)] = array
    return longer
