"""Predictions on fixed rows, kept current while a learner learns."""

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.kernels import Pull
from minout.learner import StepReport, many_rows, one_row
from minout.maths import Layer


class Board:
    """Holds every neuron's activation at n fixed rows and moves it as each report says.

    A report names the pulls of a step, W[j] += amount·x(id); so the activations here move by
    amount·(x(id)·x + 1). That is n numbers for a pull, where evaluating the neuron anew takes n·d.
    """

    def __init__(self, layer: Layer, rows: Floats, taught: Floats) -> None:
        """Evaluates `layer` at rows (n, d), once; taught (t, d) are the examples stored so far."""
        m, k, d = layer.W.shape
        self._columns = np.ascontiguousarray(many_rows(rows, d).T)
        self._a = np.empty((m, k, len(rows)))
        for w, out in zip(layer.W.reshape(m * k, d), self._a.reshape(m * k, -1), strict=True):
            kernels.products_by_column(self._columns, w, out)
        self._a += layer.b[:, :, None]
        self._least = self._a.min(axis=1)
        self._products = np.empty((8, len(rows)))
        self._taught = 0
        for x in taught:
            self._remember(x)

    def follow(self, x: Floats, report: StepReport) -> None:
        """Follows what teaching x did; every example taught must have been followed."""
        if report.example_id != self._taught:
            raise InvalidInputError(
                f"This board has followed {self._taught} examples; "
                f"it cannot follow example {report.example_id} next."
            )
        self._remember(one_row(x, len(self._columns)))
        for unit in report.units:
            a, (neurons, ids, amounts) = self._a[unit.unit], unit.pulls
            pull = Pull(rows=ids, winners=neurons, steps=amounts, moved=unit.moved)
            kernels.follow(a, self._products, pull, self._columns.shape[1])
            self._least[unit.unit] = a.min(axis=0)

    def winners(self) -> Ints:
        """Says which unit has the highest score at each row; ties go to the first."""
        return np.asarray(self._least.argmax(axis=0))

    def scores(self) -> Floats:
        """Gives min_j a_j of each unit at each row: (n, m)."""
        return np.array(self._least.T)

    def _remember(self, x: Floats) -> None:
        if self._taught == len(self._products):
            self._products = np.concatenate([self._products, np.empty_like(self._products)])
        out = self._products[self._taught]
        kernels.products_by_column(self._columns, x, out)
        out += 1.0
        self._taught += 1
