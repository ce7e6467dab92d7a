"""The activation of every neuron at every stored row, updated without reading the rows."""

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Ints
from minout.errors import InvalidInputError
from minout.kernels import GradientStep

LIMIT = 20_000
"""The largest number of stored rows: the table of inner products (n² numbers) takes 3.2 GB."""


def check_room(stored: int, more: int) -> None:
    """Raise an error for more rows than the table of inner products can hold."""
    if stored + more > LIMIT:
        raise InvalidInputError(
            "This learner keeps the inner products of all stored examples "
            f"and stops at {LIMIT:,} of them; nothing was learned."
        )


class Activations:
    """The activations a[unit, neuron, id], and the inner products by which they move.

    A step adds s·x_r to a neuron, so its activations move by s·(x_r·x_i + 1) for all i: n
    multiplications for a row rehearsed, where a matrix product would take n·d for a neuron.
    """

    def __init__(self, units: int, neurons: int) -> None:
        self.n = 0
        self._a = np.zeros((units, neurons, 8))
        self._products = np.zeros((8, 8))

    def append(self, a: Floats, products: Floats, squared: float) -> None:
        """Add a row: its activations (units, neurons) and its products with the rows before."""
        check_room(self.n, more=1)
        if self.n == len(self._products):
            self._grow()
        n = self.n
        self._a[:, :, n] = a
        self._products[n, :n] = self._products[:n, n] = products + 1.0
        self._products[n, n] = squared + 1.0
        self.n = n + 1

    def truncate(self, n: int) -> None:
        """Drop all rows but the first n."""
        self.n = n

    def of_unit(self, unit: int) -> Floats:
        """Return one unit's activations, (k, ≥ n), without a copy: do not write to it."""
        return np.asarray(self._a[unit])

    def of_row(self, row: int) -> Floats:
        """Copy the activations of all neurons at one row: (units, neurons)."""
        return np.array(self._a[:, :, row])

    def follow(self, unit: int, step: GradientStep, threshold: float) -> Bools:
        """Update a unit's activations after a step.

        Return which rows, except the last, the moved neurons clip now: (moved, n - 1).
        """
        return kernels.follow_and_clip(self._a[unit], self._products, step, self.n, threshold)

    def clipped(self, unit: int, neurons: Ints, threshold: float, n: int) -> Bools:
        """Return which of the first n rows some neurons of a unit clip: (neurons, n)."""
        said: Bools = kernels.clipped(self._a[unit], neurons, threshold, n)
        return said

    def copy_of_unit(self, unit: int) -> Floats:
        """Copy one unit's activations, to restore them if learning is interrupted."""
        return np.array(self._a[unit, :, : self.n])

    def put_back(self, unit: int, copy: Floats) -> None:
        """Undo what happened to a unit since the copy was made."""
        self._a[unit, :, : copy.shape[1]] = copy

    def _grow(self) -> None:
        """Double the tables."""
        size = min(2 * self.n, LIMIT)
        a = np.zeros((*self._a.shape[:2], size))
        a[:, :, : self.n] = self._a
        products = np.zeros((size, size))
        products[: self.n, : self.n] = self._products
        self._a, self._products = a, products
