"""One column of a table: its kind, and the features that its values set in an encoded row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np

from minout.errors import InvalidInputError
from minout.features import HashedText
from minout.inputs.kinds import MOST_VALUES, UNDECIDED
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

HASHED = 64
"""The number of features that categories without a feature of their own share."""
HASH_KEYS = tuple(f"#{number}" for number in range(HASHED))
TEXT = HashedText(512)
"""How text is encoded.

With 128, 256, 512 and 1,024 features, `MinoutClassifier` classified 77, 79, 83 and 84 % of 1,512
mails correctly as spam or not by their subject, and 89, 92, 93 and 93 % by their first 300
characters, after it was taught 1,500 other mails.
"""
TEXT_KEYS = tuple(f"text {number}" for number in range(TEXT.width))
BASE: dict[str, tuple[str, ...]] = {
    "number": ("number",),
    "boolean": ("true",),
    "date": ("days", "year sin", "year cos", "week sin", "week cos"),
    "category": (),
    "text": TEXT_KEYS,
    "ignore": (),
    UNDECIDED: (),
}
"""The keys of the features that a column of each kind has from the start."""
DAY_KEYS = ("day sin", "day cos")
UNREADABLE = "(hashed)"
"""What is shown for a value that cannot be decoded."""
_ANGLES = {"year": "time of year", "week": "weekday", "day": "time of day"}
_TAKEN_FOR = {
    "ignore": "left out",
    "text": f"text, hashed into {TEXT.width} features",
    UNDECIDED: "left out until it has a value",
}
_MEANT = {"number": "a number", "date": "a date (YYYY-MM-DD or DD.MM.YYYY)"}


@dataclass(frozen=True)
class Column:
    """A column: its kind, the reason, and the positions of its features in a row, by key.

    A string in a column of numbers sets a feature like a category, and the number is missing.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : str
        How its values are encoded: one of `KINDS`, or "undecided".
    why : str
        The reason, for the user.
    late : bool, default=False
        Whether rows are stored that were encoded before it had a value. Its features are 0 in these
        rows, and in later rows where it is missing. So numbers, booleans and dates have one more
        feature, `given`: 1 where there is a value. Text needs none, because it is 0 only where it
        is missing.
    is_first : bool, default=True
        Whether the first rows of the model had the column.
    places : mapping of str to int
        The position of each feature in a row.
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

    @property
    def is_hashed(self) -> bool:
        """Whether categories share features by a hash."""
        return HASH_KEYS[0] in self.places

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
        return self.late and self.kind in ("number", "boolean", "date")

    def cells(self, value: Any) -> Cells:
        """Return the keys of the features that a value sets, each with its number.

        Raises
        ------
        InvalidInputError
            If it does not fit the kind of the column.
        """
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
        """Return the position of the feature that stands for a key; -1 if there is none.

        That of a category is its own, or the one of its hash.
        """
        place = self.places.get(key, -1)
        if place < 0 and self.is_hashed and key.startswith("="):
            return self.places[hash_key(key)]
        return place

    def name_of(self, key: str) -> str:
        """Return the name of a feature of the column."""
        if key.startswith("="):
            return f"{self.name}{key}"
        if key.startswith("#"):
            return f"{self.name}: hash {key[1:]}"
        if key in ("missing", "given"):
            return f"{self.name} is {key}"
        if self.kind == "text":
            return f"{self.name}: {key}"
        part, _, function = key.partition(" ")
        return f"{self.name}: {_ANGLES[part]} ({function})" if function else self.name

    def value_of(self, row: Sequence[float]) -> Any:
        """Return the value that an encoded row has, to show it; None if it is missing."""
        numbers = {key: row[place] for key, place in self.places.items()}
        words = [key[1:] for key, number in numbers.items() if key.startswith("=") and number]
        if words:
            return words[0]
        if any(number for key, number in numbers.items() if key.startswith(("#", "text"))):
            return UNREADABLE
        if self.kind in ("category", "text"):
            return None
        number = numbers.get(self.base[0], 0.0)  # a feature that is 0 in all rows may be dropped
        if isnan(number) or (self.late and not numbers["given"]):
            return None
        if self.kind == "boolean":
            return number == 1.0
        return _date_text(number) if self.kind == "date" else number

    def described(self) -> str:
        """Return the kind of the column and the reason, in a few words."""
        return f"{self._taken_for()} ({self.why})"

    def _taken_for(self) -> str:
        if self.kind != "category":
            return _TAKEN_FOR.get(self.kind, self.kind) + self._with_words()
        if not self.is_hashed and not self.own:
            return "category"
        if not self.is_hashed:
            return f"category, {self.own} value{'' if self.own == 1 else 's'}"
        if not self.own:
            return f"category of more than {MOST_VALUES} values, hashed into {HASHED} features"
        return f"category, the first {self.own} values, and others hashed into {HASHED} features"

    def _with_words(self) -> str:
        # The words in a column of numbers or booleans, which are encoded as categories.
        hashed = f"hashed into {HASHED} features"
        if not self.own:
            return f", and more than {MOST_VALUES} words, {hashed}" if self.is_hashed else ""
        word = next(key[1:] for key in self.places if key.startswith("="))
        words = "1 word as a category" if self.own == 1 else f"{self.own} words as categories"
        others = f", and others {hashed}" if self.is_hashed else ""
        return f", and {words}, such as {_shown(word, 30)}{others}"

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
        elif self.kind == "date":
            time = as_time(value)
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


def hash_key(key: str) -> str:
    """Return the key of the feature that a category shares with others."""
    return HASH_KEYS[word_hash(key[1:]) % HASHED]


def _date_text(days: float) -> str:
    try:
        time = EPOCH + days * DAY
    except OverflowError:  # the last moment of 9999, rounded up
        time = datetime.max
    return time.date().isoformat() if days.is_integer() else time.isoformat(timespec="seconds")


def _shown(value: Any, most: int) -> str:
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
