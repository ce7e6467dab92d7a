"""What a field may hold: a label, an id, a number."""

import math
from typing import Any

from minout.errors import InvalidInputError
from minout.streams.files.example import Label


def label_of(value: Any) -> Label:
    """Gives the label that a value of JSON, Parquet or NPZ stands for."""
    return _whole_or_word(value, "label")


def id_of(value: Any) -> str:
    """Gives the id that a value of JSON, Parquet or NPZ stands for, as a CSV would write it."""
    return str(_whole_or_word(value, "id"))


def word_of(text: str, what: str) -> str:
    """Gives the label or id that a field of text holds, without the spaces around it."""
    word = text.strip()
    if not word:
        raise InvalidInputError(f"the {what} is empty; fill it in, or take the line out.")
    if not word.isascii() and not is_unicode(word):
        raise InvalidInputError(f"the {what} is not UTF-8; save the file as UTF-8.")
    return word


def is_unicode(text: str) -> bool:
    """Says whether text that was read leniently held nothing but UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def fault_of(value: Any, column: str, *, as_text: bool = False) -> str | None:
    """Says what is wrong with a value that should be a finite number, or None if nothing is.

    In files that are text, a number is text too: `as_text`, written with a decimal point.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return f"column {column!r} is empty; fill it in, or take the row out."
    try:
        # To Python, 1_000 is a number.
        if isinstance(value, str) and (not as_text or "_" in value):
            raise ValueError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        return (
            f"column {column!r} holds {_short(value)}, which is not a number; "
            f"leave the column out (--ignore {_quoted(column)}), or encode it as numbers."
        )
    if not math.isfinite(number):
        return (
            f"column {column!r} holds {_short(value)}, which is not a finite number; "
            "fill it in, or take the row out."
        )
    return None


def _whole_or_word(value: Any, what: str) -> int | str:
    if isinstance(value, str):
        return word_of(value, what)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        raise InvalidInputError(f"the {what} is empty; fill it in, or take the row out.")
    raise InvalidInputError(
        f"the {what} is {_short(value)}; it must be a whole number or a string."
    )


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:36]}…{shown[-1]}"


def _quoted(column: str) -> str:
    return column if column.isidentifier() else f"'{column}'"
