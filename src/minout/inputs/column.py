"""One column of a table: its kind, and the features that its values set in an encoded row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np

from minout.errors import InvalidInputError
from minout.features import HashedText
from minout.inputs.kinds import DATES, MOST_VALUES, UNDECIDED
from minout.inputs.values import (
    DAY,
    EPOCH,
    Cells,
    as_number,
    as_text,
    as_time,
    as_truth,
    as_word,
    as_word_among_numbers,
    is_missing,
    time_cells,
    word_hash,
)

HASHED = 16
"""The number of features that categories without a feature of their own share."""
TEXT = HashedText(384)
"""How text is encoded: 256 classified worse; with more, metrics of several texts fill the file."""
HASH_KEY, TEXT_KEY = "#", "text"
"""The keys of several features that are next to each other; any other key has one feature."""
WIDTHS = {HASH_KEY: HASHED, TEXT_KEY: TEXT.width}
BASE: dict[str, tuple[str, ...]] = {
    "number": ("number",),
    "boolean": ("true",),
    **dict.fromkeys(DATES, ("days", "year sin", "year cos", "week sin", "week cos")),
    "category": (),
    "text": (TEXT_KEY,),
    "ignore": (),
    UNDECIDED: (),
}
"""The keys of the features that a column of each kind has from the start."""
DAY_KEYS = ("day sin", "day cos")
LONGEST_NUMBER = 10_000  # bits
UNREADABLE = "(hashed)"
"""What is shown for a value that cannot be decoded."""
_ANGLES = {"year": "time of year", "week": "weekday", "day": "time of day"}
_TAKEN_FOR = {
    "day-first": "date, day first",
    "month-first": "date, month first",
    "ignore": "left out",
    "text": f"text, hashed into {TEXT.width} features",
    UNDECIDED: "left out until it has a value",
}
_MEANT = {
    "number": "a number",
    "date": 'a date such as 2024-02-29 (for 3/4/2021 the kind is "day-first" or "month-first")',
    "day-first": "a date such as 29/2/2024",
    "month-first": "a date such as 2/29/2024",
}


@dataclass(frozen=True)
class Column:
    """A column: its kind, the reason, and the position in a row of the first feature of each key.

    `late` says that rows are stored that were encoded before it had a value. Its features are 0 in
    these, and where it is missing later. So numbers, booleans and dates have one more feature,
    `given`: 1 where there is a value. `is_first` says that the first rows had the column.
    """

    name: str
    kind: str
    why: str
    late: bool = False
    is_first: bool = True
    places: dict[str, int] = field(default_factory=dict)

    @cached_property
    def own(self) -> int:
        """How many categories have a feature of their own."""
        return sum(key.startswith("=") for key in self.places)

    @cached_property
    def positions(self) -> list[int]:
        """The positions of all its features."""
        return [place + n for key, place in self.places.items() for n in range(width_of(key))]

    @property
    def is_hashed(self) -> bool:
        """Whether categories share features by a hash."""
        return HASH_KEY in self.places

    @property
    def has_features(self) -> bool:
        """Whether values of its kind have features."""
        return self.kind not in ("ignore", UNDECIDED)

    @cached_property
    def base(self) -> tuple[str, ...]:
        """The keys of the features that all its values need."""
        keys = BASE[self.kind]
        return (*keys, "given") if self._has_given else keys

    @property
    def lacks_base(self) -> bool:
        """Whether the features that all its values need are still to be added."""
        return bool(self.base) and self.base[0] not in self.places

    @property
    def lacks_value(self) -> bool:
        """Whether it has no value in any row, as far as it is known."""
        return not self.places and (self.late or not self.base)

    @property
    def _has_given(self) -> bool:
        return self.late and self.kind in ("number", "boolean", *DATES)

    def cells(self, value: Any) -> Cells:
        """Return the keys of the features that a value sets, each with its number."""
        if not self.has_features:
            return ()
        return self._absent() if is_missing(value) else self._present(value)

    def text(self, value: Any) -> str:
        """Return a value as text; "" if it is missing."""
        text = "" if is_missing(value) else as_text(value)
        if text is None:
            raise self._unfit(value)
        return text

    def place_of(self, key: str) -> int:
        """Return the position of the feature of a key, or of its hash; -1 if there is none."""
        place = self.places.get(key, -1)
        if place < 0 and self.is_hashed and key.startswith("="):
            return self.places[HASH_KEY] + word_hash(key[1:]) % HASHED
        return place

    def placed(self, keys: Iterable[str], start: int) -> "Column":
        """Return the column with more features, from a position on."""
        places = dict(self.places)
        for key in keys:
            places[key] = start
            start += width_of(key)
        return replace(self, places=places)

    def names(self) -> dict[int, str]:
        """Return the name of each feature by its position."""
        return {
            place + n: self._name_of(key, n)
            for key, place in self.places.items()
            for n in range(width_of(key))
        }

    def _name_of(self, key: str, n: int) -> str:
        if key in WIDTHS:
            return f"{self.name}: {'hash' if key == HASH_KEY else key} {n}"
        if key.startswith("="):
            return f"{self.name}{key}"
        if key in ("missing", "given"):
            return f"{self.name} is {key}"
        part, _, function = key.partition(" ")
        return f"{self.name}: {_ANGLES[part]} ({function})" if function else self.name

    def value_of(self, row: Sequence[float]) -> Any:
        """Return the value that an encoded row has, to show it; None if it is missing."""
        words = [key[1:] for key, place in self.places.items() if key[0] == "=" and row[place]]
        if words:
            return words[0]
        for key, width in WIDTHS.items():
            place = self.places.get(key, len(row))
            if any(row[place : place + width]):
                return UNREADABLE
        if self.kind in ("category", "text"):
            return None
        number = 0.0  # a feature that is 0 in all rows may be dropped
        if self.base[0] in self.places:
            number = row[self.places[self.base[0]]]
        if isnan(number) or (self.late and not row[self.places["given"]]):
            return None
        if self.kind == "boolean":
            return number == 1.0
        return _date_text(number) if self.kind in DATES else number

    def described(self) -> str:
        """Return the kind of the column and the reason, in a few words."""
        text, own = _TAKEN_FOR.get(self.kind, self.kind), self.own
        if own and self.kind == "category":
            text += f", {'the first ' if self.is_hashed else ''}{own} value{'s' if own > 1 else ''}"
        elif own:
            word = next(key[1:] for key in self.places if key.startswith("="))
            words = "1 word as a category" if own == 1 else f"{own} words as categories"
            text += f", and {words}, such as {_shown(word, 30)}"
        if self.is_hashed:
            others = "and others" if own else f"more than {MOST_VALUES} words"
            text += f", {others} hashed into {HASHED} features"
        return f"{text} ({self.why})"

    def _absent(self) -> Cells:
        if self.late or self.kind == "text":
            return ()
        if self.kind == "category":
            return (("missing", 1.0),)
        return ((self.base[0], np.nan),)

    def _present(self, value: Any) -> Cells:
        given: Cells = (("given", 1.0),) if self._has_given else ()
        if self.kind == "number":
            number = as_number(value)
            if number is not None:
                return (("number", number), *given)
            word = as_word_among_numbers(value)
            if word is not None:
                return (*self._absent(), (f"={word}", 1.0))
        elif self.kind in DATES:
            time = as_time(value, self.kind)
            if time is not None:
                return (*time_cells(time), *given)
        else:
            truth = as_truth(value) if self.kind == "boolean" else None
            if truth is not None:
                return (("true", float(truth)), *given)
            word = as_word(value)
            if word is not None:
                return ((f"={word}", 1.0), *given)
        raise self._unfit(value)

    def _unfit(self, value: Any) -> InvalidInputError:
        shown = _shown(value, 60)
        if self.kind not in _MEANT:
            return InvalidInputError(
                f"The column {self.name!r} holds a {type(value).__name__}, {shown}; a value must "
                "be a number, a string, a boolean, a date or missing: convert it, or leave the "
                "column out."
            )
        return InvalidInputError(
            f"The column {self.name!r} must be {_MEANT[self.kind]}, but here it is {shown}; "
            "correct or empty this value, or teach a new model with the column as a category."
        )


def width_of(key: str) -> int:
    """Return how many features a key has."""
    return WIDTHS.get(key, 1)


def _date_text(days: float) -> str:
    try:
        time = EPOCH + days * DAY
    except OverflowError:  # the last moment of 9999, rounded up
        time = datetime.max
    return time.date().isoformat() if days.is_integer() else time.isoformat(timespec="seconds")


def _shown(value: Any, most: int) -> str:
    if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:  # Python refuses to write it
        return f"a number of {value.bit_length():,} bits"
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
