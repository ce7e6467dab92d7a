"""Encode tables with columns of any kind as rows of numeric features."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.inputs.column import DAY_KEYS, HASH_KEYS, TEXT, TEXT_KEYS, Column
from minout.inputs.kinds import KINDS, MOST_VALUES, UNDECIDED, Decision, decide
from minout.inputs.tables import Table
from minout.inputs.values import LONGEST, Cells, is_missing, plain_numbers, split_numbers

OVERRIDE = "you said so"
MOST_COLUMNS = 100_000
MOST_TEXTS = 2_000
"""The most columns of text: a few characters in a file stand for 512 features."""
_EXACT = frozenset({type(None), bool, int, float, date, np.float64, np.int64})
"""Values of these types that are equal are the same number, date and category."""
_OTHER_KEYS = {
    "number": HASH_KEYS,
    "boolean": HASH_KEYS,
    "date": DAY_KEYS,
    "category": ("missing", *HASH_KEYS),
}
"""The keys that a column of each kind may have beside its base and its categories."""

Need = tuple[int, str, str]
"""A row, the name of a column, and the key of a feature that its value there needs."""


class TableEncoder:
    r"""Encode tables as rows of features; an encoder never changes, `extended` returns another.

    The kind of a column says how its values are encoded:

    =========  ==============================================================================
    kind       features
    =========  ==============================================================================
    number     one, the number itself; NaN if it is missing. A string that is not a number counts
               as a missing number, and gets a feature of its own like a category
    boolean    one, 1 or 0; NaN if it is missing. Any other string gets a feature of its own like
               a category
    date       days since 1970 (NaN if missing), and sine and cosine of the time of year, of the
               weekday and, once there is a time other than midnight, of the time of day
    category   one-hot: a feature for each value, and one for "missing". Above 100 values, those
               without a feature of their own share 64 features by a hash of the value
    text       512, hashed from words and runs of characters by `HashedText`; all are 0 if it is
               missing
    ignore     none
    =========  ==============================================================================

    The first rows decide the kind of each column. A kind passed as `kinds` comes first, then the
    dtype of a data frame, then the values:

    - True and False, or the strings true, false, yes and no: boolean.
    - Numbers, or strings that are numbers, also if up to 5 % of the values are other strings (up to
      half of them, if most of 20 or more values differ): number. But 20 or more whole numbers that
      all differ, in a column named like an id, are identifiers: ignore.
    - Dates, or strings such as 2024-02-29, 2024/02/29 06:55 or 29.2.2024, likewise: date.
    - 20 or more values, nearly all of them different: text if they have four words or more on
      average, otherwise identifiers: ignore. If only more than half of them differ, text if they
      have eight words or more on average.
    - More than 100 different values: text.
    - Anything else: category.

    A new category, and a time of day in a column of dates, append features to the row. Rows that
    were encoded before have 0 in them. A column that is not in the first rows, or has no value
    there, gets its features when its first value comes. Until `canonical`, a missing value in such
    a column is 0 in all features, as in the rows before.

    Parameters
    ----------
    kinds : mapping of str to str, optional
        The kinds of columns by name, if they are not to be inferred: "number", "boolean", "date",
        "category", "text" or "ignore".
    columns : iterable of Column, optional
        The columns with their features.
    """

    def __init__(
        self, kinds: Mapping[str, str] | None = None, columns: Iterable[Column] = ()
    ) -> None:
        self.overrides = dict(kinds or {})
        self._columns = {each.name: each for each in columns}
        self.width = sum(len(each.places) for each in self._columns.values())

    @property
    def is_started(self) -> bool:
        """Whether the kinds of the columns have been decided."""
        return bool(self._columns)

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order in which they appeared."""
        return list(self._columns)

    @property
    def first_columns(self) -> list[str]:
        """The columns that the first rows had, and that have features."""
        return [name for name, each in self._columns.items() if each.places and each.is_first]

    @property
    def lossy_columns(self) -> list[str]:
        """The columns whose values can differ although the encoded rows are equal.

        They are left out, or their categories share features by a hash.
        """
        columns = self._columns.items()
        return [name for name, each in columns if each.kind == "ignore" or each.is_hashed]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column by name; "undecided" as long as it has no value."""
        return {name: column.kind for name, column in self._columns.items()}

    @property
    def names(self) -> list[str]:
        """The name of each feature: "age", "colour=red", "colour is missing"."""
        return [column.name_of(key) for column, key in self._features()]

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The first and the last position, plus one, of the features of each text."""
        texts = (each for each in self._columns.values() if each.kind == "text" and each.places)
        starts = sorted(each.places[TEXT_KEYS[0]] for each in texts)
        return tuple((start, start + TEXT.width) for start in starts)

    def described(self) -> dict[str, str]:
        """Return the kind of each column and the reason: "number (its dtype is a number)"."""
        return {name: each.described() for name, each in self._columns.items()}

    def sum_by_column(self, parts: Floats) -> dict[str, float]:
        """Sum values per feature, such as contributions, to values per column."""
        sums: dict[str, float] = {}
        for (column, _), part in zip(self._features(), np.asarray(parts).tolist(), strict=True):
            sums[column.name] = sums.get(column.name, 0.0) + part
        return sums

    def decode(self, row: Floats) -> dict[str, Any]:
        """Return the values of the columns that an encoded row stands for, to show them.

        Returns
        -------
        dict of str to object
            For each column that has features: a number, a category, True or False, a date in ISO
            8601, or None if it is missing. Text and hashed categories cannot be decoded: they are
            "(hashed)".
        """
        numbers = np.asarray(row).tolist()
        used = (each for each in self._columns.values() if each.places or not each.lacks_value)
        return {column.name: column.value_of(numbers) for column in used}

    def with_kinds(self, kinds: Mapping[str, str]) -> "TableEncoder":
        """Return an encoder with other kinds of columns that have no features yet."""
        columns, overrides = dict(self._columns), dict(self.overrides)
        for name, kind in checked_kinds(kinds).items():
            known = columns.get(name)
            if known is not None and known.kind == kind:
                continue
            if known is not None and known.places:
                raise InvalidInputError(
                    f"The column {name!r} was encoded as {known.kind} in the rows so far, and they "
                    f"cannot be encoded again as {kind}; teach a new model with {name}={kind}."
                )
            overrides[name] = kind
            if known is not None:
                columns[name] = replace(known, kind=kind, why=OVERRIDE, late=True)
        return TableEncoder(overrides, columns.values())

    def extended(self, table: Table) -> "TableEncoder":
        """Return an encoder that has features for all values of a table; this one, if it has.

        Kinds of columns that are new, or had no value, are decided from all rows of the table.

        Raises
        ------
        InvalidInputError
            If a value does not fit the kind of its column.
        """
        return self.encode_new(table)[0]

    def encode(self, table: Table) -> Floats:
        """Return the encoded rows (n, width); values without a feature are 0 in all features.

        Raises
        ------
        InvalidInputError
            If a value does not fit the kind of its column.
        """
        return self._encoded(table)[0]

    def encode_new(self, table: Table) -> tuple["TableEncoder", Floats]:
        """Return the extended encoder, and the rows that it encodes."""
        known = self if self.is_started else self._started(table)
        columns = known._with_columns_of(table)
        if columns is not known._columns:
            known = TableEncoder(self.overrides, columns.values())
        rows, needs = known._encoded(table)
        if not needs:
            return known, rows
        extended = known._with_features(needs)
        return extended, extended.encode(table)

    def without_late(self, row: Floats) -> Floats:
        """Return an encoded row in which columns are missing that came after the first rows."""
        missing = self.encode(Table({}, 1))[0]
        row = row.copy()
        for column in self._columns.values():
            if not column.is_first and column.places:
                places = list(column.places.values())
                row[places] = missing[places]
        return row

    def keeping(self, row: Floats, stored: Floats, given: Container[str]) -> Floats:
        """Return an encoded row in which columns that are not given have their stored values."""
        row = row.copy()
        for name, column in self._columns.items():
            if name not in given and column.places:
                places = list(column.places.values())
                row[places] = stored[places]
        return row

    def canonical(self, rows: Floats) -> tuple["TableEncoder", Floats]:
        """Return the encoder and the rows that depend on the set of the rows only.

        Columns that came late become as if they had been there from the start, features that no
        row has are dropped, and the others are sorted by name. Kinds stay as they were decided, and
        so do categories that share hashed features.

        Parameters
        ----------
        rows : ndarray of shape (n, width)
            All rows that are stored.
        """
        columns, parts = {}, [np.zeros((len(rows), 0))]
        for name in sorted(self._columns):
            column, numbers = _settled(self._columns[name], rows)
            if numbers or column.is_first or column.kind == "ignore":
                width = sum(part.shape[1] for part in parts)
                places = {key: width + n for n, key in enumerate(numbers)}
                columns[name] = replace(column, places=places)
                parts += [np.stack(list(numbers.values()), axis=1)] if numbers else []
        columns = {name: columns[name] for name in self._columns if name in columns}
        if columns == self._columns or len(parts) == 1:  # rows need a feature, if only of zeros
            return self, rows
        return TableEncoder(self.overrides, columns.values()), np.concatenate(parts, axis=1)

    def to_notes(self) -> dict[str, Any]:
        """Return the encoder as plain values that can be written as JSON; `from_notes` reads them.

        The features of a text are next to each other, and only the first is listed.
        """
        return {
            "kinds": dict(sorted(self.overrides.items())),
            "columns": [
                [each.name, each.kind, each.why, each.late, each.is_first, _noted_places(each)]
                for each in self._columns.values()
            ],
        }

    @classmethod
    def from_notes(cls, notes: Any) -> "TableEncoder":
        """Return the encoder that `to_notes` described.

        Raises
        ------
        ValueError, TypeError or KeyError
            If `to_notes` cannot have returned this.
        """
        encoder = cls(checked_kinds(notes["kinds"]), map(_noted_column, notes["columns"]))
        places = [place for _, each in encoder._columns.items() for place in each.places.values()]
        _require(sorted(places) == list(range(encoder.width)))
        _require(len(encoder._columns) == len(notes["columns"]))
        _require_room(encoder._columns.values())
        return encoder

    def _features(self) -> list[tuple[Column, str]]:
        features = ((each, key) for each in self._columns.values() for key in each.places)
        return sorted(features, key=lambda each: each[0].places[each[1]])

    def _started(self, table: Table) -> "TableEncoder":
        # The encoder of the first rows: the features of a column are together, and sorted.
        if not table.columns:
            raise InvalidInputError("The table has no columns; pass at least one.")
        columns, width = [], 0
        for name, values in table.columns.items():
            column = Column(name, *self._decided(name, table))
            keys = (*column.base, *_first_keys(column, values))
            columns.append(replace(column, places={key: width + n for n, key in enumerate(keys)}))
            width += len(keys)
        _require_room(columns)
        return TableEncoder(self.overrides, columns)

    def _with_columns_of(self, table: Table) -> dict[str, Column]:
        # The columns together with those of a table that are new, or have their first value.
        columns = self._columns
        for name, values in table.columns.items():
            known = columns.get(name)
            if known is not None and (known.kind != UNDECIDED or all(map(is_missing, values))):
                continue
            decision = self._decided(name, table)
            late = decision.kind != UNDECIDED
            columns = dict(columns) if columns is self._columns else columns
            columns[name] = Column(name, *decision, late=late, is_first=known is not None)
        if columns is not self._columns:
            _require_room(columns.values())
        return columns

    def _decided(self, name: str, table: Table) -> Decision:
        if name in self.overrides:
            return Decision(self.overrides[name], OVERRIDE)
        return decide(name, table.columns[name], table.declared.get(name))

    def _encoded(self, table: Table) -> tuple[Floats, list[Need]]:
        # The rows, and which features of their values there are not.
        rows, needs = np.zeros((table.rows, self.width)), list[Need]()
        nothing = [None] * table.rows
        others = _fill_numbers(rows, self._numbers, table)
        for column in self._used:
            at = others.get(column.name)
            if at is not None and not at:
                continue
            values = table.columns.get(column.name, nothing)
            if column.kind == "text":
                needs += _fill_text(rows, column, values)
            else:
                needs += _fill(rows, column, values, at)
        return rows, needs

    @cached_property
    def _used(self) -> list[Column]:
        # The columns whose values have features.
        return [each for each in self._columns.values() if each.has_features]

    @cached_property
    def _numbers(self) -> list[Column]:
        # The columns of numbers that have their features.
        return [each for each in self._used if each.kind == "number" and not each.lacks_base]

    def _with_features(self, needs: list[Need]) -> "TableEncoder":
        # Add features by rows, then by columns: as if the rows had been encoded one by one.
        columns, width = dict(self._columns), self.width
        number = {name: n for n, name in enumerate(columns)}
        for _, name, key in sorted(needs, key=lambda each: (each[0], number[each[1]])):
            column = columns[name]
            keys: Sequence[str] = (*(column.base if column.lacks_base else ()), key)
            if key.startswith("=") and column.own >= MOST_VALUES and not column.is_hashed:
                keys = HASH_KEYS
            new = [each for each in dict.fromkeys(keys) if column.place_of(each) < 0]
            places = column.places | {each: width + n for n, each in enumerate(new)}
            columns[name], width = replace(column, places=places), width + len(new)
        return TableEncoder(self.overrides, columns.values())


