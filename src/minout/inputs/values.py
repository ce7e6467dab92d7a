"""Read single values: whether one is missing, and as a number, boolean, date or category."""

import re
import zlib
from calendar import isleap
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import cos, isfinite, pi, sin
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.inputs.arguments import LARGEST

MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "nan", "NaN", "NAN", "NaT"}
    | {"null", "NULL", "Null", "None", "?", "-"}
)
"""Strings that stand for a missing value."""
TRUTH = {"true": True, "yes": True, "false": False, "no": False}
"""Strings for booleans, in lower case."""
LONGEST = 200
"""The most characters of a category; a longer one is cut, and ends with a hash of all of it."""
EPOCH = datetime(1970, 1, 1)
DAY = timedelta(days=1)
REAL = int | float | np.integer | np.floating | np.bool_ | Decimal
ORDERS = ("day-first", "month-first")
"""How 3/4/2021 may be read; a column is decided as a whole."""
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DATE = re.compile(
    r"(?:(?P<a>\d\d?)(?P<mark>[/.-])(?P<b>\d\d?)(?P=mark)|(?P<day>\d\d?)[ -]"
    rf"(?P<month>{_MONTH})\.?,?[ -]|(?P<named>{_MONTH})\.? (?P<nth>\d\d?),? )"
    r"(?P<year>\d{4}|\d\d)"
    r"(?:(?:T| +)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d*)?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?)?",
    re.ASCII | re.IGNORECASE,
)
_MONEY = "[$€£¥]|AUD|CAD|CHF|CNY|EUR|GBP|INR|JPY|USD"
_MARKED = re.compile(
    rf"([+-]?)(?:{_MONEY})? ?"
    rf"((?:[1-9]\d{{0,2}}(?:,\d{{3}})+|\d+)(?:\.\d*)?|\.\d+) ?(?:%|{_MONEY})?",
    re.ASCII,
)
_CLOCK = re.compile(r"(\d\d?):([0-5]\d)(?::([0-5]\d(?:\.\d*)?))?", re.ASCII)
_DIGITS = frozenset("0123456789+-.eE")
Cells = tuple[tuple[str, float], ...]
"""What a value sets: keys of features, each with its number."""


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NaT, pandas.NA, or a string such as "NA".

    >>> [is_missing(each) for each in (None, float("nan"), "", " NA ", "?", 0, "none at all")]
    [True, True, True, True, True, False, False]
    """
    if isinstance(value, str):
        return value.strip() in MISSING
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, int | date):
        return type(value).__name__ == "NaTType"  # pandas, which need not be installed
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | Decimal) and bool(np.isnan(float(value)))


def as_number(value: Any) -> float | None:
    """Return a value as a finite number up to 1e100; None if it is not a number.

    A boolean is 1 or 0; a duration, and hours and minutes, are in seconds. A string may have commas
    between thousands, and a currency or percent sign.

    >>> [as_number(each) for each in (3, " 3.5e2", True, "3,5", "inf", "1_000")]
    [3.0, 350.0, 1.0, None, None, None]
    >>> [as_number(each) for each in ("1,234.50", "-$1,234,567", "45 %", "0,125", "12,34")]
    [1234.5, -1234567.0, 45.0, None, None]
    >>> [as_number(each) for each in ("USD 12.30", "5 EUR", "08:45", "8:45:30")]
    [12.3, 5.0, 31500.0, 31530.0]
    """
    if isinstance(value, str):
        value = value.strip()
        if not _DIGITS.issuperset(value):
            clock, found = _CLOCK.fullmatch(value), _MARKED.fullmatch(value)
            if clock is not None:
                return 3600.0 * int(clock[1]) + 60.0 * int(clock[2]) + float(clock[3] or 0)
            if found is None:
                return None
            value = found[1] + found[2].replace(",", "")
    elif isinstance(value, timedelta):
        value = value.total_seconds()
    elif isinstance(value, np.timedelta64):
        value = value / np.timedelta64(1, "s")
    elif not isinstance(value, REAL):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and abs(number) <= LARGEST else None


def split_numbers(values: Any) -> tuple[Floats, list[int]]:
    """Return numbers (n,), NaN for missing and other values, and the indices of other values.

    >>> split_numbers(["3", " 3.5e2", "", None, "many"])
    (array([  3., 350.,  nan,  nan,  nan]), [4])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        numbers: Floats = np.asarray(values, dtype=np.float64)
        return numbers, np.flatnonzero(np.abs(numbers) > LARGEST).tolist()
    plain = _plain(values)
    if plain is not None:
        return plain, []
    found = [as_number(each) for each in values]
    others = [n for n, each in enumerate(found) if each is None and not is_missing(values[n])]
    return np.array(found, dtype=np.float64), others  # None becomes NaN


