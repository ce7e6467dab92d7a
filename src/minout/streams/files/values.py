"""Parse the fields of a file: labels, ids and numbers."""

import math
from typing import Any

from minout.errors import InvalidInputError
from minout.streams.files.encoding import not_utf8
from minout.streams.files.example import Label


def parse_label(value: Any) -> Label:
    """Return a value of JSON, Parquet or NPZ as a label: an int or a string."""
    return _parse(value, "label")


def parse_id(value: Any) -> str:
    """Return a value of JSON, Parquet or NPZ as an id: a string, as a CSV would have it."""
    return str(_parse(value, "id"))


def parse_text(text: str, what: str) -> str:
    """Return the label or id of a text field, stripped of spaces."""
    word = text.strip()
    if not word:
        raise InvalidInputError(f"the {what} is empty; fill it in, or take the line out.")
    if not word.isascii() and not is_utf8(word):
        raise InvalidInputError(not_utf8(f"the {what}", word))
    return word


def check_text(value: Any, column: str) -> str:
    """Return a feature that is text; it may be empty."""
    if value is None:
        raise InvalidInputError(f"column {column!r} is missing; fill it in, or take the row out.")
    if not isinstance(value, str):
        raise InvalidInputError(
            f"column {column!r} holds {_short(value)}, which is not text; write it as a string."
        )
    if not value.isascii() and not is_utf8(value):
        raise InvalidInputError(not_utf8(f"column {column!r}", value))
    return value


def is_utf8(text: str) -> bool:
    """Return whether text, read with surrogate escapes, was valid UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def describe_fault(value: Any, column: str, *, as_text: bool = False) -> str | None:
    """Return what is wrong with a value that should be a finite number, or None.

    With `as_text` the value is a field of a text file.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return f"column {column!r} is empty; fill it in, or take the row out."
    try:
        # Python reads 1_000 as a number.
        if isinstance(value, bool) or (isinstance(value, str) and (not as_text or "_" in value)):
            raise ValueError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        shown = str(value).lower() if isinstance(value, bool) else _short(value)
        return (
            f"column {column!r} holds {shown}, which is not a number; "
            f"encode it as numbers, or start a model without the column "
            f"(--ignore {_quoted(column)})."
        )
    if not math.isfinite(number):
        return (
            f"column {column!r} holds {_short(value)}, which is not a finite number; "
            "fill it in, or take the row out."
        )
    return None


def _parse(value: Any, what: str) -> int | str:
    if isinstance(value, str):
        return parse_text(value, what)
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
