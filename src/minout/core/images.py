"""Images K(x - origin) of the rows in the pools, each computed once."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.table import RowTable
from minout.maths import Geometry

BLOCK = 1_024  # how many images are computed at a time
FEW = 128  # how many rows are read at a time


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
        self._measured, self._longest = 0, 0.0
        self._images = np.zeros((16, len(geometry.origin)))
        self._place: Ints = np.full(16, -1, dtype=np.int64)
        self._slot: Ints = np.full(16, -1, dtype=np.int64)

    @property
    def are_cheap(self) -> bool:
        """Whether the metric is diagonal: then separators are settled without images."""
        return self.geometry.K.ndim == 1

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
        self._make_slots(len(table))
        slots, known_places = self._known(places)
        if not known_places.all():
            missing = places[~known_places]
            self._add(table, missing[np.sort(np.unique(missing, return_index=True)[1])])
            slots = self._slot[places]
        return self._images, slots

    def products(self, X: Floats, table: RowTable, places: Ints) -> Floats:
        """Return the products of rows with the images of stored ones: (rows, places in the table).

        Only those at some places, ascending, are computed. The metric is diagonal.
        """
        origin, K = self.geometry.origin, self.geometry.K
        Y, out = (X - origin) * K, np.zeros((len(X), int(places.max(initial=-1)) + 1))
        for start in range(0, len(places), FEW):
            some = places[start : start + FEW]
            rows, found = table[some], np.empty((len(X), len(some)))
            for y, values in zip(Y, found, strict=True):
                kernels.activations(y, 0.0, rows, np.arange(len(some)), origin, values)
            out[:, some] = found
        return out

    def rounding(self, table: RowTable, end: int) -> float:
        """Return how far two sums for the value of a stored row may differ, for α that add up to 1.

        It is known from the rows at the places below `end`; the metric is diagonal.
        """
        for start in range(self._measured, end, FEW):
            Z = table[np.arange(start, min(start + FEW, end))] - self.geometry.origin
            self._longest = max(self._longest, float((Z * Z @ self.geometry.K).max()))
        self._measured = max(self._measured, end)
        return (len(self.geometry.origin) + 4) * 2.0**-50 * (1.0 + self._longest)

    def all_slots(self) -> tuple[Floats, Ints]:
        """Return the array of images, and for each place the index of its image, if it has one."""
        return self._images, self._slot

    def known(self, places: Ints | None) -> tuple[Floats, Ints, Ints]:
        """Return images, the place of each, and by place where its image may be.

        Given some places, ascending, the numbers of the rows among these stand for their places.
        """
        images, place = self._images[: self.count], self._place[: self.count]
        if places is None:
            return images, place, self._slot
        places = places[places < len(self._slot)]
        slots, known = self._known(places)
        number = np.full(self.count, -1, dtype=np.int64)
        number[slots[known]] = np.flatnonzero(known)
        return images, number, np.where(known, slots, -1)

    def add(self, places: Ints, images: Floats) -> None:
        """Add the images of some different rows that have none yet."""
        if not len(places):
            return
        start = self.count
        end = start + len(places)
        self._make_room(end)
        self._tail[0], self.count = end, end
        self._images[start:end], self._place[start:end] = images, places
        self._make_slots(int(places.max()) + 1)
        self._slot[places] = np.arange(start, end)

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
        for start in range(0, len(places), BLOCK):
            some = places[start : start + BLOCK]
            self.add(some, self._computed(table[some] - self.geometry.origin))

    def _make_slots(self, count: int) -> None:
        known = len(self._slot)
        if known < count:
            self._slot = _longer(self._slot, count + count // 4)
            self._slot[known:] = -1

    def _make_room(self, end: int) -> None:
        is_free = self._tail[0] == self.count
        if is_free and end <= len(self._images):
            return
        size = 2 * end  # memory that is not written to takes no room; a copy would
        images = _longer(self._images[: self.count], size)
        places = _longer(self._place[: self.count], size)
        slot = self._slot if is_free else self._slot.copy()
        self._images, self._place, self._slot, self._tail = images, places, slot, [self.count]

    def _computed(self, Z: Floats) -> Floats:
        K = self.geometry.K
        return Z * K if K.ndim == 1 else kernels.product(Z, K)


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros(
        (length, *array.shape[1:]), dtype=array.dtype
    )  # takes no memory until written to
    longer[: len(array)] = array
    return longer
