"""From what a caller hands in to the rows that a learner keeps: checked, mapped, copied once."""

from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, RandomFourier, Scattering
from minout.learner.rows import many_rows, one_row

LARGEST_SINGLE = 1e15
"""The size up to which inner products of float32 rows stay finite."""


class Door:
    """Turns one example, or many, into rows of the map's dtype.

    `lengths` says how many numbers an example has and how many a row; None while nobody knows, and
    for maps that take something else than numbers.
    """

    def __init__(self, features: FeatureMap) -> None:
        self.features = features
        self.lengths: tuple[int | None, int | None] = (None, None)
        self._takes_numbers = isinstance(features, Identity | Scattering | RandomFourier)

    def row(self, x: Any) -> Floats:
        """Gives one row (width,)."""
        if not self._takes_numbers:
            return np.asarray(self._mapped([x])[0])
        numbers = one_row(x, self.lengths[0])
        if isinstance(self.features, Identity):
            return self._passed_on(numbers)
        return np.asarray(self._mapped(numbers[None])[0])

    def rows(self, X: Any) -> Floats:
        """Gives rows (n, width)."""
        if not self._takes_numbers:
            if isinstance(X, Sized) and not len(X):
                return np.empty((0, self.lengths[1] or 1), dtype=self.features.dtype)
            return self._mapped(X)
        numbers = many_rows(X, self.lengths[0])
        if isinstance(self.features, Identity):
            return self._passed_on(numbers)
        if not len(numbers):
            return np.empty((0, self.lengths[1] or 1), dtype=self.features.dtype)
        return self._mapped(numbers)

    def lengths_of(self, x: ArrayLike, row: Floats) -> tuple[int | None, int | None]:
        """Says how long examples and rows are from now on, if this was the first."""
        if self.lengths[1] is not None:
            return self.lengths
        return (len(np.asarray(x)) if self._takes_numbers else None), len(row)

    def lengths_of_many(self, X: Any, rows: Floats) -> tuple[int | None, int | None]:
        """Says the same of many examples."""
        if self.lengths[1] is not None or not len(rows):
            return self.lengths
        return (int(np.shape(X)[1]) if self._takes_numbers else None), rows.shape[1]

    def _passed_on(self, numbers: Floats) -> Floats:
        numbers += 0.0  # -0.0 and 0.0 are the same number: let them have the same bytes
        if self.features.dtype == np.float64:
            return numbers
        if numbers.size and np.abs(numbers).max() > LARGEST_SINGLE:
            raise InvalidInputError(
                f"x holds a number beyond {LARGEST_SINGLE:g}; scale the features first."
            )
        return numbers.astype(self.features.dtype)

    def _mapped(self, X: Any) -> Floats:
        rows: NDArray[Any] = self.features.transform(X)
        width = self.lengths[1]
        if width is not None and rows.shape[1] != width:
            raise InvalidInputError(
                f"The feature map gave {rows.shape[1]} numbers, but this learner was taught with "
                f"{width}. Use the same map for every example."
            )
        return np.asarray(rows + rows.dtype.type(0.0), dtype=self.features.dtype)
