"""Encode many values of a column at once: numbers together, each other distinct value once."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.tables.columns import Column, Placed
from minout.tables.values import LARGEST, Cells, as_number, is_missing, plain_numbers

_EXACT = frozenset({str, type(None), bool, int, float, date, np.float64, np.int64})
"""Values of these types that are equal are the same number, date and category."""
_NONE = np.empty(0, dtype=np.int64)


class ReadColumn(NamedTuple):
    """The values of a column in many rows: its numbers, and its other values.

    Attributes
    ----------
    column : Column
        The column.
    numbers : ndarray of shape (n,) or None
        NaN where a number is missing, and for other values; None if the column is not one of
        numbers, or has no features yet.
    rows : ndarray of shape (m,)
        The rows that have other values.
    codes : ndarray of shape (m,)
        The index of the distinct value in each of these rows.
    first, cells : ndarray and list of length k
        For each distinct value, the first row that has it, and the features that it sets.
    """

    column: Column
    numbers: Floats | None
    rows: Ints
    codes: Ints
    first: Ints
    cells: list[Cells]


def read_column(column: Column, values: Sequence[Any] | None, count: int) -> ReadColumn:
    """Read the values of a column in `count` rows; `values` is None if the table lacks it."""
    if values is None:
        values = [None] * count
    numbers, rows = None, np.arange(count)
    if column.takes_plain_numbers:
        numbers, others = _numbers(column, values)
        rows, values = np.array(others, dtype=np.int64), [values[n] for n in others]
    codes, first = _codes(column, values)
    cells = [column.cells(values[n]) for n in first.tolist()]
    return ReadColumn(column, numbers, rows, codes, rows[first], cells)


def first_cells(column: Column, values: Sequence[Any]) -> list[Cells]:
    """Return the features that the first values of a column set, without those of numbers."""
    if column.kind == "text":  # all its numbers are in its base
        for each in values:
            column.text("" if is_missing(each) else each)  # raises
        return []
    if column.kind == "number":
        values = [values[n] for n in _numbers(column, values)[1]]
    return [column.cells(values[n]) for n in _codes(column, values)[1].tolist()]


def split_numbers(values: Sequence[Any]) -> tuple[Floats, list[int]]:
    """Return numbers (n,), NaN for missing and other values, and the indices of other values."""
    numbers = plain_numbers(values)
    if numbers is not None:
        return numbers, []
    found = [as_number(each) for each in values]
    others = [n for n, each in enumerate(found) if each is None]
    return np.array(found, dtype=np.float64), others  # None becomes NaN


def fill(rows: Floats, read: ReadColumn, placed: Sequence[Placed]) -> None:
    """Set the features of a column in many rows; `placed` has those of each distinct value."""
    column, numbers = read.column, read.numbers
    if numbers is not None and column.late:
        is_given = ~np.isnan(numbers)
        rows[is_given, column.places["number"]] = numbers[is_given]
        rows[is_given, column.places["given"]] = 1.0
    elif numbers is not None:
        rows[:, column.places["number"]] = numbers
    if column.kind == "text":
        _fill_text(rows, read, placed)
        return
    for n in range(max(map(len, placed), default=0)):
        cells = [each[n] if n < len(each) else (-1, 0.0) for each in placed]
        places = np.array([place for place, _ in cells], dtype=np.int64)[read.codes]
        set_to = np.array([number for _, number in cells])[read.codes]
        at = np.flatnonzero(places >= 0)
        rows[read.rows[at], places[at]] = set_to[at]


def _fill_text(rows: Floats, read: ReadColumn, placed: Sequence[Placed]) -> None:
    given = [code for code, each in enumerate(placed) if each]
    if not given:
        return
    place = placed[given[0]][0][0]
    numbers = np.zeros((len(placed), place.stop - place.start), dtype=np.float32)
    numbers[given] = [placed[code][0][1] for code in given]
    rows[:, place] = numbers[read.codes]


def _numbers(column: Column, values: Any) -> tuple[Floats, list[int]]:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        return split_numbers(values)
    numbers: Floats = np.asarray(values, dtype=np.float64)
    beyond = np.abs(numbers) > LARGEST
    if beyond.any():
        column.cells(float(numbers[beyond][0]))  # raises
    return numbers, []


def _codes(column: Column, values: Sequence[Any]) -> tuple[Ints, Ints]:
    # A code for each value, the same for equal ones, and the first index of each code.
    if len(values) == 0:
        return _NONE, _NONE
    types = set(map(type, values))
    keys: Sequence[Any] = values
    if len(types) > 1:  # True and 1 are equal
        keys = list(zip(map(type, values), values, strict=True))
    if types <= _EXACT or column.kind == "date":
        try:
            number = {key: n for n, key in enumerate(dict.fromkeys(keys))}
            codes = np.fromiter(map(number.__getitem__, keys), np.int64, len(keys))
            return codes, np.unique(codes, return_index=True)[1]
        except TypeError:  # a value without a hash; `cells` raises the error
            pass
    return np.arange(len(values)), np.arange(len(values))
