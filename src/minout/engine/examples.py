"""The stored rows: each has a place that never changes, a class number and a digest."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints, Words

FOURFOLD_BELOW = 2_000_000_000
"""Arrays of fewer bytes grow fourfold, larger ones twofold."""


class Examples:
    """Rows with their class numbers and digests, by place: the first `end` places are in use.

    An Examples object is never changed in place except by `wipe` and `relabel`, which only
    `State` calls. The arrays have spare capacity from `end` on. `staged` writes a row there and
    returns a new object that counts it; the old object still ends before it. So a step can work
    with the new row, and a step that fails has changed nothing.

    Parameters
    ----------
    width : int
        Numbers in a row.
    dtype : float32 or float64
        The dtype of the stored rows.
    """

    __slots__ = ("classes", "digests", "dtype", "end", "stored", "table", "width")

    def __init__(self, width: int, dtype: DTypeLike = np.float64, room: int = 8) -> None:
        self.width = width
        self.dtype = np.dtype(dtype)
        self.end = 0
        self.table: Floats = np.zeros((room, width), dtype=self.dtype)
        self.classes: Ints = np.zeros(room, dtype=np.int64)
        self.digests: Words = np.zeros(room, dtype=np.uint64)
        self.stored: Bools = np.zeros(room, dtype=bool)

    @classmethod
    def of(cls, rows: Floats, classes: Ints, digests: Words, stored: Bools) -> "Examples":
        """Return examples made of these arrays, which have one entry per place."""
        examples = cls(rows.shape[1], rows.dtype, room=0)
        examples.end = len(rows)
        examples.table, examples.classes = rows, classes
        examples.digests, examples.stored = digests, stored
        return examples

    def staged(self, x: Floats, c: int) -> "Examples":
        """Return examples with one more row, of class c, at place `self.end`."""
        place = self.end
        more = self._with_room(place + 1)
        more.table[place] = x
        more.classes[place] = c
        more.digests[place] = self._digest(more.table[place])
        more.stored[place] = True
        more.end = place + 1
        return more

    def places(self) -> Ints:
        """Return the places in use, ascending."""
        return np.flatnonzero(self.stored[: self.end])

    def equal_to(self, places: Ints) -> Ints:
        """Return, ascending, the stored places whose rows equal those at some places."""
        if not len(places):
            return places
        stored = self.places()
        return stored[np.isin(self.digests[stored], self.digests[places])]

    def damaged(self) -> Ints:
        """Return the places whose rows do not match their stored digest."""
        found = [
            place
            for place in self.places().tolist()
            if self._digest(self.table[place]) != self.digests[place]
        ]
        return np.array(found, dtype=np.int64)

    def only(self, places: Ints, number: Ints) -> "Examples":
        """Return only these places, numbered from 0, with class number[c] for each class c.

        If that is all places, rows and digests are shared, not copied.
        """
        if len(places) == self.end:
            twin = self._shallow()
            twin.classes = self.classes.copy()
        else:
            twin = Examples(self.width, self.dtype, max(len(places), 8))
            count = twin.end = len(places)
            twin.table[:count], twin.digests[:count] = self.table[places], self.digests[places]
            twin.classes[:count], twin.stored[:count] = self.classes[places], True
        if twin.end:
            twin.classes[: twin.end] = number[twin.classes[: twin.end]]
        return twin

    def renumbered(self, number: Ints) -> "Examples":
        """Return the same places with class number[c] for each class c."""
        twin = self._shallow()
        twin.classes = self.classes.copy()
        twin.classes[: self.end] = number[self.classes[: self.end]]
        return twin

    def relabel(self, place: int, c: int) -> None:
        """Give the row at a place another class, in place."""
        self.classes[place] = c

    def wipe(self, places: Ints) -> None:
        """Overwrite rows that were forgotten, in place."""
        self.table[places] = 0.0
        self.classes[places] = 0
        self.digests[places] = 0
        self.stored[places] = False

    def _digest(self, row: Floats) -> int:
        return int(kernels.digest(row.view(f"u{self.dtype.itemsize}")))

    def _shallow(self) -> "Examples":
        twin = Examples.__new__(Examples)
        twin.width, twin.dtype, twin.end = self.width, self.dtype, self.end
        twin.table, twin.classes = self.table, self.classes
        twin.digests, twin.stored = self.digests, self.stored
        return twin

    def _with_room(self, size: int) -> "Examples":
        twin = self._shallow()
        if size > len(self.table):
            twin.table, twin.classes = _longer(self.table), _longer(self.classes)
            twin.digests, twin.stored = _longer(self.digests), _longer(self.stored)
        return twin


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    # np.zeros takes no physical memory until it is written to, so spare capacity is cheap.
    times = 4 if 4 * array.nbytes < FOURFOLD_BELOW else 2
    out = np.zeros((max(times * len(array), 8), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
