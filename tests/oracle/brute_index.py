"""The same promise as the index, kept by looking at every example: slow, and plain to see."""

from collections.abc import Sequence

import numpy as np

from minout._typing import Bools, Ints
from minout.maths import interfered, partition
from minout.paper import Partition


class BruteIndex:
    """Keeps each example's clipped neurons in a dictionary and asks the formulas every time."""

    def __init__(self, units: int, neurons: int) -> None:
        self.units = units
        self.neurons = neurons
        self._clipped: dict[int, Bools] = {}

    def add(self, example_id: int, clipped: Bools) -> None:
        """Takes in a new example; clipped (units, neurons) says which neurons clip it."""
        self._clipped[example_id] = clipped.copy()

    def discard(self, example_id: int) -> None:
        """Drops an example; no later answer names it."""
        del self._clipped[example_id]

    def replace(self, unit: int, neurons: Sequence[int] | Ints, clipped: Bools) -> None:
        """Follows a weight change: clipped (len(neurons), one more than the highest id)."""
        for example_id, known in self._clipped.items():
            known[unit, neurons] = clipped[:, example_id]

    def interfered(self, unit: int, neurons: Sequence[int] | Ints) -> Ints:
        """Lists the ids that a change of `neurons` can disturb."""
        return self.ids()[interfered(self._table(unit), neurons)]

    def partition(self, unit: int, neuron: int) -> Partition:
        """Gives the paper's S1, S2 and S3 for an update of one neuron."""
        sets = partition(self._table(unit), neuron)
        return Partition(*(self.ids()[mask] for mask in sets))

    def unclipped(self, unit: int) -> Ints:
        """Lists the ids that no neuron of a unit clips."""
        return self.ids()[~self._table(unit).any(axis=1)]

    def clipped(self, example_id: int) -> Bools:
        """Says which neurons clip an example: (units, neurons)."""
        return self._clipped[example_id]

    def ids(self) -> Ints:
        """Lists the stored ids, ascending."""
        return np.array(sorted(self._clipped), dtype=np.int64)

    def __len__(self) -> int:
        """Counts the stored examples."""
        return len(self._clipped)

    def __contains__(self, example_id: int) -> bool:
        """Says whether an id is stored."""
        return example_id in self._clipped

    def _table(self, unit: int) -> Bools:
        rows = [self._clipped[example_id][unit] for example_id in self.ids().tolist()]
        return np.array(rows, dtype=bool).reshape(-1, self.neurons)
