"""Images K(x - origin) of the rows in the pools, each computed once."""

import copy
from typing import Any

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.engine.table import RowTable
from minout.maths import Geometry

FEW = 64
"""Fewer images than this are divided between threads by columns, more by rows."""
WORTH_DIVIDING = 2_000_000
"""Fewer multiplications are not divided between threads."""
BLOCK = 1_024
"""How many images are computed at a time."""


class Images:
    """One image per row that was requested, found by the place of the row.

    Images are added after the first `count`. A step works on a `fork`, which shares the
    arrays and counts its own additions; the original does not see them. An entry of `_slot` holds
    for a place only if it is below `count` and `_place` of it names that place. `generation` counts
    how often images that were already here have moved; until the next time, the first ones stay.
    """

    def __init__(self, geometry: Geometry, dtype: np.dtype[Any]) -> None:
        self.geometry = geometry
        self.count = self.generation = 0
        self._K = _cast(geometry.K, dtype)
        self._images = np.zeros((16, len(geometry.origin)), dtype=dtype)
        self._place: Ints = np.full(16, -1, dtype=np.int64)
        self._slot: Ints = np.full(16, -1, dtype=np.int64)

    def fork(self) -> "Images":
        """Return images that may grow without changing the original."""
        return copy.copy(self)

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

    def round_to(self, dtype: np.dtype[Any]) -> None:
        """Convert the images, and compute later ones, to another precision."""
        self._K, self._images = _cast(self.geometry.K, dtype), _cast(self._images, dtype)

    def kept(self) -> tuple[Floats, Ints]:
        """Return the images, and the place that each belongs to, ascending."""
        places = self._place[: self.count]
        slots = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        return self._images[slots], places[slots]

    def since(self, count: int) -> tuple[Floats, Ints]:
        """Return the images that were added after the first `count`, and their places."""
        slots = count + np.flatnonzero(self._place[count : self.count] >= 0)
        return self._images[slots], self._place[slots]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the images."""
        dtype: np.dtype[Any] = self._images.dtype
        return dtype

    def restore(self, images: Floats, places: Ints) -> None:
        """Restore the images that `kept` returned."""
        if not len(places):
            return
        self._images, self._place, self.count = images, places, len(places)
        self._slot = np.full(int(places[-1]) + 1, -1, dtype=np.int64)
        self._slot[places] = np.arange(len(places))

    def wipe(self, places: Ints) -> None:
        """Overwrite the images of forgotten rows, in place.

        Their slots stay taken until most of all slots are of such rows.
        """
        slots = [slot for slot in map(self._slot_of, places.tolist()) if slot is not None]
        for slot in slots:
            self._images[slot] = 0.0
            self._place[slot] = -1 - slot  # last: after an interruption this is done again
        if slots and self.count > FEW:
            alive = self._place[: self.count] >= 0
            if 2 * np.count_nonzero(alive) < self.count:
                self._only(np.flatnonzero(alive))

    def at(self, place: int) -> Floats | None:
        """Return a copy of the image of a row; None if it has none."""
        slot = self._slot_of(place)
        return None if slot is None else self._images[slot].copy()

    def put(self, place: int, image: Floats) -> None:
        """Put back an image that was wiped, in place."""
        known = np.flatnonzero(self._place[: self.count] == place)
        slot = int(known[0]) if len(known) else self.count
        self.generation += 1
        self._make_room(slot + 1)
        self._images[slot], self._place[slot], self._slot[place] = image, place, slot
        self.count = max(self.count, slot + 1)

    def _only(self, slots: Ints) -> None:
        # Keep only some images, in new arrays.
        places, slot = self._place[slots], np.full(len(self._slot), -1, dtype=np.int64)
        slot[places] = np.arange(len(slots))
        vars(self).update(  # at once: an interruption between two of them would remain
            generation=self.generation + 1,
            _images=self._images[slots],
            _place=places,
            _slot=slot,
            count=len(slots),
        )

    def _slot_of(self, place: int) -> int | None:
        # The index of the image of a place; None if it has none.
        slot = int(self._slot[place]) if place < len(self._slot) else -1
        is_known = 0 <= slot < self.count and self._place[slot] == place
        return slot if is_known else None

    def _known(self, places: Ints) -> tuple[Ints, Any]:
        slots = self._slot[places]
        known = (slots >= 0) & (slots < self.count)
        known[known] = self._place[slots[known]] == places[known]
        return slots, known

    def _add(self, table: RowTable, places: Ints) -> None:
        start = self.count
        end = start + len(places)
        self._make_room(end)
        for first in range(0, len(places), BLOCK):
            block = slice(first, min(first + BLOCK, len(places)))
            Z = (table[places[block]] - self.geometry.origin).astype(self._K.dtype, copy=False)
            self._multiply(Z, self._images[start + block.start : start + block.stop])
        self._place[start:end] = places
        self._slot[places] = np.arange(start, end)
        self.count = end

    def _make_room(self, end: int) -> None:
        if end > len(self._images):
            size = 2 * end  # memory that is not written to takes no room; a copy would
            images, places = _longer(self._images, size), _longer(self._place, size)
            vars(self).update(_images=images, _place=places)  # at once, as in `_only`

    def _multiply(self, Z: Floats, out: Floats) -> None:
        K = self._K
        if K.ndim == 1:
            np.multiply(Z, K, out=out)
            return

        def multiply(part: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # see `_cast`
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


def _cast(array: Floats, dtype: np.dtype[Any]) -> Floats:
    # What overflows in float32 is infinite; a separator that uses it is refused.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n)


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros(
        (length, *array.shape[1:]), dtype=array.dtype
    )  # takes no memory until written to
    longer[: len(array)] = array
    return longer
