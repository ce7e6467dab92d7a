"""Encode many values of a column at once: each different value is read once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.tables.columns import Column
from minout.tables.values import LARGEST, Cells


class CodedColumn(NamedTuple):
    """A column: the number of the value of each row; of each value, its first row and its cells."""

    column: Column
    codes: list[int]
    first: list[int]
    cells: list[Cells]


def coded_column(column: Column, values: Sequence[Any]) -> CodedColumn:
    """Return a column with each different value once."""
    numbers: dict[Any, int] = {}
    coded = CodedColumn(column, [], [], [])
    for row, value in enumerate(values):
        try:
            code = numbers.setdefault((type(value), value), len(coded.cells))
        except TypeError:  # a value without a hash; `cells` raises the error
            code = len(coded.cells)
        if code == len(coded.cells):
            coded.first.append(row)
            coded.cells.append(column.cells(value))
        coded.codes.append(code)
    return coded


def fill(rows: Floats, codes: list[int], placed: list[list[tuple[int, float]]]) -> None:
    """Set what the value of each row sets: places and numbers, for each different value."""
    values = np.array(codes, dtype=np.int64)
    for n in range(max(map(len, placed), default=0)):
        cells = [each[n] if n < len(each) else (-1, 0.0) for each in placed]
        places = np.array([place for place, _ in cells], dtype=np.int64)[values]
        numbers = np.array([number for _, number in cells])[values]
        at = np.flatnonzero(places >= 0)
        rows[at, places[at]] = numbers[at]


def is_array_of(column: Column, values: Any) -> bool:
    """Return whether values can be taken as they are: an array, for a column of numbers."""
    is_array = isinstance(values, np.ndarray) and values.dtype.kind in "fiub"
    return column.kind == "number" and not column.late and is_array


def checked_numbers(column: Column, values: Any) -> Floats:
    """Return an array as float64, NaN where a number is missing."""
    numbers: Floats = np.asarray(values, dtype=np.float64)
    beyond = np.abs(np.where(np.isnan(numbers), 0.0, numbers)) > LARGEST
    if beyond.any():
        column.cells(float(numbers[beyond][0]))  # raises
    return numbers
