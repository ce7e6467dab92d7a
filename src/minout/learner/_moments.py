"""Sums over the stored examples, from which origin, scale, metric and priors are made."""

import numpy as np
from numpy.typing import DTypeLike

from minout import kernels
from minout._typing import Floats, Ints
from minout.maths import Moments
from minout.memory import RamMemory

BLOCK = 2_048
"""So many rows at a time are multiplied with themselves."""
FEW = 256
"""So many at a time are added up: what they need meanwhile should not stay with the process."""


class RunningMoments:
    """Keeps the sums of maths.Moments in step with a memory, many rows at a time.

    Rows whose place is `seen` and above are still to be added; to the scatter, once there is one,
    those whose place is `scattered` and above.
    """

    def __init__(self, shift: Floats, *, exact: bool = False) -> None:
        self.shift = shift.astype(np.float64)
        self._precision = np.float64 if exact else shift.dtype.type
        self.seen = self.scattered = 0
        self.counts = np.zeros(0)
        self.sums = np.zeros((0, len(shift)))
        self.squares = np.zeros(len(shift))
        self.scatter: Floats | None = None

    @classmethod
    def restored(
        cls,
        shift: Floats,
        *,
        counts: Floats,
        sums: Floats,
        squares: Floats,
        scatter: Floats | None,
        seen: int,
        scattered: int,
        exact: bool,
        dtype: DTypeLike,
    ) -> "RunningMoments":
        """Makes sums that stand where others stood."""
        moments = cls(shift.astype(dtype), exact=exact)
        moments.shift, moments.counts, moments.sums = shift, counts, sums
        moments.squares, moments.scatter = squares, scatter
        moments.seen, moments.scattered = seen, scattered
        return moments

    @property
    def exact(self) -> bool:
        """Says whether the scatter is summed in double precision, whatever the rows have."""
        return self._precision is np.float64

    def catch_up(self, memory: RamMemory, classes: int) -> None:
        """Adds the rows that came since the last time."""
        self.widen(classes)
        end = memory.end
        places = np.arange(self.seen, end)
        self._account(memory, places[memory.alive(places)], 1.0)
        self.seen = end

    def remove(self, memory: RamMemory, places: Ints) -> None:
        """Takes rows out, while they are still in the memory under their labels."""
        self._account(memory, places[places < self.seen], -1.0)

    def put_back(self, memory: RamMemory, places: Ints) -> None:
        """Adds rows that were taken out, under the labels that they have now."""
        self._account(memory, places[places < self.seen], 1.0)

    def leave_out(self, places: Ints) -> None:
        """Lets the scatter go if these rows are in it; labels do not matter to it."""
        if (places < self.scattered).any():
            self.scatter, self.scattered = None, 0

    def with_scatter(self, memory: RamMemory, order: Ints) -> None:
        """Brings the scatter up to what was seen; all rows, if need be, in the order given."""
        late = order if self.scatter is None else order[order >= self.scattered]
        if len(late):
            scatter = self._scattered(memory, late)
            if self.scatter is not None:
                scatter += self.scatter
            self.scatter = scatter
        self.scattered = self.seen

    def take_in(self, memory: RamMemory, order: Ints, classes: int) -> None:
        """Adds all that is stored, in the order given."""
        self.widen(classes)
        self._account(memory, order, 1.0)
        self.seen = memory.end

    def keep_classes(self, kept: list[int]) -> None:
        """Leaves out the classes that have no rows any more."""
        self.widen(max(kept, default=-1) + 1)
        self.counts, self.sums = self.counts[kept], self.sums[kept]

    def means(self) -> Floats:
        """Gives the mean of each class."""
        return np.asarray(self.shift + self.sums / np.maximum(self.counts, 1.0)[:, None])

    def moments(self) -> Moments:
        """Gives the sums as they stand."""
        return Moments(self.shift, self.counts, self.sums, self.squares, self.scatter)

    def _account(self, memory: RamMemory, places: Ints, sign: float) -> None:
        # Into copies, and all at once: sums that are interrupted are what they were.
        labels = memory.labels(places)
        counts, sums, squares = self.counts.copy(), self.sums.copy(), self.squares.copy()
        for start in range(0, len(places), FEW):
            mine = labels[start : start + FEW]
            Z = self._rows(memory, places[start : start + FEW])
            for c in np.unique(mine).tolist():
                counts[c] += sign * np.count_nonzero(mine == c)
                sums[c] += sign * Z[mine == c].sum(axis=0)
            squares += sign * (Z * Z).sum(axis=0)
        self.counts, self.sums, self.squares = counts, sums, squares

    def _scattered(self, memory: RamMemory, places: Ints) -> Floats:
        total = np.zeros((len(self.shift),) * 2)
        for start in range(0, len(places), BLOCK):
            total += _square(self._rows(memory, places[start : start + BLOCK], self._precision))
        return total

    def _rows(self, memory: RamMemory, places: Ints, precision: DTypeLike = np.float64) -> Floats:
        Z: Floats = memory.table[places].astype(precision, copy=False)
        Z -= self.shift.astype(precision)
        return Z

    def widen(self, classes: int) -> None:
        """Makes room for more classes."""
        more = classes - len(self.counts)
        if more > 0:
            self.counts = np.concatenate([self.counts, np.zeros(more)])
            self.sums = np.concatenate([self.sums, np.zeros((more, len(self.shift)))])


def _square(Z: Floats) -> Floats:
    # Z'Z: its upper half and its lower right corner, side by side.
    half = Z.shape[1] // 2
    left, right = Z[:, :half], Z[:, half:]
    upper, corner = kernels.in_threads(
        lambda pair: pair[0].T @ pair[1], ((left, Z), (right, right))
    )
    return np.block([[upper], [upper[:, half:].T, corner]])
