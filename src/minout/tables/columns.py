"""One column of a table: its kind, and the features that its values set in an encoded row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from minout.errors import InvalidInputError
from minout.features import HashedText
from minout.tables.kinds import MOST_VALUES, UNDECIDED
from minout.tables.values import (
    LONGEST,
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
_ANGLES = {"year": "time of year", "week": "weekday", "day": "time of day"}
_TAKEN_FOR = {
    "ignore": "left out",
    "text": f"text, hashed into {TEXT.width} features",
    UNDECIDED: "left out until it has a value",
}
_MEANT = {"number": "a number", "date": "a date (YYYY-MM-DD or DD.MM.YYYY)"}

Placed = Sequence[tuple[Any, Any]]
"""What a value sets: positions of features, each with its number; of text, a slice and numbers."""


class Column:
    """A column: its kind, the reason, and the positions of its features in a row, by key.

    A column is `late` if rows were encoded before it had a value. Its features are 0 in these rows,
    and in later rows where it is missing. So numbers, booleans and dates have one more feature,
    `given`: 1 where there is a value. Text needs none, because it is 0 only where it is missing.

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
        Whether rows were encoded before it had a value.
    """

    __slots__ = ("_found", "kind", "late", "name", "own", "places", "why")

    def __init__(self, name: str, kind: str, why: str, *, late: bool = False) -> None:
        self.name = name
        self.places: dict[str, int] = {}
        self.own = 0  # how many categories have a feature of their own
        self._found: dict[str | None, Placed] = {}
        self.take_for(kind, why, late=late)

    @property
    def takes_plain_numbers(self) -> bool:
        """Whether it is a column of numbers that has its features."""
        return self.kind == "number" and not self.lacks_base

    @property
    def lacks_base(self) -> bool:
        """Whether the features that all its values need are still to be added."""
        base = BASE[self.kind]
        return bool(base) and base[0] not in self.places

    @property
    def _has_given(self) -> bool:
        return self.late and self.kind in ("number", "boolean", "date")

    def take_for(self, kind: str, why: str, *, late: bool) -> None:
        """Set the kind of the column."""
        self.kind, self.why, self.late = kind, why, late
        self._found.clear()

    def found(self, value: Any) -> Placed | None:
        """Return the cached features of a value; None if it is not cached."""
        try:
            return self._found.get(value)
        except TypeError:  # a value without a hash
            return None

    def keep_found(self, value: Any, placed: Placed, *, most: int) -> None:
        """Cache the features of a value, if it is None or a short string.

        All its features must exist. If `most` values are cached, the cache is emptied first.
        """
        if self.kind == "text":
            return
        if value is None or (type(value) is str and len(value) <= LONGEST):
            if len(self._found) >= most:
                self._found.clear()
            self._found[value] = placed

    def base(self) -> tuple[str, ...]:
        """Return the keys of the features that all its values need."""
        keys = BASE[self.kind]
        return (*keys, "given") if self._has_given else keys

    def cells(self, value: Any) -> Cells:
        """Return the keys of the features that a value sets, each with its number.

        Raises
        ------
        InvalidInputError
            If it does not fit the kind of the column.
        """
        if self.kind in ("ignore", UNDECIDED):
            return ()
        return self._absent() if is_missing(value) else self._present(value)

    def text(self, value: Any) -> str:
        """Return a value as text.

        Raises
        ------
        InvalidInputError
            If it is a list or the like.
        """
        text = as_text(value)
        if text is None:
            raise self._unfit(value)
        return text

    def place(self, key: str) -> int | slice:
        """Return the position of a feature in a row; of text, the slice of all its features."""
        place = self.places[key]
        return slice(place, place + TEXT.width) if self.kind == "text" else place

    def key_of(self, key: str, *, register: bool) -> tuple[str, tuple[str, ...]]:
        """Return the key of the feature that stands for a key, and the keys to add first.

        A category has its own key, or above 100 categories that of its hash.
        """
        if key in self.places:
            return key, ()
        if not key.startswith("="):
            return key, (key,) if register else ()
        hashed = HASH_KEYS[word_hash(key[1:]) % HASHED]
        if hashed in self.places:
            return hashed, ()
        if not register or self.own < MOST_VALUES:
            return key, (key,) if register else ()
        return hashed, HASH_KEYS

    def add(self, key: str, place: int) -> None:
        """Add a feature at a position of the row."""
        self.places[key] = place
        self.own += key.startswith("=")

    def remove(self, key: str) -> None:
        """Undo `add`."""
        self._found.clear()
        del self.places[key]
        self.own -= key.startswith("=")

    def name_of(self, key: str) -> str:
        """Return the name of a feature of the column."""
        if key.startswith("="):
            return f"{self.name}{key}"
        if key.startswith("~"):
            return f"{self.name}: a forgotten category"
        if key.startswith("#"):
            return f"{self.name}: hash {key[1:]}"
        if key in ("missing", "given"):
            return f"{self.name} is {key}"
        if self.kind == "text":
            return f"{self.name}: {key}"
        part, _, function = key.partition(" ")
        return f"{self.name}: {_ANGLES[part]} ({function})" if function else self.name

    def described(self) -> str:
        """Return the kind of the column and the reason, in a few words."""
        return f"{self._taken_for()} ({self.why})"

    def _taken_for(self) -> str:
        is_hashed = HASH_KEYS[0] in self.places
        if self.kind != "category":
            return _TAKEN_FOR.get(self.kind, self.kind) + self._with_words(is_hashed=is_hashed)
        if not is_hashed and not self.own:
            return "category"
        if not is_hashed:
            return f"category, {self.own} value{'' if self.own == 1 else 's'}"
        if not self.own:
            return f"category of more than {MOST_VALUES} values, hashed into {HASHED} features"
        return f"category, the first {self.own} values, and others hashed into {HASHED} features"

    def _with_words(self, *, is_hashed: bool) -> str:
        # The words in a column of numbers or booleans, which are encoded as categories.
        hashed = f"hashed into {HASHED} features"
        if not self.own:
            return f", and more than {MOST_VALUES} words, {hashed}" if is_hashed else ""
        shown = next(key[1:] for key in self.places if key.startswith("="))
        words = "1 word as a category" if self.own == 1 else f"{self.own} words as categories"
        others = f", and others {hashed}" if is_hashed else ""
        return f", and {words}, such as {_shown(shown, 30)}{others}"

    def _absent(self) -> Cells:
        if self.late or self.kind == "text":
            return ()
        if self.kind == "category":
            return (("missing", 1.0),)
        return ((BASE[self.kind][0], np.nan),)

    def _present(self, value: Any) -> Cells:
        given: Cells = (("given", 1.0),) if self._has_given else ()
        if self.kind == "number":
            number = as_number(value)
            if number is not None:
                return (("number", number), *given)
            word = as_word_among_numbers(value)
            if word is not None:
                return (*self._absent(), (f"={word}", 1.0))
        elif self.kind == "text":
            return ((TEXT_KEYS[0], TEXT.transform([self.text(value)])[0]),)
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


def _shown(value: Any, most: int) -> str:
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
