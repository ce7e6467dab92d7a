"""Decide the kind of a column from its values: number, boolean, date, category, text, ignore."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minout.inputs.values import (
    ORDERS,
    REAL,
    TRUTH,
    as_number,
    as_text,
    as_time,
    as_word,
    as_word_among_numbers,
    is_missing,
)

DATES = ("date", *ORDERS)
"""The kinds of dates; "date" if no value is like 3/4/2021, where the order must be known."""
KINDS = ("number", "boolean", *DATES, "category", "text", "ignore")
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
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+", re.ASCII)
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
    if _are_padded(given):
        return Decision("category", f"{count} a code of {len(given[0].strip())} digits")
    if all(map(_is_number, given)):
        return _number(name, given, f"{count} a number")
    return _by_most_values(name, given, count)


def _are_padded(given: Sequence[Any]) -> bool:
    # Such as postal codes: digits of one length, some with a 0 in front, and few enough of them.
    texts = {each.strip() if isinstance(each, str) else "" for each in given}
    return (
        all(len(each) == len(next(iter(texts))) > 2 for each in texts)
        and all(each.isascii() and each.isdigit() for each in texts)
        and any(each[0] == "0" for each in texts)
        and (len(given) < FEWEST_TO_TELL or len(texts) < NEARLY_ALL * len(given))
    )


def _by_most_values(name: str, given: Sequence[Any], count: str) -> Decision:
    kinds, dates = _date_kinds(given)
    # Where most values differ, categories would say nothing: half of them decide.
    are_different = len({as_text(each) for each in given}) > 0.5 * len(given) >= FEWEST_TO_TELL / 2
    enough = (0.5 if are_different else NEARLY_ALL) * len(given)
    if dates >= enough and (len(kinds) == 1 or kinds[0] == "date"):
        all_are = f"{count} a date"
        some_are = f"{dates:,} of {len(given):,} values are dates"
        return Decision(kinds[0], all_are if dates == len(given) else some_are)
    numbers = [each for each in given if _is_number(each)]
    if len(numbers) >= enough:
        return _number(name, numbers, f"{len(numbers):,} of {len(given):,} values are numbers")
    found, commas = _words(given), [each for each in given if _has_decimal_comma(each)]
    if dates >= enough:
        why = 'day or month may be first; set its kind to "day-first" or "month-first"'
        return Decision(found.kind, f"{why}, such as {as_text(given[0])}")
    if len(commas) + len(numbers) >= enough:
        why = "decimal commas; teach a new model with them converted, or with --decimal ,"
        return Decision(found.kind, f"{why}, such as {as_text(commas[0])}")
    return found


def _date_kinds(given: Sequence[Any]) -> tuple[list[str], int]:
    # As which kinds most values are dates, and how many are; text is recognised by its beginning.
    if not any(as_time(each, order) for each in given[:FEWEST_TO_TELL] for order in ORDERS):
        return [], 0
    counts = [sum(as_time(each, kind) is not None for each in given) for kind in DATES]
    return [kind for kind, n in zip(DATES, counts, strict=True) if n == max(counts)], max(counts)


def _has_decimal_comma(value: Any) -> bool:
    return isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value.strip()) is not None


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
        if different > MOST_VALUES and words >= TEXT_WORDS:
            return Decision("text", f"{different:,} different values with several words")
    others = [each for each in given if as_number(each) is None]
    if len(others) < len(given):
        shown = as_word(others[0]) or type(others[0]).__name__
        short = repr(shown if len(shown) <= 30 else f"{shown[:29]}…")
        return Decision(
            "category", f"{len(others):,} of {len(given):,} values are not numbers, such as {short}"
        )
    return Decision("category", "its first values are words")


def _number(name: str, given: Sequence[Any], why: str) -> Decision:
    # Whole numbers that all differ are identifiers if the column is named like an id.
    numbers = {0.5 if (n := as_number(each)) is None else n for each in given}
    if FEWEST_TO_TELL <= len(given) == len(numbers) and all(each.is_integer() for each in numbers):
        if _ID.search(name) or _CAMEL_ID.search(name):
            return Decision(
                "ignore", f"an identifier by its name: all {len(given):,} values differ"
            )
        why += '; all differ, so if it is an identifier, set its kind to "ignore"'
    return Decision("number", why)