def checked_kinds(kinds: Any) -> dict[str, str]:
    """Return a checked copy of the kinds of columns by name; {} for None."""
    if kinds is not None and not isinstance(kinds, Mapping):
        raise InvalidInputError(
            f"`column_kinds` must be a dict of column names to kinds, not a {type(kinds).__name__}."
        )
    for name, kind in (kinds or {}).items():
        if not isinstance(kind, str) or kind not in KINDS:
            raise InvalidInputError(
                f"The kind of the column {name!r} must be one of {', '.join(KINDS)}, not {kind!r}."
            )
    return {str(name): str(kind) for name, kind in (kinds or {}).items()}


def _first_keys(column: Column, values: Sequence[Any]) -> list[str]:
    # The features of the first rows beside the base, sorted; hashes above 100 categories.
    if column.kind in ("text", "ignore", UNDECIDED):
        return []
    at = split_numbers(values)[1] if column.kind == "number" else range(len(values))
    keys: set[str] = set()
    seen: set[Any] = set()
    for n in at:
        value = _key(values[n])
        if value is None or value not in seen:
            seen.add(value)
            keys.update(key for key, _ in _cells(column, values[n], n))
    keys -= set(column.base)
    if column.kind == "date":
        return [key for key in DAY_KEYS if key in keys]
    words = {key for key in keys if key.startswith("=")}
    if len(words) <= MOST_VALUES:
        return sorted(keys)
    return [*sorted(keys - words), *HASH_KEYS]