def _plain(values: Sequence[Any]) -> Floats | None:
    """Return strings of digits, or floats and ints, as numbers, five times as fast."""
    types = set(map(type, values))
    try:
        if not types <= {float, int} and not _DIGITS.issuperset("".join(values)):
            return None
        numbers = np.fromiter(map(float, values), np.float64, len(values))
    except (TypeError, ValueError, OverflowError):  # other types, strings such as "-", 10**400
        return None
    return None if (np.abs(numbers) > LARGEST).any() else numbers


def as_truth(value: Any) -> bool | None:
    """Return a boolean, or what a string or number stands for; None if it is not a boolean."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        known = TRUTH.get(value.strip().lower())
        if known is not None:
            return known
    number = as_number(value)
    return None if number not in (0.0, 1.0) else number == 1.0


def as_time(value: Any, order: str = "") -> datetime | None:
    """Return a date or time without a time zone, in UTC if it had one; None if it is no date.

    Strings are ISO 8601 with dashes or slashes, or have a day, a month and a year, in an order of
    `ORDERS` unless the month is a word or there are points (then the day is first), and maybe a
    time. Years of two digits are those from 1969 to 2068.

    >>> as_time("2024-02-29"), as_time("2024-02-29T12:00+02:00"), as_time("10/11/2015")
    (datetime.datetime(2024, 2, 29, 0, 0), datetime.datetime(2024, 2, 29, 10, 0), None)
    >>> as_time("2024/02/29 06:55"), as_time("29.2.2024")
    (datetime.datetime(2024, 2, 29, 6, 55), datetime.datetime(2024, 2, 29, 0, 0))
    >>> as_time("10/25/90 1:30 PM", "month-first"), as_time("Oct 25, 1990")
    (datetime.datetime(1990, 10, 25, 13, 30), datetime.datetime(1990, 10, 25, 0, 0))
    """
    if isinstance(value, str):
        text = value.strip()
        is_iso = len(text) > 9 and text[4] == text[7] and text[4] in "-/"
        try:
            value = (
                datetime.fromisoformat(text.replace("/", "-")) if is_iso else _dated(text, order)
            )
        except ValueError:
            return None
    elif isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        plain = value if type(value) is datetime else datetime.fromisoformat(value.isoformat())
        try:
            return plain if plain.tzinfo is None else plain.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            return None
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return None


def _dated(text: str, order: str) -> datetime | None:
    # The time of a string with day, month and year; ValueError if there is no such day.
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    name = found["month"] or found["named"]
    if name:
        day, month = found["day"] or found["nth"], 1 + MONTHS.index(name[:3].lower())
    elif order == "month-first" and found["mark"] != ".":
        month, day = int(found["a"]), found["b"]
    elif order in ORDERS or found["mark"] == ".":
        day, month = found["a"], int(found["b"])
    else:
        return None
    year, hour = int(found["year"]), int(found["hour"] or 0)
    if len(found["year"]) == 2:
        year += 2000 if year < 69 else 1900
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"] in "pP")
    return datetime(
        year, month, int(day), hour, int(found["minute"] or 0), int(found["second"] or 0)
    )


def as_word(value: Any) -> str | None:
    """Return a value as a category: 3, 3.0 and "3" are the same; None for lists and the like.

    >>> [as_word(each) for each in (" red ", 3.0, "3", True, 2.5, [1])]
    ['red', '3', '3', 'true', '2.5', None]
    """
    text = as_text(value)
    if text is None:
        return None
    if not text.isascii():
        text = text.encode(errors="replace").decode()  # half a character cannot be saved
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 10]}…{word_hash(text):08x}"


def as_text(value: Any) -> str | None:
    """Return a value as a string of any length; None for lists and the like."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | np.integer):
        return str(int(value)) if abs(int(value)) < 10**100 else "a number beyond 1e100"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if isinstance(value, bytes | bytearray | list | tuple | dict | set | np.ndarray):
        return None
    return str(value)


def as_word_among_numbers(value: Any) -> str | None:
    """Return the category of a string in a column of numbers; None if it is not a string.

    None, too, for a string that is a number beyond 1e100.

    >>> [as_word_among_numbers(each) for each in ("unknown", "5-10", "1e200", [1])]
    ['unknown', '5-10', None, None]
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _DIGITS.issuperset(text):
        try:
            float(text)
        except ValueError:
            return as_word(text)
        return None
    return as_word(text)


def word_hash(text: str) -> int:
    """Return a 32-bit hash of a string, the same in every process."""
    return zlib.crc32(text.encode())


def time_cells(time: datetime) -> Cells:
    """Return days since 1970, and angles of the year, the week and, except at midnight, the day."""
    of_day = (time - datetime(time.year, time.month, time.day)) / DAY
    year = datetime(time.year, 1, 1)
    length = 366 if isleap(time.year) else 365
    cells = (
        ("days", (time - EPOCH) / DAY),
        *_angle("year", (time - year) / DAY / length),
        *_angle("week", time.weekday() / 7),
    )
    return cells if of_day == 0.0 else (*cells, *_angle("day", of_day))


def _angle(name: str, turn: float) -> Cells:
    return (f"{name} sin", sin(2 * pi * turn)), (f"{name} cos", cos(2 * pi * turn))
