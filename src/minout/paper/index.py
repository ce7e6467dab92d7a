"""The paper's index: a bitmap of clipped examples per neuron, and a counter per example."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Ints
from minout.errors import InvalidInputError
from minout.kernels import Bitmaps

INT64 = np.dtype(np.int64)


class Partition(NamedTuple):
    """The stored ids, by whether an update of one neuron of a unit can disturb them.

    Attributes
    ----------
    s1, s2, s3 : int64 arrays, ascending
        s1: no neuron clips them. s2: only that neuron does. s3: another one does, so the output of
        the unit is 0 before and after.
    """

    s1: Ints
    s2: Ints
    s3: Ints


class Index:
    """Which neurons clip which stored example, for every unit.

    Parameters
    ----------
    units, neurons : int
        The number of units and of neurons per unit.

    Raises
    ------
    InvalidInputError
        If either is less than 1.

    Notes
    -----
    Ids are small non-negative integers. The index takes one bit per neuron and 8 bytes per unit for
    each id up to the highest. With k neurons per unit, m units, n ids and |J| neurons asked about
    or changed: `add`, `discard` O(m·k); `replace` O(|J|·n/64) and O(1) per bit that flips;
    `interfered` O(n/64) for one neuron, O((k - |J|)·n/64) for more, and O(1) per id in the answer;
    `partition` O(n).

    Examples
    --------
    >>> index = Index(units=1, neurons=2)
    >>> index.add(0, np.array([[False, False]]))
    >>> index.add(1, np.array([[True, False]]))
    >>> index.add(2, np.array([[False, True]]))
    >>> index.interfered(0, [0]).tolist()
    [0, 1]
    """

    def __init__(self, units: int, neurons: int) -> None:
        if units < 1 or neurons < 1:
            raise InvalidInputError(
                f"An index needs at least one unit and one neuron, not {units} and {neurons}."
            )
        self.units = units
        self.neurons = neurons
        self._end = 0  # one more than the highest id so far
        self._alive = np.zeros(1, dtype=np.uint64)
        self._tables = [_empty_table(neurons, words=1) for _ in range(units)]

    def add(self, example_id: int, clipped: Bools) -> None:
        """Add an example; clipped (units, neurons) is true where a neuron clips it."""
        if not isinstance(example_id, int | np.integer):
            raise InvalidInputError(f"An example's id is a whole number, not {example_id!r}.")
        if example_id in self:
            raise InvalidInputError(
                f"Example {example_id} is in the index already; discard it first."
            )
        if example_id < 0:
            raise InvalidInputError(f"An example's id is 0 or more, not {example_id}.")
        self._expect(clipped, (self.units, self.neurons))
        self._grow(example_id + 1)
        self._write(example_id, clipped)
        self._alive[example_id // 64] |= _bit(example_id)

    def discard(self, example_id: int) -> None:
        """Drop an example."""
        self._expect_known(example_id)
        self._write(example_id, np.zeros((self.units, self.neurons), dtype=bool))
        self._alive[example_id // 64] &= ~_bit(example_id)

    def truncate(self, end: int) -> None:
        """Drop every example whose id is `end` or more, also a partly added one."""
        nothing = np.zeros((self.units, self.neurons), dtype=bool)
        for example_id in range(end, self._end):
            self._write(example_id, nothing)
            self._alive[example_id // 64] &= ~_bit(example_id)
        self._end = end

    def replace(self, unit: int, neurons: Sequence[int] | Ints, clipped: Bools) -> None:
        """Record a weight change of some neurons of a unit.

        clipped (len(neurons), n) is true where a neuron now clips an id, for every id 0 … n - 1;
        n is one more than the highest id. Entries of ids that are not stored are ignored.
        """
        asked = self._neurons(unit, neurons)
        self._expect(clipped, (len(asked), self._end))
        kernels.replace(self._tables[unit], self._alive, asked, clipped)

    def interfered(self, unit: int, neurons: Sequence[int] | Ints) -> Ints:
        """Return the ids that a change of `neurons` can disturb: no other neuron clips them."""
        asked = self._neurons(unit, neurons)
        return kernels.interfered(self._tables[unit], self._alive, asked)

    def partition(self, unit: int, neuron: int) -> Partition:
        """Return the paper's S1, S2 and S3 for an update of one neuron."""
        at_risk, s1 = self.interfered(unit, [neuron]), self.unclipped(unit)
        s2 = np.setdiff1d(at_risk, s1, assume_unique=True)
        return Partition(s1, s2, s3=np.setdiff1d(self.ids(), at_risk, assume_unique=True))

    def unclipped(self, unit: int) -> Ints:
        """Return the ids that no neuron of a unit clips: S1 of each of its neurons."""
        self._expect_unit(unit)
        return kernels.bits(self._tables[unit].none, self._alive)

    def clipped(self, example_id: int) -> Bools:
        """Return which neurons clip an example: (units, neurons)."""
        self._expect_known(example_id)
        words = np.array([table.clipped[:, example_id // 64] for table in self._tables])
        return np.asarray((words & _bit(example_id)) != 0)

    def ids(self) -> Ints:
        """Return the stored ids, ascending."""
        return kernels.bits(self._alive, self._alive)

    def __len__(self) -> int:
        """Return the number of stored examples."""
        return int(np.bitwise_count(self._alive).sum())

    def __contains__(self, example_id: int) -> bool:
        """Return whether an id is stored."""
        if not 0 <= example_id < self._end:
            return False
        return bool(self._alive[example_id // 64] & _bit(example_id))

    def _write(self, example_id: int, clipped: Bools) -> None:
        for table, bits in zip(self._tables, clipped, strict=True):
            kernels.write(table, example_id, bits)

    def _grow(self, end: int) -> None:
        words = len(self._alive)
        if end > 64 * words:
            more = max(words, -(-end // 64) - words)
            # Both at once: an index that is interrupted has grown, or has not.
            self._alive, self._tables = (
                np.concatenate([self._alive, np.zeros(more, dtype=np.uint64)]),
                [_widened(table, more) for table in self._tables],
            )
        self._end = max(self._end, end)

    def _neurons(self, unit: int, neurons: Sequence[int] | Ints) -> Ints:
        self._expect_unit(unit)
        asked = np.asarray(neurons)
        if asked.size == 0:
            return np.empty(0, dtype=np.int64)
        if asked.ndim != 1 or asked.dtype != INT64 or not kernels.all_below(asked, self.neurons):
            raise InvalidInputError(
                f"Neurons are int64 numbers from 0 to {self.neurons - 1}, not {asked.tolist()}."
            )
        return asked

    def _expect_unit(self, unit: int) -> None:
        if not 0 <= unit < self.units:
            raise InvalidInputError(f"There is no unit {unit}; this index has {self.units}.")

    def _expect(self, clipped: Bools, shape: tuple[int, int]) -> None:
        if clipped.shape != shape or clipped.dtype != np.bool_:
            raise InvalidInputError(
                f"`clipped` must be a boolean array of shape {shape}, "
                f"not {clipped.dtype} of shape {clipped.shape}."
            )

    def _expect_known(self, example_id: int) -> None:
        if example_id not in self:
            raise InvalidInputError(f"Example {example_id} is not in the index.")

    def _check(self) -> None:
        """Assert every invariant."""
        alive = np.unpackbits(self._alive.view(np.uint8), bitorder="little").astype(bool)
        assert not alive[self._end :].any(), "an id beyond the highest is alive"
        for unit, table in enumerate(self._tables):
            bits = np.unpackbits(table.clipped.view(np.uint8), axis=1, bitorder="little")
            none = np.unpackbits(table.none.view(np.uint8), bitorder="little").astype(bool)
            one = np.unpackbits(table.one.view(np.uint8), bitorder="little").astype(bool)
            assert not bits[:, ~alive].any(), f"unit {unit}: a bit is set for an id not stored"
            counters = bits.sum(axis=0, dtype=np.int64)
            wrong = np.flatnonzero(counters != table.counters)
            assert wrong.size == 0, f"unit {unit}: counters of {wrong} differ from their bits"
            assert (none == (counters == 0)).all(), f"unit {unit}: `none` differs from the counters"
            assert (one == (counters == 1)).all(), f"unit {unit}: `one` differs from the counters"


def _empty_table(neurons: int, words: int) -> Bitmaps:
    return Bitmaps(
        clipped=np.zeros((neurons, words), dtype=np.uint64),
        none=np.full(words, ~np.uint64(0)),
        one=np.zeros(words, dtype=np.uint64),
        counters=np.zeros(64 * words, dtype=np.int64),
    )


def _widened(table: Bitmaps, words: int) -> Bitmaps:
    more = _empty_table(len(table.clipped), words)
    return Bitmaps(*(np.concatenate([a, b], axis=-1) for a, b in zip(table, more, strict=True)))


def _bit(example_id: int) -> np.uint64:
    return np.uint64(1) << np.uint64(example_id % 64)
