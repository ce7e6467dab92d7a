"""The rows and labels that the paper's learner has been taught."""

from collections.abc import Sequence

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints


class Memory:
    """Rows and labels in arrays that grow; ids are 0, 1, 2, … in the order of arrival.

    Parameters
    ----------
    features : int
        The number of features of a row.

    Notes
    -----
    ``add`` takes O(features) on average; ``rows`` and ``labels`` take O(features) and O(1) per id.
    Nothing is checked here: the learner checks rows and ids at its boundary.

    Examples
    --------
    >>> memory = Memory(features=2)
    >>> memory.add(np.array([1.0, 2.0]), 7)
    0
    >>> memory.labels([0]).tolist()
    [7]
    """

    def __init__(self, features: int) -> None:
        self.features = features
        self._end = 0
        self._rows = np.zeros((8, features))
        self._labels = np.zeros(8, dtype=np.int64)

    def add(self, x: Floats, label: int) -> int:
        """Copy a row in and return its id."""
        if self._end == len(self._rows):
            # Replace both arrays in one statement: an interruption finds both old or both new.
            self._rows, self._labels = (
                np.concatenate([self._rows, np.zeros_like(self._rows)]),
                np.concatenate([self._labels, np.zeros_like(self._labels)]),
            )
        self._rows[self._end] = x
        self._labels[self._end] = label
        self._end += 1
        return self._end - 1

    def truncate(self, end: int) -> None:
        """Drop the rows whose ids are `end` or more; their ids are used again."""
        self._end = end

    def rows(self, ids: Sequence[int] | Ints) -> Floats:
        """Copy the rows of some ids: (len(ids), features)."""
        return self._rows[: self._end][np.asarray(ids, dtype=np.int64)]

    def labels(self, ids: Sequence[int] | Ints) -> Ints:
        """Copy the labels of some ids."""
        return self._labels[: self._end][np.asarray(ids, dtype=np.int64)]

    def all_labels(self) -> Ints:
        """Copy the labels of all ids."""
        return self._labels[: self._end].copy()

    def products(self, x: Floats) -> Floats:
        """Return the inner product of x with every row, each summed in a fixed order."""
        out = np.empty(self._end)
        kernels.products(self._rows, x, out)
        return out

    def add_multiples(self, into: Floats, places: Ints, ids: Ints, amounts: Floats) -> None:
        """Add amounts[i] times the row of ids[i] to into[places[i]], in the order given."""
        kernels.add_multiples(into, places, self._rows, ids, amounts)

    def ids(self) -> Ints:
        """Return the stored ids, ascending."""
        return np.arange(self._end)

    def __len__(self) -> int:
        return self._end
