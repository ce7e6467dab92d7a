"""A memory in RAM: rows and labels in arrays that grow, an id for each that never changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints, Words
from minout.errors import InvalidInputError

MANY_ADDRESSES = 2_000_000_000
"""Arrays of fewer bytes grow fourfold, larger ones twofold."""


class RamMemory:
    """Keeps rows of `features` numbers, and with each its label, a whole number, and a digest.

    Rows are kept as `dtype`, float64 or float32. Ids count up from 0 in the order of arrival and
    are never used twice; a discarded row's place is zeroed and stays empty. `add` is O(d) on
    average, `rows` and `labels` O(d) and O(1) per id.

    >>> memory = RamMemory(features=2)
    >>> memory.add(np.array([1.0, 2.0]), 7)
    0
    >>> memory.labels([0]).tolist()
    [7]
    """

    def __init__(self, features: int, dtype: DTypeLike = np.float64) -> None:
        if features < 1:
            raise InvalidInputError(f"A row needs at least one feature, not {features}.")
        self.features = features
        self.dtype = np.dtype(dtype)
        self._word = np.dtype(f"u{self.dtype.itemsize}")
        self.end = 0
        """One more than the highest id handed out: the next id."""
        self._rows = np.zeros((8, features), dtype=self.dtype)
        self._labels = np.zeros(8, dtype=np.int64)
        self._digests: Words = np.zeros(8, dtype=np.uint64)
        self._alive: Bools = np.zeros(8, dtype=bool)

    @classmethod
    def restored(cls, rows: Floats, labels: Ints, digests: Words, alive: Bools) -> "RamMemory":
        """Makes a memory that holds rows by id, with what was known of each."""
        memory = cls(rows.shape[1], rows.dtype)
        memory.end = len(rows)
        if memory.end > len(memory._rows):
            memory._rows, memory._labels = rows, labels
            memory._digests, memory._alive = digests, alive
        else:
            memory._rows[: memory.end], memory._labels[: memory.end] = rows, labels
            memory._digests[: memory.end], memory._alive[: memory.end] = digests, alive
        return memory

    def add(self, x: Floats, label: int) -> int:
        """Copies a row in and returns its id."""
        if x.shape != (self.features,):
            raise InvalidInputError(f"x must have shape {(self.features,)}, not {x.shape}.")
        example_id = self.end
        if example_id == len(self._rows):
            # All at once: a memory that is interrupted has grown, or has not.
            self._rows, self._labels, self._digests, self._alive = (
                _longer(self._rows),
                _longer(self._labels),
                _longer(self._digests),
                _longer(self._alive),
            )
        self._rows[example_id] = x
        self._labels[example_id] = label
        self._digests[example_id] = kernels.digest(self._rows[example_id].view(self._word))
        self._alive[example_id] = True
        self.end += 1
        return example_id

    def discard(self, example_id: int) -> None:
        """Wipes a row and its label."""
        self._expect_known([example_id])
        self._rows[example_id] = 0.0
        self._labels[example_id] = 0
        self._digests[example_id] = 0
        self._alive[example_id] = False

    def relabel(self, example_id: int, label: int) -> None:
        """Gives a stored row another label."""
        self._expect_known([example_id])
        self._labels[example_id] = label

    def relabel_all(self, labels: Ints) -> None:
        """Gives every id up to the highest another label."""
        self._labels[: len(labels)] = labels

    def renamed(self, ids: Ints, number: Ints) -> "RamMemory":
        """Gives a memory of these ids, counted from 0, with number[label] for each label.

        Where that is everything the rows are shared with it: only one of the two may go on.
        """
        twin = RamMemory(self.features, self.dtype)
        if len(ids) == self.end:
            twin._rows, twin._digests, twin._alive = self._rows, self._digests, self._alive
            twin._labels = self._labels.copy()
        else:
            size = max(len(ids), len(twin._rows))
            twin._rows = np.zeros((size, self.features), dtype=self.dtype)
            twin._labels = np.zeros(size, dtype=np.int64)
            twin._digests = np.zeros(size, dtype=np.uint64)
            twin._alive = np.zeros(size, dtype=bool)
            twin._rows[: len(ids)], twin._digests[: len(ids)] = self._rows[ids], self._digests[ids]
            twin._alive[: len(ids)], twin._labels[: len(ids)] = True, self._labels[ids]
        twin._labels[: len(ids)] = number[twin._labels[: len(ids)]]
        twin.end = len(ids)
        return twin

    @property
    def table(self) -> Floats:
        """Is the rows themselves, by id, for kernels that read them where they lie."""
        return self._rows

    def digest(self, example_id: int) -> int:
        """Is the digest that a row had when it came."""
        return int(self._digests[example_id])

    def digests(self, ids: Sequence[int] | Ints) -> Words:
        """Fetches the digests that some rows had when they came."""
        return self._digests[self._expect_known(ids)]

    def equal_to(self, ids: Ints) -> Ints:
        """Lists, ascending, the stored ids whose rows are equal to those of some ids."""
        if not len(ids):
            return ids
        stored = self.ids()
        return stored[np.isin(self._digests[stored], self._digests[ids])]

    def damaged(self) -> Ints:
        """Lists the ids whose rows no longer have the digest that they came with."""
        found = [
            example_id
            for example_id in self.ids().tolist()
            if kernels.digest(self._rows[example_id].view(self._word)) != self._digests[example_id]
        ]
        return np.array(found, dtype=np.int64)

    def truncate(self, end: int) -> None:
        """Takes back the rows whose ids are `end` and above; the ids are handed out again."""
        taken = slice(end, self.end + 1)  # the last one may have been half taken in
        self._rows[taken] = 0.0
        self._labels[taken] = 0
        self._digests[taken] = 0
        self._alive[taken] = False
        self.end = end

    def rows(self, ids: Sequence[int] | Ints) -> Floats:
        """Fetches copies of the rows of some ids: (len(ids), features)."""
        return self._rows[self._expect_known(ids)]

    def labels(self, ids: Sequence[int] | Ints) -> Ints:
        """Fetches the labels of some ids."""
        return self._labels[self._expect_known(ids)]

    def products(self, x: Floats) -> Floats:
        """Gives the inner product of x with every row up to the highest id, in one fixed order."""
        if x.shape != (self.features,):
            raise InvalidInputError(f"x must have shape {(self.features,)}, not {x.shape}.")
        out = np.empty(self.end)
        kernels.products(self._rows, x, out)
        return out

    def add_multiples(self, into: Floats, places: Ints, ids: Ints, amounts: Floats) -> None:
        """Adds amounts[i] times the row of ids[i] to into[places[i]], one after the other."""
        kernels.add_multiples(into, places, self._rows, self._expect_known(ids), amounts)

    def labels_by_id(self) -> Ints:
        """Copies the labels of all ids up to the highest; what a discarded id has is 0."""
        return self._labels[: self.end].copy()

    def digests_by_id(self) -> Words:
        """Copies the digests of all ids up to the highest; what a discarded id has is 0."""
        return self._digests[: self.end].copy()

    def alive(self, ids: Ints) -> Bools:
        """Says of ids up to the highest whether each is still stored."""
        return self._alive[ids]

    def ids(self) -> Ints:
        """Lists the stored ids, ascending."""
        return np.flatnonzero(self._alive)

    def __len__(self) -> int:
        """Counts the stored examples."""
        return int(np.count_nonzero(self._alive))

    def __contains__(self, example_id: int) -> bool:
        """Says whether an id is stored."""
        return 0 <= example_id < self.end and bool(self._alive[example_id])

    def _expect_known(self, ids: Sequence[int] | Ints) -> Ints:
        asked = np.asarray(ids, dtype=np.int64)
        known = (asked >= 0) & (asked < self.end)
        known[known] = self._alive[asked[known]]
        if not known.all():
            raise InvalidInputError(f"Example {asked[~known][0]} is not in the memory.")
        return asked


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    # What is not written to takes addresses, but no memory; so there can be room for much more.
    times = 4 if 4 * array.nbytes < MANY_ADDRESSES else 2
    out = np.zeros((times * len(array), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
