"""Sums over the stored examples, from which origin, scale, metric and priors are computed."""

from dataclasses import dataclass, replace

import numpy as np

from minout._typing import Floats, Ints
from minout.core.sums import class_sums, scatter_of
from minout.core.table import Rows
from minout.maths import Moments

BLOCK = 2_048  # the number of rows that are added to the scatter matrix at a time


@dataclass(frozen=True)
class RunningMoments:
    """The sums of `maths.Moments` over the rows seen so far; every method returns new sums.

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

    def with_rows(self, rows: Rows) -> "RunningMoments":
        """Return sums with rows added; those of each class are summed first."""
        counts, sums, squares, d = (
            self.counts.copy(),
            self.sums.copy(),
            self.squares.copy(),
            len(self.shift),
        )
        for c, total in class_sums(rows, self.shift):
            counts[c] += total[0]
            sums[c] += total[1 : d + 1]
            squares += total[d + 1 :]
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

    def with_scatter(self, rows: Rows) -> "RunningMoments":
        """Return sums whose scatter includes all rows seen, which are given.

        In single precision large weights could overflow.
        """
        late = rows if self.scatter is None else rows.since(self.scattered)
        scatter = self.scatter
        if len(late.order):
            is_plain = not self.exact and bool((late.weights[late.order] == 1.0).all())
            more = scatter_of(late, self.shift, rows.table.dtype if is_plain else np.float64)
            scatter = more if scatter is None else scatter + more
        return replace(self, scatter=scatter, scattered=self.seen)

    def for_classes(self, count: int) -> "RunningMoments":
        """Return sums extended by empty classes."""
        more = count - len(self.counts)
        if more <= 0:
            return self
        counts = np.concatenate([self.counts, np.zeros(more)])
        sums = np.concatenate([self.sums, np.zeros((more, len(self.shift)))])
        return replace(self, counts=counts, sums=sums)

    def regrouped(self, rows: Rows, count: int) -> "RunningMoments":
        """Return the sums by other regions, of which there are `count`; the rows are all seen."""
        zero = np.zeros(len(self.shift))
        sums = np.zeros((0, len(zero)))
        empty = replace(self, counts=np.zeros(0), sums=sums, squares=zero, stale=False)
        return empty.for_classes(count).with_rows(rows)

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
