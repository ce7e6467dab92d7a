"""The stored rows: each has a place, an id, a region number and a digest.

Places are numbered in the order of teaching. Those of forgotten examples are left out, and the
others numbered anew, when they are half of all and by `consolidate`.

`table` has the rows as the separators see them: expanded (`maths/expansion.py`: hat functions, and
missing values filled), or as they were given. With a codec (`minout/codecs`) only the codes of
rows are stored, and rows are decoded where they are needed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from minout import kernels, maths
from minout._typing import Bools, Digests, Floats, Id, Ints
from minout.codecs import ExactCodec
from minout.core.table import CodedRows, Rows, RowTable, first_rows
from minout.core.work import HERE, Work
from minout.maths import NO_EXPANSION, Expansion

BLOCK = 1_024  # so many rows are expanded at a time
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-9, 1e9
"""Weights beyond these are refused: double precision could not tell the others apart."""
FOURFOLD_BELOW = 2_000_000_000  # arrays of fewer bytes grow fourfold, larger ones twofold


class About(NamedTuple):
    """What a row is stored with: its weight, its time, and how many rows were taught before it."""

    weight: float = 1.0
    time: float = 0.0
    serial: int = 0


UNWEIGHTED = About()
BY_PLACE = ("regions", "digests", "stored", "violations", "weights", "times", "serials", "keys")
"""The columns beside the rows."""


class Columns(NamedTuple):
    """What is stored beside each row; see `Examples`."""

    regions: Ints
    digests: Digests
    weights: Floats
    times: Floats
    serials: Ints
    keys: Ints


class Examples:
    """Rows with their ids, region numbers and digests, by place; those in use are below `end`.

    `given` has the rows as they were given, or their codes, and the digests are theirs. `table` is
    the same array without a codec if no row is changed by the expansion, otherwise derived from it.
    `weights` and `times` are those that the rows were taught with, `serials` their numbers in the
    order of teaching. `keys` are numbers that no other example of this model ever has. `stored` is
    False where an example was forgotten, and `violations` counts in how many separators of its
    region a row is on the wrong side.

    Nothing that an Examples object can see is ever changed: every method returns a new one. The
    arrays have spare capacity and are shared. `appended` writes behind the end that anybody sees;
    if somebody has done so already, it writes to a copy.
    """

    def __init__(
        self,
        width: int,
        dtype: DTypeLike = np.float64,
        room: int = 8,
        codec: ExactCodec | None = None,
    ) -> None:
        self.dtype, self.codec = np.dtype(dtype), codec
        self.end = self.count = self.next_key = 0
        self._tail = [0]  # how far the shared arrays are in use
        self.ids: list[Id] = []
        self.places_of_ids: dict[Id, tuple[int, ...]] = {}
        self.given: NDArray[Any] = np.zeros((room, width), dtype=self.dtype)
        if codec is not None:
            self.given = np.zeros((room, codec.bytes_per_row), dtype=np.uint8)
        self.expansion = NO_EXPANSION
        self.table: RowTable = self.rows
        self.regions: Ints = np.zeros(room, dtype=np.int64)
        self.digests: Digests = np.zeros(room, dtype="S16")
        self.stored: Bools = np.zeros(room, dtype=bool)
        self.violations: Ints = np.zeros(room, dtype=np.int64)
        self.weights: Floats = np.ones(room)
        self.times: Floats = np.zeros(room)
        self.serials: Ints = np.zeros(room, dtype=np.int64)
        self.keys: Ints = np.zeros(room, dtype=np.int64)

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
        ids: list[Id],
        columns: "Columns",
        codec: ExactCodec | None = None,
        dtype: DTypeLike | None = None,
    ) -> "Examples":
        """Return examples made of rows, ids and columns with one entry per place, none forgotten.

        With a codec `rows` are codes, and `dtype` is that of the decoded rows.
        """
        examples = cls(rows.shape[1], dtype or rows.dtype, room=0, codec=codec)
        count = examples.end = examples.count = examples._tail[0] = len(rows)
        examples.given = rows
        examples.table = examples.rows
        for name, column in columns._asdict().items():
            setattr(examples, name, column)
        examples.stored, examples.violations = np.ones(count, bool), np.zeros(count, np.int64)
        examples.next_key = int(columns.keys.max(initial=-1)) + 1
        examples.ids = ids
        examples.places_of_ids = {each: (place,) for place, each in enumerate(ids)}
        return examples

    def appended(
        self, x: NDArray[Any], c: int, example_id: Id, about: About = UNWEIGHTED
    ) -> "Examples":
        """Return examples with one more row, of region c, at the place `end`; x may be a code."""
        place, end = self.end, self.end + 1
        more = self._with_room(end)
        more._tail[0] = end
        more.given[place] = x
        if self.expansion.is_needed and isinstance(more.table, np.ndarray):
            row = maths.expanded(self.expansion, more.given[place:end])[0]
            more._set_expanded(place, row)
        more.regions[place] = c
        kernels.digests(more.given[place:end], more.digests[place:end])
        more.weights[place], more.times[place], more.serials[place] = about
        more.keys[place], more.stored[place], more.violations[place] = self.next_key, True, 0
        more.ids.append(example_id)
        more.places_of_ids[example_id] = (*more.places_of_ids.get(example_id, ()), place)
        more.end, more.count, more.next_key = end, self.count + 1, self.next_key + 1
        return more

    def without(self, places: Ints) -> "Examples":
        """Return the examples except those at some places, whose rows stay until `only`."""
        twin = self._shallow()
        twin.stored = self.stored.copy()
        twin.stored[places] = False
        twin.count = self.count - len(places)
        return twin

    def violating(self, places: Ints, counts: Ints) -> "Examples":
        """Return the same places with other counts of violations for some of them."""
        if not len(places):
            return self
        twin = self._shallow()
        twin.violations = self.violations.copy()
        twin.violations[places] = counts
        return twin

    def numbered_from(self, key: int) -> "Examples":
        """Return the same places; the next row gets this key."""
        twin = self._shallow()
        twin.next_key = key
        return twin

    def place_of(self, example_id: Id) -> int | None:
        """Return the place of a stored example; None if there is none with this id."""
        for place in reversed(self.places_of_ids.get(example_id, ())):
            if place < self.end and self.stored[place] and self.ids[place] == example_id:
                return place
        return None

    def about(self, place: int) -> About:
        """Return what the row at a place is stored with."""
        return About(float(self.weights[place]), float(self.times[place]), int(self.serials[place]))

    def places(self) -> Ints:
        """Return the places in use, ascending."""
        return np.flatnonzero(self.stored[: self.end])

    def equal_to(self, places: Ints) -> Ints:
        """Return, ascending, the stored places whose rows equal those at some places."""
        if not len(places):
            return places
        found = np.flatnonzero(np.isin(self.digests[: self.end], self.digests[places]))
        return np.asarray(found[self.stored[found]])

    def find(self, x: NDArray[Any]) -> Ints:
        """Return, ascending, the stored places whose row equals one; with a codec x may be a code.

        It takes time in proportion to the number of rows, but only their digests are compared.
        """
        found = np.flatnonzero(self.digests[: self.end] == kernels.digests(self.coded(x[None])))
        return np.asarray(found[self.stored[found]])

    def damaged(self) -> Ints:
        """Return the places whose rows do not match their stored digest."""
        differ = kernels.digests(self.given[: self.end]) != self.digests[: self.end]
        return np.flatnonzero(differ & self.stored[: self.end])

    def rows_in(self, order: Ints, work: Work = HERE) -> Rows:
        """Return the rows at some places, in their order; `work` does their sums."""
        columns = order, self.regions[order], self.digests[order]
        table, weights = first_rows(self.table, self.end), self.weights[: self.end]
        return Rows(table, weights, *columns, self.serials, work)

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

    def only(self, places: Ints) -> "Examples":
        """Return only these places, in their order, numbered from 0, in new arrays.

        If that is all places in their order, the arrays are shared. There is no expansion.
        """
        if np.array_equal(places, np.arange(self.end)):
            return self.expanded_by(NO_EXPANSION)
        twin = Examples(self.rows.shape[1], self.dtype, max(len(places), 8), self.codec)
        count = twin.end = twin.count = twin._tail[0] = len(places)
        for name in ("given", *BY_PLACE):
            getattr(twin, name)[:count] = getattr(self, name)[places]
        twin.ids = [self.ids[place] for place in places.tolist()]
        twin.places_of_ids = {each: (place,) for place, each in enumerate(twin.ids)}
        twin.next_key = self.next_key
        return twin

    def with_rows(self, rows: NDArray[Any]) -> "Examples":
        """Return the same places with other rows, one for each place, and no expansion."""
        twin = self._shallow()
        twin.given, twin.dtype, twin.expansion = rows, rows.dtype, NO_EXPANSION
        twin.table, twin._tail = twin.rows, [-1]  # the next one to be appended copies the columns
        twin.digests = kernels.digests(rows)
        return twin

    def without_history(self) -> "Examples":
        """Return the same places with serial numbers from 0, in their order, and no violations."""
        twin = self._shallow()
        twin.serials = np.arange(len(self.given))
        twin.violations = np.zeros(len(self.given), dtype=np.int64)
        return twin

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

    def _shallow(self) -> "Examples":
        twin = Examples.__new__(Examples)
        twin.__dict__ = vars(self).copy()
        return twin

    def _with_room(self, size: int) -> "Examples":
        # A twin whose arrays may be written behind its end, up to this size.
        twin, is_free = self._shallow(), self._tail[0] == self.end
        if is_free and size <= len(self.given):
            return twin
        length = len(self.given)
        if size > length:
            times = 4 if 4 * self.table.nbytes < FOURFOLD_BELOW else 2
            length = max(times * length, 8)
        twin.given = _longer(self.given[: self.end], length)
        twin.table = twin.rows
        if self.codec is not None:
            twin.table = CodedRows(twin.given, self.codec, self.dtype, self.expansion)
        elif self.table is not self.given and isinstance(self.table, np.ndarray):
            twin.table = _longer(self.table[: self.end], length)
        for name in BY_PLACE:
            setattr(twin, name, _longer(getattr(self, name)[: self.end], length))
        twin._tail, twin.ids = [self.end], self.ids[: self.end]
        stored = self.places().tolist()
        twin.places_of_ids = {self.ids[place]: (place,) for place in stored}
        return twin


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    # np.zeros takes no physical memory until it is written to, so spare capacity is cheap.
    out = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
