"""The stored rows: each has a place that does not change, a region number and a digest.

A place that an example left is used again by a later one.

`table` has the rows as the separators see them: expanded (`maths/expansion.py`: hat functions, and
missing values filled), or as they were given. With a codec (`minout/codecs`) only the codes of
rows are stored, and rows are decoded where they are needed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from minout import kernels, maths
from minout._typing import Bools, Floats, Ints, Words
from minout.codecs import ExactCodec
from minout.engine.table import CodedRows, RowTable
from minout.maths import NO_EXPANSION, Expansion

BLOCK = 1_024
"""So many rows are expanded at a time."""
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-9, 1e9
"""Weights beyond these are refused: double precision could not tell the others apart."""
FOURFOLD_BELOW = 2_000_000_000
"""Arrays of fewer bytes grow fourfold, larger ones twofold."""


class About(NamedTuple):
    """What a row is stored with: its weight, its time, and how many rows were taught before it."""

    weight: float = 1.0
    time: float = 0.0
    serial: int = 0


UNWEIGHTED = About()


class StoredRow(NamedTuple):
    """All that is stored at one place; `expanded` is None where it is derived from codes."""

    given: NDArray[Any]
    expanded: Floats | None
    region: int
    digest: int
    about: About


class Examples:
    """Rows with their region numbers and digests, by place; those in use are below `end`.

    `given` has the rows as they were given, or their codes, and the digests are theirs. `table` is
    the same array without a codec if no row is changed by the expansion, otherwise derived from it.
    `weights` and `times` are those that the rows were taught with, `serials` their numbers in the
    order of teaching.

    An Examples object is never changed in place except by `keep_added`, `put`, `wipe` and
    `relabel`, which only `State` calls. `staged` writes a row to a place that is not in use and
    returns a new object that counts it as `added` (-1: none); the old object does not. So a step
    can work with the new row, and a step that fails has changed nothing.

    Parameters
    ----------
    width : int
        Numbers in a row.
    dtype : float32 or float64
        The dtype of the rows.
    codec : ExactCodec, optional
        The codec of the stored rows; by default they are stored as they are.
    """

    __slots__ = (
        "added",
        "codec",
        "digests",
        "dtype",
        "end",
        "expansion",
        "given",
        "regions",
        "serials",
        "stored",
        "table",
        "times",
        "weights",
    )

    def __init__(
        self,
        width: int,
        dtype: DTypeLike = np.float64,
        room: int = 8,
        codec: ExactCodec | None = None,
    ) -> None:
        self.dtype, self.codec = np.dtype(dtype), codec
        self.end, self.added = 0, -1
        self.given: NDArray[Any] = np.zeros((room, width), dtype=self.dtype)
        if codec is not None:
            self.given = np.zeros((room, codec.bytes_per_row), dtype=np.uint8)
        self.expansion = NO_EXPANSION
        self.table: RowTable = self.rows
        self.regions: Ints = np.zeros(room, dtype=np.int64)
        self.digests: Words = np.zeros(room, dtype=np.uint64)
        self.stored: Bools = np.zeros(room, dtype=bool)
        self.weights: Floats = np.ones(room)
        self.times: Floats = np.zeros(room)
        self.serials: Ints = np.zeros(room, dtype=np.int64)

    @property
    def width(self) -> int:
        """Numbers in a row of the table."""
        return int(self.table.shape[1])

    @property
    def rows(self) -> RowTable:
        """The rows without an expansion."""
        if self.codec is None:
            return self.given
        return CodedRows(self.given, self.codec, self.dtype, NO_EXPANSION)

    def coded(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return rows (n, d) in the form in which they are stored; codes stay codes."""
        if self.codec is None or X.dtype == np.uint8:
            return X
        return self.codec.encode(X)

    def read(self, X: NDArray[Any]) -> Floats:
        """Return rows or codes as the model reads them: through the codec."""
        if self.codec is None:
            return X
        return self.codec.decode(self.coded(X), self.dtype)

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        regions: Ints,
        digests: Words,
        stored: Bools,
        *,
        weights: Floats,
        times: Floats,
        serials: Ints,
        codec: ExactCodec | None = None,
        dtype: DTypeLike | None = None,
    ) -> "Examples":
        """Return examples made of these arrays, which have one entry per place.

        With a codec `rows` are codes, and `dtype` is that of the decoded rows.
        """
        examples = cls(rows.shape[1], dtype or rows.dtype, room=0, codec=codec)
        examples.end = len(rows)
        examples.given = rows
        examples.table = examples.rows
        examples.regions = regions
        examples.digests, examples.stored = digests, stored
        examples.weights, examples.times, examples.serials = weights, times, serials
        return examples

    def staged(
        self, x: NDArray[Any], c: int, about: About = UNWEIGHTED, place: int | None = None
    ) -> "Examples":
        """Return examples with one more row, of region c, at a place that is not in use.

        By default that is the first one after all others. With a codec x is a code.
        """
        place = self.end if place is None else place
        more = self._with_room(place + 1)
        more.given[place] = x
        if self.expansion.is_needed and isinstance(more.table, np.ndarray):
            row = maths.expanded(self.expansion, more.given[place : place + 1])[0]
            more._set_expanded(place, row)
        more.regions[place] = c
        more.digests[place] = self._digest(more.given[place])
        more.weights[place], more.times[place], more.serials[place] = about
        more.end, more.added = max(self.end, place + 1), place
        return more

    def keep_added(self) -> None:
        """Count the row that was added as stored, in place; twice is the same as once."""
        if self.added >= 0:
            self.stored[self.added] = True

    def at(self, place: int) -> "StoredRow":
        """Return a copy of all that is stored at a place."""
        return StoredRow(
            self.given[place].copy(),
            self.table[place].copy() if isinstance(self.table, np.ndarray) else None,
            int(self.regions[place]),
            int(self.digests[place]),
            self.about(place),
        )

    def about(self, place: int) -> About:
        """Return what the row at a place is stored with."""
        return About(float(self.weights[place]), float(self.times[place]), int(self.serials[place]))

    def put(self, place: int, row: "StoredRow") -> None:
        """Put back what was stored at a place, in place."""
        self.given[place] = row.given
        if row.expanded is not None:
            self._set_expanded(place, row.expanded)
        self.regions[place], self.digests[place] = row.region, row.digest
        self.weights[place], self.times[place], self.serials[place] = row.about
        self.stored[place] = True

    def places(self) -> Ints:
        """Return the places in use, ascending."""
        found = np.flatnonzero(self.stored[: self.end])
        if self.added >= 0 and not self.stored[self.added]:
            found = np.insert(found, np.searchsorted(found, self.added), self.added)
        return found

    def free(self) -> Ints:
        """Return the places below `end` that are not in use, ascending."""
        return np.flatnonzero(~self.stored[: self.end])

    def in_order(self, places: Ints | None = None) -> Ints:
        """Return the places in use, or some of them, in the order of teaching."""
        places = self.places() if places is None else places
        return np.asarray(places[np.argsort(self.serials[places], kind="stable")])

    def equal_to(self, places: Ints) -> Ints:
        """Return, ascending, the stored places whose rows equal those at some places."""
        if not len(places):
            return places
        found = np.flatnonzero(np.isin(self.digests[: self.end], self.digests[places]))
        return np.asarray(found[self.stored[found] | (found == self.added)])

    def find(self, x: NDArray[Any]) -> Ints:
        """Return, ascending, the stored places whose row equals one; with a codec x may be a code.

        It takes time in proportion to the number of rows, but only their digests are compared.
        """
        row = np.ascontiguousarray(self.coded(x[None])[0])
        found = np.flatnonzero(self.digests[: self.end] == np.uint64(self._digest(row)))
        return np.asarray(found[self.stored[found]])

    def damaged(self) -> Ints:
        """Return the places whose rows do not match their stored digest."""
        found = [
            place
            for place in self.places().tolist()
            if self._digest(self.given[place]) != self.digests[place]
        ]
        return np.array(found, dtype=np.int64)

    def expanded_by(self, expansion: Expansion) -> "Examples":
        """Return the same rows with another expansion."""
        twin = self._shallow()
        twin.expansion, twin.table = expansion, twin.rows
        if self.codec is not None:
            twin.table = CodedRows(self.given, self.codec, self.dtype, expansion)
        elif expansion.is_needed and not self._is_unchanged_by(expansion):
            width = twin.given.shape[1] + expansion.columns
            twin.table = table = np.zeros((len(twin.given), width), dtype=self.dtype)
            for start in range(0, self.end, BLOCK):
                rows = slice(start, min(start + BLOCK, self.end))
                table[rows] = maths.expanded(expansion, twin.given[rows])
        return twin

    def only(self, places: Ints, number: Ints) -> "Examples":
        """Return only these places, numbered from 0, with region number[c] for each region c.

        Their serial numbers are the same numbers. If that is all places in their order, rows and
        digests are shared, not copied. There is no expansion.
        """
        if np.array_equal(places, np.arange(self.end)):
            twin = self.expanded_by(NO_EXPANSION)
            twin.added = -1
            twin.regions = self.regions.copy()
        else:
            width = self.rows.shape[1]
            twin = Examples(width, self.dtype, max(len(places), 8), self.codec)
            count = twin.end = len(places)
            twin.given[:count], twin.digests[:count] = self.given[places], self.digests[places]
            twin.regions[:count], twin.stored[:count] = self.regions[places], True
            twin.weights[:count], twin.times[:count] = self.weights[places], self.times[places]
        twin.serials = np.arange(len(twin.given))
        if twin.end:
            twin.regions[: twin.end] = number[twin.regions[: twin.end]]
        return twin

    def renumbered(self, number: Ints) -> "Examples":
        """Return the same places with region number[c] for each region c."""
        regions, places = np.zeros(self.end, dtype=np.int64), self.places()
        regions[places] = number[self.regions[places]]
        return self.in_regions(regions)

    def in_regions(self, regions: Ints) -> "Examples":
        """Return the same places in other regions: one number for each place."""
        twin = self._shallow()
        twin.regions = self.regions.copy()
        twin.regions[: self.end] = regions
        return twin

    def weighed(self, place: int, weight: float) -> "Examples":
        """Return the same places with another weight for one of them."""
        twin = self._shallow()
        twin.weights = self.weights.copy()
        twin.weights[place] = weight
        return twin

    def relabel(self, place: int, c: int) -> None:
        """Move the row at a place to another region, in place."""
        self.regions[place] = c

    def wipe(self, places: Ints) -> None:
        """Overwrite rows that were forgotten, in place."""
        for place in places.tolist():  # mostly one: faster than with an array
            if self.added == place:
                self.added = -1
            self.given[place] = 0
            if isinstance(self.table, np.ndarray):
                self.table[place] = 0.0
            self.regions[place] = 0
            self.digests[place] = 0
            self.stored[place] = False
            self.weights[place], self.times[place], self.serials[place] = 1.0, 0.0, 0

    def _is_unchanged_by(self, expansion: Expansion) -> bool:
        # Whether nothing is added to the rows, and no value is missing.
        if expansion.columns:
            return False
        starts = range(0, self.end, BLOCK)
        return not any(np.isnan(self.given[n : min(n + BLOCK, self.end)]).any() for n in starts)

    def _set_expanded(self, place: int, row: Floats) -> None:
        if self.table is self.given:
            if np.array_equal(row, self.given[place]):
                return
            self.table = self.given.copy()
        assert isinstance(self.table, np.ndarray)
        self.table[place] = row

    def _digest(self, row: NDArray[Any]) -> int:
        return int(kernels.digest(row.view(f"u{row.dtype.itemsize}")))

    def _shallow(self) -> "Examples":
        twin = Examples.__new__(Examples)
        twin.dtype, twin.end, twin.added = self.dtype, self.end, self.added
        twin.codec = self.codec
        twin.expansion = self.expansion
        twin.given, twin.table, twin.regions = self.given, self.table, self.regions
        twin.digests, twin.stored = self.digests, self.stored
        twin.weights, twin.times, twin.serials = self.weights, self.times, self.serials
        return twin

    def _with_room(self, size: int) -> "Examples":
        twin = self._shallow()
        if size > len(self.given):
            times = 4 if 4 * self.table.nbytes < FOURFOLD_BELOW else 2
            length = max(times * len(self.given), 8)
            twin.given = _longer(self.given, length)
            twin.table = twin.rows
            if self.codec is not None:
                twin.table = CodedRows(twin.given, self.codec, self.dtype, self.expansion)
            elif self.table is not self.given and isinstance(self.table, np.ndarray):
                twin.table = _longer(self.table, length)
            for name in ("regions", "digests", "stored", "weights", "times", "serials"):
                setattr(twin, name, _longer(getattr(self, name), length))
        return twin


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    # np.zeros takes no physical memory until it is written to, so spare capacity is cheap.
    out = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
