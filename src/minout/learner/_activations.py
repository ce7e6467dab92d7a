"""What every neuron says about every stored row, kept current without reading a row again."""

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError
from minout.kernels import Pull

LIMIT = 20_000
"""Stored rows at which the table of inner products (n² numbers) reaches 3.2 GB."""


class Activations:
    """Holds a[unit, neuron, id] and the inner products by which they move.

    A step adds s·x_r to a neuron, so its activations move by s·(x_r·x_i + 1) for all i: n
    multiplications for a row rehearsed, where a matrix product would take n·d for a neuron.
    """

    def __init__(self, units: int, neurons: int) -> None:
        self.n = 0
        self._a = np.zeros((units, neurons, 8))
        self._products = np.zeros((8, 8))

    def append(self, a: Floats, products: Floats, squared: float) -> None:
        """Takes in a row: its activations (units, neurons), its products with the rows before."""
        if self.n == LIMIT:
            raise InvalidInputError(
                f"The gradient rule keeps the inner products of all stored examples "
                f"and stops at {LIMIT:,} of them; this one was not learned."
            )
        if self.n == len(self._products):
            self._grow()
        n = self.n
        self._a[:, :, n] = a
        self._products[n, :n] = self._products[:n, n] = products + 1.0
        self._products[n, n] = squared + 1.0
        self.n = n + 1

    def truncate(self, n: int) -> None:
        """Drops all rows but the first n."""
        self.n = n

    def of_unit(self, unit: int) -> Floats:
        """Gives one unit's activations, (k, ≥ n): the live array, for reading."""
        return np.asarray(self._a[unit])

    def of_row(self, row: int) -> Floats:
        """Copies what all neurons say about one row: (units, neurons)."""
        return np.array(self._a[:, :, row])

    def follow(self, unit: int, pull: Pull, threshold: float) -> Bools:
        """Moves a unit's activations as the pull moves its weights.

        Says which rows but the last the moved neurons clip now: (moved, n - 1).
        """
        return kernels.follow_and_clip(self._a[unit], self._products, pull, self.n, threshold)

    def clipped(self, unit: int, neurons: Ints, threshold: float, n: int) -> Bools:
        """Says which of the first n rows some neurons of a unit clip: (neurons, n)."""
        said: Bools = kernels.clipped(self._a[unit], neurons, threshold, n)
        return said

    def copy_of_unit(self, unit: int) -> Floats:
        """Copies one unit's activations, to put back if learning is interrupted."""
        return np.array(self._a[unit, :, : self.n])

    def put_back(self, unit: int, copy: Floats) -> None:
        """Undoes what happened to a unit since the copy was made."""
        self._a[unit, :, : copy.shape[1]] = copy

    def _grow(self) -> None:
        size = min(2 * self.n, LIMIT)
        a = np.zeros((*self._a.shape[:2], size))
        a[:, :, : self.n] = self._a
        products = np.zeros((size, size))
        products[: self.n, : self.n] = self._products
        self._a, self._products = a, products
