"""The columns of an encoder, prepared to encode one record after the other."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.tables.batches import split_numbers
from minout.tables.columns import BASE, Column
from minout.tables.kinds import UNDECIDED

Picked = tuple[int, Column]
"""The index of a column, and the column."""


class Plan:
    """Which columns of a record are numbers, which are encoded one by one, and their positions.

    It is valid until a column is added, gets another kind, or gets a feature that all its values
    need.
    """

    __slots__ = ("_decided", "_given", "_is_late", "_names", "_numbers", "_others", "_places")

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._names = list(columns)
        self._decided = {name for name, each in columns.items() if each.kind != UNDECIDED}
        picked = list(enumerate(columns.values()))
        self._numbers = [each for each in picked if each[1].takes_plain_numbers]
        self._others = [
            (n, each)
            for n, each in picked
            if not each.takes_plain_numbers and (each.kind == "category" or BASE[each.kind])
        ]
        places = [each.places["number"] for _, each in self._numbers]
        self._places = np.array(places, dtype=np.int64)
        self._is_late = np.array([each.late for _, each in self._numbers], dtype=np.bool_)
        given = [each.places["given"] for _, each in self._numbers if each.late]
        self._given = np.array(given, dtype=np.int64)

    def undecided(self, record: Mapping[str, Any]) -> list[str]:
        """Return the columns of a record that are new or have no kind yet."""
        if len(self._decided) == len(self._names) and list(record) == self._names:
            return []
        return [name for name in record if name not in self._decided]

    def values(self, record: Mapping[str, Any]) -> Sequence[Any]:
        """Return the values of a record, one per column."""
        if list(record) == self._names:
            return list(record.values())
        return list(map(record.get, self._names))

    def split(self, values: Sequence[Any]) -> tuple[Floats, list[Picked]]:
        """Return the numbers for `put`, and the columns that must be encoded one by one."""
        numbers, unread = split_numbers(self._of_numbers(values))
        if not unread:
            return numbers, self._others
        return numbers, sorted([*self._others, *(self._numbers[n] for n in unread)])

    def put(self, numbers: Floats, row: Floats) -> None:
        """Set the numbers in a row of zeros."""
        if len(self._given):
            is_given = ~np.isnan(numbers)
            row[self._given] = is_given[self._is_late]
            numbers = np.where(self._is_late & ~is_given, 0.0, numbers)
        row[self._places] = numbers

    def _of_numbers(self, values: Sequence[Any]) -> Sequence[Any]:
        if len(self._numbers) == len(values):
            return values
        return [values[n] for n, _ in self._numbers]