def _fill_numbers(rows: Floats, columns: list[Column], table: Table) -> dict[str, Sequence[int]]:
    # Set the numbers of columns of numbers; return which rows have other values there.
    others: dict[str, Sequence[int]] = {}
    given = [each for each in columns if each.name in table.columns]
    lists = [each for each in given if not isinstance(table.columns[each.name], np.ndarray)]
    # One call for all columns: ten times as fast for one row.
    numbers = plain_numbers([value for each in lists for value in table.columns[each.name]])
    if numbers is not None and lists:
        rows[:, [each.places["number"] for each in lists]] = numbers.reshape(-1, table.rows).T
        others = {each.name: () for each in lists}
    for column in given:
        place = column.places["number"]
        if column.name not in others:
            rows[:, place], others[column.name] = split_numbers(table.columns[column.name])
        if column.late:
            is_missing = np.isnan(rows[:, place])
            rows[is_missing, place] = 0.0
            rows[:, column.places["given"]] = ~is_missing
    return others


def _fill(
    rows: Floats, column: Column, values: Sequence[Any], at: Sequence[int] | None
) -> list[Need]:
    # Set the features of values, by default of all rows; return those that there are not.
    needs: list[Need] = []
    known: dict[Any, list[tuple[int, Any]]] = {}
    for n in range(len(values)) if at is None else at:
        value = values[n]
        key = _key(value)
        placed = known.get(key) if key is not None else None
        if placed is None:
            placed = []
            for wanted, number in _cells(column, value, n):
                place = column.place_of(wanted)
                if place >= 0:
                    placed.append((place, number))
                else:
                    needs.append((n, column.name, wanted))
            if key is not None:
                known[key] = placed
        for place, number in placed:
            rows[n, place] = number
    return needs


