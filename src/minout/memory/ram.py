"""A memory in RAM: rows and labels in arrays that grow, an id for each that never changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError


class RamMemory:
    """Keeps rows of `features` numbers, and with each its label, a whole number.

    Ids count up from 0 in the order of arrival and are never used twice; a discarded row's place
    is zeroed and stays empty. `add` is O(d) on average, `rows` and `labels` O(d) and O(1) per id.

    >>> memory = RamMemory(features=2)
    >>> memory.add(np.array([1.0, 2.0]), 7)
    0
    >>> memory.labels([0]).tolist()
    [7]
    """

    def __init__(self, features: int) -> None:
        if features < 1:
            raise InvalidInputError(f"A row needs at least one feature, not {features}.")
        self.features = features
        self.end = 0
        """One more than the highest id handed out: the next id."""
        self._rows = np.zeros((8, features))
        self._labels = np.zeros(8, dtype=np.int64)
        self._alive: Bools = np.zeros(8, dtype=bool)

    def add(self, x: Floats, label: int) -> int:
        """Copies a row in and returns its id."""
        if x.shape != (self.features,):
            raise InvalidInputError(f"x must have shape {(self.features,)}, not {x.shape}.")
        example_id = self.end
        if example_id == len(self._rows):
            # All three at once: a memory that is interrupted has grown, or has not.
            self._rows, self._labels, self._alive = (
                _doubled(self._rows),
                _doubled(self._labels),
                _doubled(self._alive),
            )
        self._rows[example_id] = x
        self._labels[example_id] = label
        self._alive[example_id] = True
        self.end += 1
        return example_id

    def discard(self, example_id: int) -> None:
        """Wipes a row and its label."""
        self._expect_known([example_id])
        self._rows[example_id] = 0.0
        self._labels[example_id] = 0
        self._alive[example_id] = False

    def truncate(self, end: int) -> None:
        """Takes back the rows whose ids are `end` and above; the ids are handed out again."""
        self._rows[end:] = 0.0
        self._labels[end:] = 0
        self._alive[end:] = False
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


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)])
