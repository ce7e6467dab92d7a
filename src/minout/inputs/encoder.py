"""Encode tables with columns of any kind as rows of numeric features."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.inputs.arguments import each_row
from minout.inputs.column import DAY_KEYS, HASH_KEY, TEXT, TEXT_KEY, WIDTHS, Column, width_of
from minout.inputs.kinds import DATES, KINDS, MOST_VALUES, UNDECIDED, Decision, decide
from minout.inputs.tables import Table
from minout.inputs.values import Cells, is_missing, split_numbers

OVERRIDE = "you said so"
MOST_COLUMNS = 100_000
MOST_TEXTS = 2_000
"""The most columns of text: a few characters in a file stand for hundreds of features."""

Need = tuple[int, str, str]
"""A row, the name of a column, and the key of a feature that its value there needs."""


class TableEncoder:
    """Encode tables as rows of features; an encoder never changes, `encode_new` returns another.

    The first rows decide the kind of each column, which says how its values are encoded: see
    docs/recipes/messy_table.md. A kind passed as `kinds` comes first, then the dtype of a data
    frame, then the values: see `kinds.py`.

    A new category, and a time of day in a column of dates, append features, which are 0 in earlier
    rows. A column without a value in the first rows gets its features with its first value; until
    `canonical`, a missing value there is 0 in all features.
    """

    def __init__(
        self, kinds: Mapping[str, str] | None = None, columns: Iterable[Column] = ()
    ) -> None:
        self.overrides = dict(kinds or {})
        self._columns = {each.name: each for each in columns}
        self.width = sum(len(each.positions) for each in self._columns.values())

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
        """The columns that are left out or hashed: other values may give equal rows."""
        columns = self._columns.items()
        return [name for name, each in columns if each.kind == "ignore" or each.is_hashed]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column by name; "undecided" as long as it has no value."""
        return {name: column.kind for name, column in self._columns.items()}

    @property
    def names(self) -> list[str]:
        """The name of each feature: "age", "colour=red", "colour is missing"."""
        names: dict[int, str] = {}
        for column in self._columns.values():
            names |= column.names()
        return [names[place] for place in range(self.width)]

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The first and the last position, plus one, of the features of each text or category.

        Features that came later are blocks of their own until `canonical` puts them together.
        """
        runs: list[tuple[int, int]] = []
        for column in self._columns.values():
            places = np.sort(column.positions if column.kind in ("category", "text") else [])
            apart = np.flatnonzero(np.diff(places) != 1) + 1
            runs += [(int(run[0]), int(run[-1]) + 1) for run in np.split(places, apart) if len(run)]
        return tuple(sorted(runs))

    def described(self) -> dict[str, str]:
        """Return the kind of each column and the reason: "number (its dtype is a number)"."""
        return {name: each.described() for name, each in self._columns.items()}

    def sum_by_column(self, parts: Floats) -> dict[str, float]:
        """Sum values per feature, such as contributions, to values per column."""
        owner = {place: each.name for each in self._columns.values() for place in each.positions}
        sums: dict[str, float] = {}
        for place, part in enumerate(np.asarray(parts).tolist()):
            sums[owner[place]] = sums.get(owner[place], 0.0) + part
        return sums

    def decode(self, row: Floats) -> dict[str, Any]:
        """Return the values that an encoded row stands for, to show them; "(hashed)" for text."""
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

    def encode(self, table: Table) -> Floats:
        """Return the encoded rows (n, width); values without a feature are 0 in all features."""
        return self._encoded(table)[0]

    def encode_new(self, table: Table) -> tuple["TableEncoder", Floats]:
        """Return an encoder that has features for all values of a table, and the encoded rows."""
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
                row[column.positions] = missing[column.positions]
        return row

    def keeping(self, row: Floats, stored: Floats, given: Container[str]) -> Floats:
        """Return an encoded row in which columns that are not given have their stored values."""
        row = row.copy()
        for name, column in self._columns.items():
            if name not in given and column.places:
                row[column.positions] = stored[column.positions]
        return row

    def canonical(self, rows: Floats) -> tuple["TableEncoder", Floats]:
        """Return the encoder and the rows that depend on the set of the rows only.

        Columns are as if they had been there from the start, features that no row has are dropped,
        and the others are sorted by name. Kinds and hashed categories stay. `rows` are all stored.
        """
        columns, parts, width = {}, list[Floats](), 0
        for name in sorted(self._columns):
            column, numbers = _settled(self._columns[name], rows)
            if numbers or column.is_first or column.kind == "ignore":
                columns[name] = replace(column, places={}).placed(numbers, width)
                parts += numbers.values()
                width += len(columns[name].positions)
        columns = {name: columns[name] for name in self._columns if name in columns}
        if columns == self._columns or not parts:  # rows need a feature, if only of zeros
            return self, rows
        return TableEncoder(self.overrides, columns.values()), np.concatenate(parts, axis=1)

    def to_notes(self) -> dict[str, Any]:
        """Return the encoder as plain values that can be written as JSON."""
        return {
            "kinds": dict(sorted(self.overrides.items())),
            "columns": [
                [each.name, each.kind, each.why, each.late, each.is_first, dict(each.places)]
                for each in self._columns.values()
            ],
        }

    @classmethod
    def from_notes(cls, notes: Any) -> "TableEncoder":
        """Return the encoder that `to_notes` described; raise an error if it cannot have."""
        encoder = cls(checked_kinds(notes["kinds"]), (Column(*each) for each in notes["columns"]))
        columns = encoder._columns.values()
        places = [place for each in columns for place in each.positions]
        if (
            sorted(places) != list(range(encoder.width))
            or len(columns) != len(notes["columns"])
            or not {each.kind for each in columns} <= {*KINDS, UNDECIDED}
        ):
            raise ValueError("These notes do not describe an encoder.")
        _require_room(columns)
        return encoder

    def _started(self, table: Table) -> "TableEncoder":
        # The encoder of the first rows: the features of a column are together, and sorted.
        if not table.columns:
            raise InvalidInputError("The table has no columns; pass at least one.")
        columns, width = [], 0
        for name, values in table.columns.items():
            column = Column(name, *self._decided(name, table))
            columns.append(column.placed((*column.base, *_first_keys(column, values)), width))
            width += len(columns[-1].positions)
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
            if column.place_of(key) >= 0:  # an earlier row needed it, too
                continue
            keys: Sequence[str] = (*(column.base if column.lacks_base else ()), key)
            if key.startswith("=") and column.own >= MOST_VALUES and not column.is_hashed:
                keys = (HASH_KEY,)
            new = [each for each in dict.fromkeys(keys) if column.place_of(each) < 0]
            columns[name], width = column.placed(new, width), width + sum(map(width_of, new))
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
    keys = {key for n in at for key, _ in _cells(column, values[n], n)}
    keys -= set(column.base)
    if column.kind in DATES:
        return [key for key in DAY_KEYS if key in keys]
    words = {key for key in keys if key.startswith("=")}
    if len(words) <= MOST_VALUES:
        return sorted(keys)
    counts = Counter(key for n in at for key, _ in _cells(column, values[n], n))
    rare = sorted(words, key=lambda key: (-counts[key], key))[MOST_VALUES:]
    return [*sorted(keys - set(rare)), HASH_KEY]


def _fill_numbers(rows: Floats, columns: list[Column], table: Table) -> dict[str, list[int]]:
    # Set the numbers of columns of numbers; return which rows have other values there.
    given = [each for each in columns if each.name in table.columns]
    lists = [each for each in given if not isinstance(table.columns[each.name], np.ndarray)]
    # One call for all columns: ten times as fast for one row.
    numbers, odd = split_numbers([value for each in lists for value in table.columns[each.name]])
    places = [each.places["number"] for each in lists]
    rows[:, places] = numbers.reshape(len(lists), table.rows).T
    others: dict[str, list[int]] = {each.name: [] for each in lists}
    for at in odd:
        n, row = divmod(at, table.rows)
        others[lists[n].name].append(row)
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
    known: dict[str, Cells] = {}
    for n in range(len(values)) if at is None else at:
        value = values[n]
        cells = known.get(value) if type(value) is str else None
        if cells is None:
            cells = _cells(column, value, n)
            if type(value) is str:
                known[value] = cells
        for key, number in cells:
            place = column.place_of(key)
            if place >= 0:
                rows[n, place] = number
            else:
                needs.append((n, column.name, key))
    return needs


def _fill_text(rows: Floats, column: Column, values: Sequence[Any]) -> list[Need]:
    texts: dict[str, list[int]] = {}
    for n, text in enumerate(each_row(column.text, values)):
        if text:
            texts.setdefault(text, []).append(n)
    if not texts:
        return []
    if column.lacks_base:
        return [(min(next(iter(texts.values()))), column.name, TEXT_KEY)]
    start = column.places[TEXT_KEY]
    for numbers, at in zip(TEXT.transform(list(texts)), texts.values(), strict=True):
        rows[at, start : start + TEXT.width] = numbers
    return []


def _cells(column: Column, value: Any, row: int) -> Cells:
    try:
        return column.cells(value)
    except InvalidInputError as error:
        error.row = row
        raise


def _settled(column: Column, rows: Floats) -> tuple[Column, dict[str, Floats]]:
    # A column as if it had been there from the start, and its features that some row has, in order.
    numbers = {key: rows[:, place : place + width_of(key)] for key, place in column.places.items()}
    if column.late and numbers:
        column, numbers = _in_time(column, numbers)
    if not _has_value(column, numbers):
        return replace(column, late=column.has_features, why=_unquoted(column.why)), {}
    own = sorted(key for key in numbers if key.startswith("=") or key == "missing")
    groups = (column.base, DAY_KEYS, *((key,) for key in own), (HASH_KEY,))
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
        is_given = np.concatenate([*numbers.values()], axis=1).any(axis=1)
        numbers["missing"] = np.where(is_given, 0.0, 1.0)[:, None]
    return replace(column, late=False), numbers


def _has_value(column: Column, numbers: dict[str, Floats]) -> bool:
    # Whether a column has a value in any row.
    if any(each.any() for key, each in numbers.items() if key[0] == "=" or key in WIDTHS):
        return True
    if column.kind in ("category", "text"):
        return False
    value = numbers.get(column.base[0]) if column.base else None
    return not column.late if value is None else not bool(np.isnan(value).all())


def _unquoted(why: str) -> str:
    return why.partition(", such as ")[0]  # it may quote what was forgotten


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