def _fill_text(rows: Floats, column: Column, values: Sequence[Any]) -> list[Need]:
    texts: dict[str, list[int]] = {}
    for n, value in enumerate(values):
        try:
            text = column.text(value)
        except InvalidInputError as error:
            error.row = n
            raise
        if text:
            texts.setdefault(text, []).append(n)
    if not texts:
        return []
    if column.lacks_base:
        return [(min(next(iter(texts.values()))), column.name, TEXT_KEYS[0])]
    start = column.places[TEXT_KEYS[0]]
    for numbers, at in zip(TEXT.transform(list(texts)), texts.values(), strict=True):
        rows[at, start : start + TEXT.width] = numbers
    return []


def _cells(column: Column, value: Any, row: int) -> Cells:
    try:
        return column.cells(value)
    except InvalidInputError as error:
        error.row = row
        raise


def _key(value: Any) -> Any:
    # A key under which equal values are the same; None if they may not be.
    if type(value) is str:
        return value
    if type(value) in _EXACT:
        return type(value), value  # True and 1 are equal
    return None


def _settled(column: Column, rows: Floats) -> tuple[Column, dict[str, Floats]]:
    # A column as if it had been there from the start, and its features that some row has, in order.
    numbers = {key: rows[:, place] for key, place in column.places.items()}
    if column.late and numbers:
        column, numbers = _in_time(column, numbers)
    if not _has_value(column, numbers):
        late = column.kind in _OTHER_KEYS or column.kind == "text"
        return replace(column, late=late, why=_unquoted(column.why)), {}
    own = sorted(key for key in numbers if key.startswith("=") or key == "missing")
    groups = (column.base, DAY_KEYS, *((key,) for key in own), HASH_KEYS)
    kept = {
        key: numbers[key]
        for keys in groups
        if keys and keys[0] in numbers and any(numbers[key].any() for key in keys)
        for key in keys
    }
    if len(kept) < len(numbers):
        column = replace(column, why=_unquoted(column.why))
    return column, kept


