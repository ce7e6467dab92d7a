"""Who is disturbed: S1, S2 and S3, kept by the appendix's table of clipped neurons and counters.

"An example is stored under a key if the corresponding neuron is clipped at this example. At the
same time a counter is associated with each example to count how many linear neurons are clipped."
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Ints


class Partition(NamedTuple):
    """The stored ids, ascending, by whether an update of one neuron of a unit can disturb them.

    s1: no neuron clips them. s2: only that neuron does. s3: another one does, so the output of the
    unit is 0 before and after.
    """

    s1: Ints
    s2: Ints
    s3: Ints


class Index(NamedTuple):
    """The table of one unit, over the stored examples 0 … n - 1.

    `clipped` (neurons, n) is True where a neuron clips an example: a row is what the paper stores
    under a key. `counters` (n,) says how many neurons clip each example.
    """

    clipped: Bools
    counters: Ints

    def interfered(self, neurons: Iterable[int]) -> Ints:
        """Return the ids that a change of `neurons` can disturb: no other neuron clips them."""
        return np.flatnonzero(self.clipped[list(neurons)].sum(axis=0) == self.counters)

    def partition(self, neuron: int) -> Partition:
        """Return S1, S2 and S3: clipped by no neuron, by this one only, or by another."""
        s1 = self.counters == 0
        s2 = (self.counters == 1) & self.clipped[neuron]
        return Partition(*(np.flatnonzero(each) for each in (s1, s2, ~s1 & ~s2)))
