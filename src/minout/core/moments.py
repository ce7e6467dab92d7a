"""Sums over the stored examples, from which origin, scale, metric and priors are computed."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.table import RowTable
from minout.maths import Moments

BLOCK = 2_048  # the number of rows per block of the scatter matrix
FEW = 256  # the number of rows that are added at a time; larger copies would stay in the heap


@dataclass(frozen=True)
class RunningMoments:
    """The sums of `maths.Moments` over the rows seen so far; every method returns new sums.

    Methods that add rows take the table and the weights, both by place, and the places to add.
    Rows with serial numbers from `seen` on are still to be added; to the scatter, once there is
    one, those from `scattered` on. If `stale`, rows have left or changed their regions since: the
    sums are to be computed anew before they are used. With `exact` the scatter is summed in double
    precision, whatever the dtype of the rows.
    """

    shift: Floats
    counts: Floats
    sums: Floats
    squares: Floats
    scatter: Floats | None = None
    seen: int = 0
    scattered: int = 0
    exact: bool = False
    stale: bool = False

    @classmethod
    def about(cls, x: Floats, *, seen: int = 0, exact: bool = False) -> "RunningMoments":
        """Return sums over no rows, about a first row x."""
        d = len(x)
        exact = exact or x.dtype == np.float64
        shift = x.astype(np.float64)
        return cls(shift, np.zeros(0), np.zeros((0, d)), np.zeros(d), seen=seen, exact=exact)

    def with_rows(
        self, table: RowTable, weights: Floats, places: Ints, classes: Ints, sign: float = 1.0
    ) -> "RunningMoments":
        """Return sums with rows of some classes added in the order given, or subtracted (-1)."""
        counts, sums, squares = self.counts.copy(), self.sums.copy(), self.squares.copy()
        for start in range(0, len(places), FEW):
            few, mine = places[start : start + FEW], classes[start : start + FEW]
            Z, weight = self._rows(table, few), weights[few]
            weighed = weight[:, None] * Z
            for c in np.unique(mine).tolist():
                counts[c] += sign * weight[mine == c].sum()
                sums[c] += sign * weighed[mine == c].sum(axis=0)
            squares += sign * (weighed * Z).sum(axis=0)
        return replace(self, counts=counts, sums=sums, squares=squares)

    def seen_to(self, end: int) -> "RunningMoments":
        """Return sums with `seen` set to `end`."""
        return replace(self, seen=end)

    def lacks(self, taught: int) -> bool:
        """Return whether there is a scatter, which lacks a block of the rows taught so far."""
        return self.scatter is not None and taught - self.scattered >= BLOCK

    def without(self, serials: Ints) -> "RunningMoments":
        """Return stale sums, without the scatter if rows with these serial numbers are in it."""
        if self.scatter is not None and (serials < self.scattered).any():
            return replace(self, scatter=None, scattered=0, stale=True)
        return self if self.stale else replace(self, stale=True)

    def with_scatter(
        self, table: RowTable, weights: Floats, order: Ints, serials: Ints
    ) -> "RunningMoments":
        """Return sums whose scatter includes all rows seen; a new scatter takes the order given.

        `serials` are the serial numbers by place.
        """
        late = order if self.scatter is None else order[serials[order] >= self.scattered]
        scatter = self.scatter
        if len(late):
            scatter = np.zeros((len(self.shift),) * 2) if scatter is None else scatter.copy()
            self._add_scatter(table, weights, late, scatter)
        return replace(self, scatter=scatter, scattered=self.seen)

    def for_classes(self, count: int) -> "RunningMoments":
        """Return sums extended by empty classes."""
        more = count - len(self.counts)
        if more <= 0:
            return self
        counts = np.concatenate([self.counts, np.zeros(more)])
        sums = np.concatenate([self.sums, np.zeros((more, len(self.shift)))])
        return replace(self, counts=counts, sums=sums)

    def regrouped(
        self, table: RowTable, weights: Floats, places: Ints, regions: Ints, count: int
    ) -> "RunningMoments":
        """Return the sums by other regions; the rows are all those seen, in the order to add."""
        zero = np.zeros(len(self.shift))
        sums = np.zeros((0, len(zero)))
        empty = replace(self, counts=np.zeros(0), sums=sums, squares=zero, stale=False)
        return empty.for_classes(count).with_rows(table, weights, places, regions)

    def by_label(self, owner: Ints) -> "RunningMoments":
        """Return the sums by label, owner[c] being the number of the label of region c."""
        known = owner[: len(self.counts)]
        empty = replace(self, counts=np.zeros(0), sums=np.zeros((0, len(self.shift))))
        merged = empty.for_classes(int(owner.max(initial=-1)) + 1)
        np.add.at(merged.counts, known, self.counts)
        np.add.at(merged.sums, known, self.sums)
        return merged

    def only_classes(self, kept: list[int]) -> "RunningMoments":
        """Return the sums of some classes, numbered again from 0."""
        wide = self.for_classes(max(kept, default=-1) + 1)
        return replace(wide, counts=wide.counts[kept], sums=wide.sums[kept])

    def means(self) -> Floats:
        """Return the mean of each class."""
        counts = np.where(self.counts > 0.0, self.counts, 1.0)
        return np.asarray(self.shift + self.sums / counts[:, None])

    def mean(self, c: int) -> Floats:
        """Return the mean of one class."""
        return np.asarray(self.shift + self.sums[c] / (self.counts[c] or 1.0))

    def moments(self) -> Moments:
        """Return the sums as the specification takes them."""
        return Moments(self.shift, self.counts, self.sums, self.squares, self.scatter)

    def _add_scatter(self, table: RowTable, weights: Floats, places: Ints, scatter: Floats) -> None:
        # Add Z'Z, Z the rows less the shift times the roots of their weights, in place: the upper
        # half, then the lower left. In single precision large weights could overflow.
        precision, half = np.float64 if self.exact else table.dtype, len(scatter) // 2
        if (weights[places] != 1.0).any():
            precision = np.float64

        def add(part: tuple[Floats, Floats, Floats]) -> None:
            total, A, B = part
            total += A.T @ B

        for start in range(0, len(places), BLOCK):
            few = places[start : start + BLOCK]
            Z = self._rows(table, few, precision)
            Z *= np.sqrt(weights[few])[:, None].astype(precision)
            left, right = Z[:, :half], Z[:, half:]
            corners = [(scatter[:half, :half], left, left), (scatter[half:, half:], right, right)]
            kernels.in_threads(add, [(scatter[:half, half:], left, right), *corners])
        scatter[half:, :half] = scatter[:half, half:].T

    def _rows(self, table: RowTable, places: Ints, precision: DTypeLike = np.float64) -> Floats:
        Z: Floats = table[places].astype(precision, copy=False)
        Z -= self.shift.astype(precision)
        return Z
