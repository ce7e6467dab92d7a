"""Read numbers with a decimal comma: 3,5 and 1.234,5."""

import re
from collections.abc import Sequence

from minout.tables import is_missing

_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?", re.ASCII)
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)


def comma_columns(records: Sequence[Sequence[str]], delimiter: str) -> set[int]:
    """Return the positions of the columns whose numbers have a decimal comma.

    A column has a decimal comma if all its values are numbers or missing, and at least one has a
    comma. If the delimiter is a comma, too, values such as 1,234 may have a thousands separator:
    then at least one value must have a comma that cannot be one.

    Examples
    --------
    >>> comma_columns([["3,5", "7", "1.2"], ["NA", "8", "3"]], ";")
    {0}
    >>> comma_columns([["1,234"], ["5,678"]], ","), comma_columns([["1,234"], ["5,6"]], ",")
    (set(), {0})
    """
    found = set()
    for place in range(max(map(len, records), default=0)):
        values = {record[place].strip() for record in records if len(record) > place}
        values = {each for each in values if not is_missing(each)}
        commas = {each for each in values if "," in each}
        if delimiter == ",":
            commas = {each for each in commas if not _THOUSANDS.fullmatch(each)}
        if commas and all(map(_COMMA.fullmatch, values)):
            found.add(place)
    return found


def has_points(records: Sequence[Sequence[str]], place: int) -> bool:
    """Return whether a column has a number with a decimal point, such as 1.5 (1.234 is none).

    Examples
    --------
    >>> has_points([["1.234"], ["7"]], 0), has_points([["1.5"]], 0)
    (False, True)
    """
    values = (record[place].strip() for record in records if len(record) > place)
    return any(_POINT.fullmatch(each) and not _COMMA.fullmatch(each) for each in values)


def with_point(text: str) -> str:
    """Return a number with a decimal comma in Python's notation; other text unchanged.

    Examples
    --------
    >>> with_point("1.234,5"), with_point(" 7"), with_point("a, b")
    ('1234.5', ' 7', 'a, b')
    """
    if ("," in text or "." in text) and _COMMA.fullmatch(text.strip()):
        return text.strip().replace(".", "").replace(",", ".")
    return text
