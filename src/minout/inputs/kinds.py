"""Decide the kind of a column from its values: number, boolean, date, category, text, ignore."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minout.inputs.values import (
    REAL,
    TRUTH,
    as_number,
    as_text,
    as_time,
    as_word,
    as_word_among_numbers,
    is_missing,
)

KINDS = ("number", "boolean", "date", "category", "text", "ignore")
"""The kinds of columns: how their values are encoded."""
UNDECIDED = "undecided"
"""The kind of a column that has had no value so far."""
MOST_VALUES = 100
"""The most categories of a column that have a feature each; the others are hashed."""
FEWEST_TO_TELL = 20
"""The fewest values in which identifiers and text are recognised."""
NEARLY_ALL = 0.95
"""The least share of values that differ in a column of identifiers or text, or are numbers."""
TEXT_WORDS = 4.0
"""The least average number of words of text, if nearly all values differ."""
LONG_TEXT_WORDS = 8.0
"""The least average number of words of text, if more than half of the values differ."""
_ID = re.compile(r"(^|[_\s.-])(id|ids|uuid|guid|index|rowid|row_number)$|^unnamed: ?\d+$", re.I)
_CAMEL_ID = re.compile(r"[a-z](Id|ID)$")


class Decision(NamedTuple):
    """The kind of a column, and the reason in a few words; both are shown to the user."""

    kind: str
    why: str


def decide(name: str, values: Any, declared: str | None = None) -> Decision:
    """Decide the kind of a column from its first values, or the kind that its dtype declares.

    >>> decide("age", ["31", "", "28"])
    Decision(kind='number', why='each of 2 values is a number')
    >>> decide("colour", ["red", "blue", "red"]).kind
    'category'
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        given: Any = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        declared = declared or "number"
    else:
        given = [each for each in values if not is_missing(each)]
    if declared == "number":
        return _number(name, given, "its dtype is a number")
    if declared is not None:
        return Decision(declared, f"its dtype is a {declared}")
    if not given:
        return Decision(UNDECIDED, "no value so far")
    return _by_values(name, given)


def _by_values(name: str, given: Sequence[Any]) -> Decision:
    count = f"each of {len(given):,} values is" if len(given) > 1 else "its value is"
    if all(isinstance(each, bool | np.bool_) for each in given):
        return Decision("boolean", f"{count} true or false")
    if all(isinstance(each, str) and each.strip().lower() in TRUTH for each in given):
        return Decision("boolean", f"{count} a word for true or false")
    if all(map(_is_number, given)):
        return _number(name, given, f"{count} a number")
    if all(as_time(each) is not None for each in given):
        return Decision("date", f"{count} a date")
    return _mostly(name, given) or _words(given)


def _mostly(name: str, given: Sequence[Any]) -> Decision | None:
    # Where most values differ, categories would say nothing: half of them decide.
    different = len({as_text(each) for each in given})
    are_different = len(given) >= FEWEST_TO_TELL and different > 0.5 * len(given)
    enough = (0.5 if are_different else NEARLY_ALL) * len(given)
    numbers = [each for each in given if _is_number(each)]
    if len(numbers) >= enough:
        return _number(name, numbers, f"{len(numbers):,} of {len(given):,} values are numbers")
    dates = sum(as_time(each) is not None for each in given)
    if dates >= enough:
        return Decision("date", f"{dates:,} of {len(given):,} values are dates")
    return None


def _is_number(value: Any) -> bool:
    # Also one that is too large, or infinite: it is refused when it is encoded.
    if as_number(value) is not None:
        return True
    if isinstance(value, str):
        return as_word_among_numbers(value) is None
    return isinstance(value, REAL)


def _words(given: Sequence[Any]) -> Decision:
    texts = [as_text(each) or "" for each in given]
    count, different = len(texts), len(set(texts))
    if count >= FEWEST_TO_TELL:
        words = sum(len(each.split()) for each in texts) / count
        if different >= NEARLY_ALL * count and words >= TEXT_WORDS:
            return Decision("text", "nearly all values differ and have several words")
        if different > 0.5 * count and words >= LONG_TEXT_WORDS:
            return Decision("text", "most values differ and have many words")
        if different >= NEARLY_ALL * count:
            return Decision("ignore", f"an identifier: {different:,} of {count:,} values differ")
        if different > MOST_VALUES:
            return Decision("text", f"{different:,} different values, too many for categories")
    others = [each for each in given if as_number(each) is None]
    if len(others) < len(given):
        shown = as_word(others[0]) or type(others[0]).__name__
        short = repr(shown if len(shown) <= 30 else f"{shown[:29]}…")
        return Decision(
            "category", f"{len(others):,} of {len(given):,} values are not numbers, such as {short}"
        )
    return Decision("category", "its first values are words")


def _number(name: str, given: Sequence[Any], why: str) -> Decision:
    # Whole numbers that all differ, in a column that is named like an id, are identifiers.
    if len(given) >= FEWEST_TO_TELL and (_ID.search(name) or _CAMEL_ID.search(name)):
        numbers = [as_number(each) or 0.0 for each in given]
        if len(set(numbers)) == len(numbers) and all(each.is_integer() for each in numbers):
            why = f"an identifier by its name: all {len(given):,} values differ"
            return Decision("ignore", why)
    return Decision("number", why)
