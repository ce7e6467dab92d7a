"""Decode the value of a column from the features of a row."""

from collections.abc import Mapping
from datetime import datetime
from math import isnan
from typing import Any

from minout.tables.columns import BASE, Column
from minout.tables.values import DAY, EPOCH

HASHED = "(hashed)"


def value_of(column: Column, row: list[float]) -> Any:
    """Return a number, a category, a boolean or a date in ISO 8601; None if it is missing."""
    numbers = {key: row[place] for key, place in column.places.items()}
    words = [key[1:] for key, number in numbers.items() if key.startswith("=") and number]
    if words:
        return words[0]
    if column.kind in ("category", "text") or _has_hash(numbers):
        is_given = column.kind == "text" and any(numbers.values())
        return HASHED if is_given or _has_hash(numbers) else None
    number = numbers[BASE[column.kind][0]]
    if isnan(number) or (column.late and not numbers["given"]):
        return None
    if column.kind == "boolean":
        return number == 1.0
    return _date_text(number) if column.kind == "date" else number


def _has_hash(numbers: Mapping[str, float]) -> bool:
    return any(number for key, number in numbers.items() if key.startswith("#"))


def _date_text(days: float) -> str:
    try:
        time = EPOCH + days * DAY
    except OverflowError:  # the last moment of 9999, rounded up
        time = datetime.max
    return time.date().isoformat() if days.is_integer() else time.isoformat(timespec="seconds")
