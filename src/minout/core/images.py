"""Images K(x - origin) of the rows in the pools, each computed once."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.table import RowTable
from minout.maths import Geometry

FEW = 64  # fewer images than this are divided between threads by columns, more by rows
WORTH_DIVIDING = 2_000_000  # fewer multiplications are not divided between threads
BLOCK = 1_024  # how many images are computed at a time


class Images:
    """One image per row that was requested, found by the place of the row.

    Images are added after the first `count`. A step works on a `fork`, which shares the arrays and
    counts its own additions; the original does not see them. If somebody else has added images
    behind the first ones, a fork copies the arrays before it adds some. An entry of `_slot` holds
    for a place only if it is below `count` and `_place` of it names that place.
    """

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.count, self._tail = 0, [0]
        self._images = np.zeros((16, len(geometry.origin)))
        self._place: Ints = np.full(16, -1, dtype=np.int64)
        self._slot: Ints = np.full(16, -1, dtype=np.int64)

    def fork(self) -> "Images":
        """Return images that may grow without changing the original."""
        return copy.copy(self)

    def apart(self) -> "Images":
        """Return images that may grow beside a step of another thread."""
        twin = copy.copy(self)
        twin._tail = [-1]
        return twin

    def of(self, table: RowTable, places: Ints) -> tuple[Floats, Ints]:
        """Return an array that holds the images of some rows, and the index of each in it.

        A place may occur more than once. In threads, ask only for images that are already here.
        """
        if len(self._slot) < len(table):
            known = len(self._slot)
            self._slot = _longer(self._slot, len(table))
            self._slot[known:] = -1
        slots, known_places = self._known(places)
        if not known_places.all():
            missing = places[~known_places]
            self._add(table, missing[np.sort(np.unique(missing, return_index=True)[1])])
            slots = self._slot[places]
        return self._images, slots

    def all_slots(self) -> tuple[Floats, Ints]:
        """Return the array of images, and for each place the index of its image, if it has one."""
        return self._images, self._slot

    def moved(self, number: Ints) -> "Images":
        """Return the images after the row at place p has moved to number[p], or is gone (-1)."""
        twin, places = Images(self.geometry), number[self._place[: self.count]]
        stays = np.flatnonzero(places >= 0)
        twin._images, twin._place = self._images[stays], places[stays]
        twin._slot = np.full(len(number), -1, dtype=np.int64)
        twin._slot[twin._place] = np.arange(len(stays))
        twin.count = twin._tail[0] = len(stays)
        return twin

    def widened(self, geometry: Geometry, insert: Callable[[Floats], Floats]) -> "Images":
        """Return the images of rows with more columns that are 0; `insert` adds these zeros."""
        twin = Images(geometry)
        twin._images, twin._place = insert(self._images), self._place.copy()
        twin._slot, twin.count, twin._tail = self._slot.copy(), self.count, [self.count]
        return twin

    def _known(self, places: Ints) -> tuple[Ints, Any]:
        slots = self._slot[places]
        known = (slots >= 0) & (slots < self.count)
        known[known] = self._place[slots[known]] == places[known]
        return slots, known

    def _add(self, table: RowTable, places: Ints) -> None:
        start = self.count
        end = start + len(places)
        self._make_room(end)
        self._tail[0] = end
        for first in range(0, len(places), BLOCK):
            block = slice(first, min(first + BLOCK, len(places)))
            Z = table[places[block]] - self.geometry.origin
            self._multiply(Z, self._images[start + block.start : start + block.stop])
        self._place[start:end] = places
        self._slot[places] = np.arange(start, end)
        self.count = end

    def _make_room(self, end: int) -> None:
        is_free = self._tail[0] == self.count
        if is_free and end <= len(self._images):
            return
        size = 2 * end  # memory that is not written to takes no room; a copy would
        images = _longer(self._images[: self.count], size)
        places = _longer(self._place[: self.count], size)
        slot = self._slot if is_free else self._slot.copy()
        self._images, self._place, self._slot, self._tail = images, places, slot, [self.count]

    def _multiply(self, Z: Floats, out: Floats) -> None:
        K = self.geometry.K
        if K.ndim == 1:
            np.multiply(Z, K, out=out)
            return

        if len(Z) == 1:  # BLAS rounds the product of one row otherwise than that of several
            two = np.empty((2, Z.shape[1]))
            self._multiply(np.repeat(Z, 2, axis=0), two)
            out[:] = two[:1]
            return

        def multiply(part: slice) -> None:
            if len(Z) < FEW:
                np.matmul(Z, K[:, part], out=out[:, part])
            else:
                np.matmul(Z[part], K, out=out[part])

        parts = _halves(len(K) if len(Z) < FEW else len(Z))
        if Z.size * len(K) < WORTH_DIVIDING:
            for part in parts:  # the same products, so the same rounding
                multiply(part)
        else:
            kernels.in_threads(multiply, parts)


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n)


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros(
        (length, *array.shape[1:]), dtype=array.dtype
    )  # takes no memory until written to
    longer[: len(array)] = array
    return longer