def _in_time(column: Column, numbers: dict[str, Floats]) -> tuple[Column, dict[str, Floats]]:
    # A missing value of a column that came late is 0 in all its features; then as in other columns.
    if "given" in numbers:
        given, value = numbers.pop("given"), numbers[column.base[0]]
        numbers[column.base[0]] = np.where(given == 0.0, np.nan, value)
    elif column.kind == "category":
        is_given = np.any(list(numbers.values()), axis=0)
        numbers["missing"] = (~is_given).astype(np.float64)
    return replace(column, late=False), numbers


def _has_value(column: Column, numbers: dict[str, Floats]) -> bool:
    # Whether a column has a value in any row.
    if any(each.any() for key, each in numbers.items() if key.startswith(("=", "#", "text"))):
        return True
    if column.kind in ("category", "text"):
        return False
    value = numbers.get(column.base[0]) if column.base else None
    return not column.late if value is None else not bool(np.isnan(value).all())


def _unquoted(why: str) -> str:
    return why.partition(", such as ")[0]  # it may quote what was forgotten


def _noted_places(column: Column) -> dict[str, int]:
    if column.kind == "text":
        return {key: column.places[key] for key in TEXT_KEYS[:1] if key in column.places}
    return dict(column.places)


def _noted_column(noted: Any) -> Column:
    # The column that notes describe; everything is checked.
    name, kind, why, late, is_first, places = noted
    _require(isinstance(name, str) and isinstance(why, str))
    _require(isinstance(late, bool) and isinstance(is_first, bool))
    _require(kind in KINDS or kind == UNDECIDED)
    _require(all(type(place) is int for place in places.values()))
    if kind == "text" and places:
        start = places[TEXT_KEYS[0]]
        _require(len(places) == 1)
        places = {key: start + n for n, key in enumerate(TEXT_KEYS)}
    column = Column(name, kind, why, late, is_first, dict(places))
    for key in places:
        is_word = kind in ("number", "boolean", "category") and key.startswith("=")
        _require(is_word or key in column.base or key in _OTHER_KEYS.get(kind, ()))
        _require(len(key) <= LONGEST + 1)
    for together in (column.base, HASH_KEYS, DAY_KEYS):
        _require(len(places.keys() & set(together)) in (0, len(together)))
    _require(column.own <= MOST_VALUES)
    return column


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("These notes do not describe an encoder.")


def _require_room(columns: Iterable[Column]) -> None:
    listed = list(columns)
    if len(listed) > MOST_COLUMNS:
        raise InvalidInputError(
            f"A table has at most {MOST_COLUMNS:,} columns; leave some out, or learn it as a "
            'sparse matrix (features="projection").'
        )
    if sum(each.kind == "text" for each in listed) > MOST_TEXTS:
        raise InvalidInputError(
            f"A table has at most {MOST_TEXTS:,} columns of text; leave some out, or join them."
        )
