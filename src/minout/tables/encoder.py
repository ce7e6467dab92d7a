"""Encode records with columns of any kind as rows of numeric features."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Bools, Floats
from minout.errors import InvalidInputError
from minout.tables.batches import ReadColumn, fill, first_cells, read_column
from minout.tables.columns import BASE, DAY_KEYS, HASH_KEYS, TEXT, TEXT_KEYS, Column, Placed
from minout.tables.decoding import value_of
from minout.tables.frames import Columns, columns_of, declared_kinds, row_count
from minout.tables.kinds import KINDS, MOST_VALUES, UNDECIDED, Decision, decide
from minout.tables.plans import Plan
from minout.tables.saving import MOST_COLUMNS, MOST_TEXTS, describe_columns, restored_columns
from minout.tables.values import Cells, is_missing

NO_VALUE = Decision(UNDECIDED, "no value so far")
OVERRIDE = "you said so"
MOST_FOUND = 2**16
"""The most values whose features are cached when single records are encoded, over all columns."""
FEWEST_FOUND = 16
"""The size of the cache of each column, at least."""


class Encoded(NamedTuple):
    """An encoded row (width,) or rows (n, width), and how many features were appended.

    Attributes
    ----------
    row : ndarray of shape (width,) or (n, width)
        The features, in the order of `TableEncoder.names`.
    new : int
        By how many features the rows have become wider: pass it to `Learner.teach` as `widen`.
    """

    row: Floats
    new: int


class Mark(NamedTuple):
    """A savepoint of a `TableEncoder`, for `roll_back` and `has_changed_since`."""

    columns: int
    slots: int
    undecided: tuple[str, ...]
    kinds_set: int


class TableEncoder:
    r"""Encode records with columns of any kind as rows of features; new categories add features.

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

    `start` decides the kind of each column. A kind passed as `kinds` comes first, then the dtype of
    a data frame, then the first rows:

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
    were encoded before have 0 in them, which is what `Learner.widen` appends: the rows are those of
    an encoder that knew all categories from the start. The order of the features is the order in
    which categories appear; those of the first rows are sorted. Kinds, and which values share
    hashed features, depend on the first rows.

    A column that is not in the first rows, or has no value there, gets its features when its first
    value comes. In such a column a missing value is 0 in all features, as in the rows before; one
    more feature of numbers, booleans and dates, "... is given", is 1 where there is a value.

    Parameters
    ----------
    kinds : mapping of str to str, optional
        The kinds of columns by name, if they are not to be inferred: "number", "boolean", "date",
        "category", "text" or "ignore".

    Raises
    ------
    InvalidInputError
        If a kind is none of these.

    Examples
    --------
    >>> encoder = TableEncoder()
    >>> encoder.start({"age": [31, 28], "colour": ["red", "blue"]})
    >>> encoder.names
    ['age', 'colour=blue', 'colour=red']
    >>> encoder.encode({"age": 40, "colour": "green"})
    Encoded(row=array([40.,  0.,  0.,  1.]), new=1)
    >>> encoder.encode_known({"age": None, "colour": "violet"})
    array([nan,  0.,  0.,  0.])
    >>> print(*encoder.describe_columns(), sep="\n")
    age: number (each of 2 values is a number)
    colour: category, 3 values (its first values are words)
    """

    def __init__(self, kinds: Mapping[str, str] | None = None) -> None:
        self._overrides = {
            str(name): _checked_kind(str(name), kind) for name, kind in (kinds or {}).items()
        }
        self._columns: dict[str, Column] = {}
        self._slots: list[tuple[Column, str]] = []
        self._undecided: dict[str, Column] = {}
        self._kinds_set = 0  # how often `set_kind` has changed something
        self._plan: Plan | None = None  # until the columns change

    @property
    def is_started(self) -> bool:
        """Whether the kinds of the columns have been decided."""
        return bool(self._columns)

    @property
    def width(self) -> int:
        """The number of features of an encoded row."""
        return len(self._slots)

    @property
    def names(self) -> list[str]:
        """The name of each feature: "age", "colour=red", "colour is missing"."""
        return [column.name_of(key) for column, key in self._slots]

    @property
    def sources(self) -> list[str]:
        """The column that each feature comes from."""
        return [column.name for column, _ in self._slots]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The numbers of each text, which only mean something together: see `Learner.set_blocks`.

        For each, the place of the first number in a row, and the place after the last.
        """
        texts = (each for each in self._columns.values() if each.kind == "text" and each.places)
        starts = sorted(each.places[TEXT_KEYS[0]] for each in texts)
        return [(start, start + TEXT.width) for start in starts]

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order in which they appeared."""
        return list(self._columns)

    @property
    def first_columns(self) -> list[str]:
        """The columns that have features since the first rows; later columns are not listed."""
        return [name for name, each in self._columns.items() if each.places and not each.late]

    @property
    def lossy_columns(self) -> list[str]:
        """The names of the columns whose values can differ although the encoded rows are equal.

        They are left out, or their categories share features by a hash.
        """
        return [
            name
            for name, each in self._columns.items()
            if each.kind == "ignore" or HASH_KEYS[0] in each.places
        ]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column by name; "undecided" as long as it has no value."""
        return {name: column.kind for name, column in self._columns.items()}

    @property
    def overrides(self) -> dict[str, str]:
        """The kinds that were not inferred but passed, by name of the column."""
        return dict(self._overrides)

    def sum_by_column(self, parts: Any) -> dict[str, float]:
        """Sum values per feature, such as contributions, to values per column.

        Parameters
        ----------
        parts : array-like of shape (width,)
            One value for each feature, such as the contributions in `Explanation.columns`.

        Returns
        -------
        dict of str to float
            The sum for each column that has features.

        Raises
        ------
        InvalidInputError
            If `parts` does not have one value for each feature.

        Examples
        --------
        >>> encoder = TableEncoder()
        >>> encoder.start({"age": [31, 28], "colour": ["red", "blue"]})
        >>> encoder.sum_by_column([0.5, 0.25, -1.0])
        {'age': 0.5, 'colour': -0.75}
        """
        each = np.asarray(parts, dtype=np.float64)
        if each.shape != (self.width,):
            raise InvalidInputError(
                f"`parts` has shape {each.shape}, but an encoded row has {self.width} features; "
                "pass one value for each feature."
            )
        sums: dict[str, float] = {}
        for name, part in zip(self.sources, each.tolist(), strict=True):
            sums[name] = sums.get(name, 0.0) + part
        return sums

    def describe_columns(self) -> list[str]:
        """Return one line per column: its name, its kind and the reason.

        Returns
        -------
        list of str
            Lines such as "colour: category, 3 values (its first values are words)".
        """
        return [f"{name}: {each.described()}" for name, each in self._columns.items()]

    def taken_for(self) -> dict[str, str]:
        """Return the kind of each column and the reason, as text.

        Returns
        -------
        dict of str to str
            Texts such as "category, 3 values (its first values are words)", by name of the column.
        """
        return {name: each.described() for name, each in self._columns.items()}

    def start(self, table: Any) -> None:
        """Decide the kind of each column from the first rows, and add features for their values.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            The first rows: a pandas or polars data frame, a mapping of column names to values, or
            a list of records (mappings of column names to values).

        Raises
        ------
        InvalidInputError
            If there are no columns, if `start` was called before, or if a value does not fit the
            kind that was passed for its column. The encoder is then unchanged.
        """
        if self.is_started:
            raise InvalidInputError(
                "This encoder has been started; encode rows with `encode` or `encode_many`, or "
                "make a new encoder."
            )
        mark = self.mark()
        try:
            self._start(columns_of(table), declared_kinds(table))
        except BaseException:
            self.roll_back(mark)
            raise

    def encode(self, record: Mapping[str, Any]) -> Encoded:
        """Encode a record to teach; new categories and columns get new features.

        Without `start`, this record alone decides the kinds.

        Parameters
        ----------
        record : mapping of str to object
            Values by name of the column; a column that is not in it is missing.

        Returns
        -------
        Encoded
            The row (width,), and how many features were appended: pass that to `Learner.teach` as
            `widen`.

        Raises
        ------
        InvalidInputError
            If a value does not fit the kind of its column. The encoder is then unchanged.

        Examples
        --------
        >>> encoder = TableEncoder()
        >>> encoder.start({"colour": ["red", "blue"]})
        >>> encoder.encode({"colour": "green"})
        Encoded(row=array([0., 0., 1.]), new=1)
        """
        mark = self.mark()
        try:
            if not self.is_started:
                self.start([record])
            before = self.width
            for name in self._planned().undecided(record):
                self._appear(str(name), [record[name]])
            row = self._row(record, register=True)
        except BaseException:
            self.roll_back(mark)
            raise
        return Encoded(row, self.width - before)

    def encode_known(self, record: Mapping[str, Any]) -> Floats:
        """Encode a record to predict; no features are added, so a new category is all zeros.

        Parameters
        ----------
        record : mapping of str to object
            Values by name of the column; columns that the encoder does not have are ignored.

        Returns
        -------
        ndarray of shape (width,)
            The encoded row.

        Raises
        ------
        InvalidInputError
            If nothing has been encoded yet, or if a value does not fit the kind of its column.

        Examples
        --------
        >>> encoder = TableEncoder()
        >>> encoder.start({"colour": ["red", "blue"]})
        >>> encoder.encode_known({"colour": "red"}), encoder.encode_known({"colour": "green"})
        (array([0., 1.]), array([0., 0.]))
        """
        self._require_started()
        return self._row(record)

    def encode_many(self, table: Any) -> Encoded:
        """Encode many records to teach; new categories and columns get new features.

        The kinds of new columns (without `start`, of all columns) are decided from all records.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            As for `start`.

        Returns
        -------
        Encoded
            The rows (n, width), all of the final width, and how many features were appended.

        Raises
        ------
        InvalidInputError
            If a value does not fit the kind of its column. The encoder is then unchanged.
        """
        given, declared, mark = columns_of(table), declared_kinds(table), self.mark()
        try:
            if not self.is_started:
                self._start(given, declared)
            before = self.width
            for name, values in given.items():
                self._appear(name, values, declared.get(name))
            read = self._read(given)
            self._register_in_order(read)
            rows = self._rows(given, read)
        except BaseException:
            self.roll_back(mark)
            raise
        return Encoded(rows, self.width - before)

    def encode_known_many(self, table: Any) -> Floats:
        """Encode many records to predict, as `encode_known` does.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            As for `start`.

        Returns
        -------
        ndarray of shape (n, width)
            The encoded rows.

        Raises
        ------
        InvalidInputError
            If nothing has been encoded yet, or if a value does not fit the kind of its column.
        """
        self._require_started()
        given = columns_of(table)
        return self._rows(given, self._read(given))

    def appear(self, table: Any) -> None:
        """Decide the kinds of new columns from a sample of rows; no features are added yet.

        Without it, `encode` decides the kind of a new column from its first value.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            As for `start`. Columns whose kind has been decided stay as they are.

        Raises
        ------
        InvalidInputError
            If nothing has been encoded yet: the first rows are for `start`.
        """
        self._require_started()
        given, declared = columns_of(table), declared_kinds(table)
        for name, values in given.items():
            self._appear(name, values, declared.get(name))

    def forget_categories(self, used: Bools) -> None:
        """Forget the names of the categories that no row has; their features stay, without use.

        If such a category comes again, it gets another feature.

        Parameters
        ----------
        used : ndarray of shape (width,), bool
            Whether a row has a number other than 0 in each feature.
        """
        for place, (column, key) in enumerate(self._slots):
            if key.startswith("=") and not used[place]:
                column.remove(key)
                column.add(f"~{place}", place)
                self._slots[place] = column, f"~{place}"
        for column in self._columns.values():
            column.why = column.why.partition(", such as ")[0]
        self._plan = None

    def decode(self, row: Floats) -> dict[str, Any]:
        """Return the values of the columns that an encoded row stands for, to show them.

        Parameters
        ----------
        row : ndarray of shape (width,)
            An encoded row.

        Returns
        -------
        dict of str to object
            For each column that has features: a number, a category, True or False, a date in ISO
            8601, or None if it is missing. Text and hashed categories cannot be decoded: they are
            "(hashed)".

        Examples
        --------
        >>> encoder = TableEncoder()
        >>> encoder.start({"age": [31, None], "colour": ["red", "blue"]})
        >>> encoder.decode(encoder.encode_known({"colour": "red"}))
        {'age': None, 'colour': 'red'}
        """
        numbers = np.asarray(row).tolist()
        used = [each for each in self._columns.values() if each.places]
        return {column.name: value_of(column, numbers) for column in used}

    def mark(self) -> Mark:
        """Return a savepoint for `roll_back` and `has_changed_since`.

        Returns
        -------
        Mark
            A few numbers; it costs no copy of the encoder.
        """
        undecided = tuple(self._undecided)
        return Mark(len(self._columns), len(self._slots), undecided, self._kinds_set)

    def has_changed_since(self, mark: Mark) -> bool:
        """Return whether a column, a kind or a feature was added since a savepoint.

        Parameters
        ----------
        mark : Mark
            What `mark` returned.

        Returns
        -------
        bool
            Whether the encoder, and so `described`, has changed.
        """
        return mark != self.mark()

    def roll_back(self, mark: Mark) -> None:
        """Undo what was added since a savepoint: features, columns and their kinds.

        Kinds that were set by `set_kind` stay.

        Parameters
        ----------
        mark : Mark
            What `mark` returned.
        """
        while len(self._slots) > mark.slots:
            column, key = self._slots.pop()
            column.remove(key)
        while len(self._columns) > mark.columns:
            self._columns.popitem()
        self._undecided = {name: self._columns[name] for name in mark.undecided}
        for column in self._undecided.values():
            column.take_for(*NO_VALUE, late=False)
        self._plan = None

    def copy(self) -> "TableEncoder":
        """Return an independent copy.

        Returns
        -------
        TableEncoder
            An encoder with the same columns, kinds and features.
        """
        twin = TableEncoder(self._overrides)
        for each in self._columns.values():
            twin._add(Column(each.name, each.kind, each.why, late=each.late))
        for column, key in self._slots:
            twin._register(twin._columns[column.name], (key,))
        twin._kinds_set = self._kinds_set
        return twin

    def set_kind(self, column: str, kind: str) -> None:
        """Set the kind of a column, instead of the inferred one.

        Before `start`, any kind can be set. Later, only the kind of a column that has no features
        yet, because it was ignored or new: in the rows before, its value counts as missing.

        Parameters
        ----------
        column : str
            The name of the column.
        kind : str
            "number", "boolean", "date", "category", "text" or "ignore".

        Raises
        ------
        InvalidInputError
            If it is none of these kinds, or if rows were encoded with another kind.
        """
        kind = _checked_kind(column, kind)
        known = self._columns.get(column)
        if known is not None and known.kind == kind:
            return
        if known is not None and known.places:
            raise InvalidInputError(
                f"The column {column!r} was encoded as {known.kind} in the rows so far, and they "
                f"cannot be encoded again as {kind}; teach a new model with {column}={kind}."
            )
        self._overrides[column] = kind
        self._kinds_set += 1
        if known is not None:
            self._decide(known, Decision(kind, OVERRIDE))

    def described(self) -> dict[str, Any]:
        """Return the encoder as plain values that can be written as JSON; `restored` reads them.

        Returns
        -------
        dict
            The same for two encoders that are the same.
        """
        return describe_columns(self._overrides, list(self._columns.values()), self._slots)

    @classmethod
    def restored(cls, about: Any) -> "TableEncoder":
        """Return the encoder that `described` described.

        Parameters
        ----------
        about : dict
            What `described` returned. It is checked, so it may come from a file that someone else
            has written.

        Returns
        -------
        TableEncoder
            An encoder with the same columns, kinds and features.

        Raises
        ------
        InvalidInputError
            If `described` cannot have returned this.

        Examples
        --------
        >>> encoder = TableEncoder()
        >>> encoder.start({"age": [31, 28]})
        >>> TableEncoder.restored(encoder.described()).names
        ['age']
        """
        overrides, columns, slots = restored_columns(about)
        encoder = cls(overrides)
        for column in columns:
            encoder._add(column)
        for number, key in slots:
            encoder._register(columns[number], (key,))
        return encoder

    def _start(self, given: Columns, declared: Mapping[str, str]) -> None:
        if not given:
            raise InvalidInputError("The table has no columns; pass at least one.")
        for name, values in given.items():
            column = Column(name, *self._decided(name, values, declared.get(name)))
            self._add(column)
            self._register(column, (*column.base(), *_first_keys(column, values)))

    def _decided(self, name: str, values: Sequence[Any], declared: str | None) -> Decision:
        if name in self._overrides:
            return Decision(self._overrides[name], OVERRIDE)
        return decide(name, values, declared)

    def _appear(self, name: str, values: Sequence[Any], declared: str | None = None) -> None:
        # Decide the kind of a column that is new, or has its first value after the first rows.
        known = self._columns.get(name)
        if known is not None and known.kind != UNDECIDED:
            return
        if known is not None and all(map(is_missing, values)):
            return
        decision = self._decided(name, values, declared)
        if known is None:
            self._add(Column(name, *decision, late=decision.kind != UNDECIDED))
        elif decision.kind != UNDECIDED:
            self._decide(known, decision)

    def _add(self, column: Column) -> None:
        if len(self._columns) >= MOST_COLUMNS:
            raise InvalidInputError(
                f"A table has at most {MOST_COLUMNS:,} columns; leave some out, or learn it as a "
                'sparse matrix (features="projection").'
            )
        self._require_room(column.kind)
        self._columns[column.name] = column
        if column.kind == UNDECIDED:
            self._undecided[column.name] = column
        self._plan = None

    def _require_room(self, kind: str) -> None:
        if kind != "text":
            return
        if sum(each.kind == "text" for each in self._columns.values()) >= MOST_TEXTS:
            raise InvalidInputError(
                f"A table has at most {MOST_TEXTS:,} columns of text; leave some out, or join them."
            )

    def _decide(self, column: Column, decision: Decision) -> None:
        self._require_room(decision.kind)
        column.take_for(*decision, late=True)
        self._undecided.pop(column.name, None)
        self._plan = None

    def _planned(self) -> Plan:
        plan = self._plan
        if plan is None:
            plan = self._plan = Plan(self._columns)
        return plan

    def _register(self, column: Column, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in column.places:
                column.add(key, len(self._slots))
                self._slots.append((column, key))
                if not key.startswith(("=", "#")):
                    self._plan = None

    def _row(self, record: Mapping[str, Any], *, register: bool = False) -> Floats:
        plan = self._planned()
        values = plan.values(record)
        numbers, others = plan.split(values)
        placed = [self._found(column, values[n], register=register) for n, column in others]
        row = np.zeros(self.width)
        plan.put(numbers, row)
        for each in placed:
            for place, number in each:
                row[place] = number
        return row

    def _found(self, column: Column, value: Any, *, register: bool) -> Placed:
        known = column.found(value)
        if known is not None:
            return known
        cells = column.cells(value)
        placed = self._placed(column, cells, register=register)
        if len(placed) == len(cells):
            most = max(FEWEST_FOUND, MOST_FOUND // len(self._columns))
            column.keep_found(value, placed, most=most)
        return placed

    def _placed(self, column: Column, cells: Cells, *, register: bool = False) -> Placed:
        # The positions of what a value sets; without `register`, of features that exist.
        if register and cells and column.lacks_base:  # its first value
            self._register(column, column.base())
        placed: list[tuple[Any, Any]] = []
        for wanted, number in cells:
            key, keys = column.key_of(wanted, register=register)
            if keys:
                self._register(column, keys)
            if key in column.places:
                placed.append((column.place(key), number))
        return placed

    def _read(self, given: Columns) -> list[ReadColumn]:
        count = row_count(given)
        return [read_column(each, given.get(name), count) for name, each in self._columns.items()]

    def _register_in_order(self, read: list[ReadColumn]) -> None:
        # By rows, then by columns: as if they had been encoded one by one.
        first = [
            (row, number, cells)
            for number, each in enumerate(read)
            for row, cells in zip(each.first.tolist(), each.cells, strict=True)
        ]
        first.sort(key=lambda each: each[:2])
        for _, number, cells in first:
            self._placed(read[number].column, cells, register=True)

    def _rows(self, given: Columns, read: list[ReadColumn]) -> Floats:
        rows = np.zeros((row_count(given), self.width))
        for each in read:
            fill(rows, each, [self._placed(each.column, cells) for cells in each.cells])
        return rows

    def _require_started(self) -> None:
        if not self.is_started:
            raise InvalidInputError("Nothing has been encoded yet; call `start` first.")


def _first_keys(column: Column, values: Sequence[Any]) -> list[str]:
    # The features of the first rows beside the base, sorted; hashes above 100 categories.
    keys = {key for cells in first_cells(column, values) for key, _ in cells}
    keys -= set(BASE[column.kind])
    if column.kind == "date":
        return [key for key in DAY_KEYS if key in keys]
    words = {key for key in keys if key.startswith("=")}
    if len(words) <= MOST_VALUES:
        return sorted(keys)
    return [*sorted(keys - words), *HASH_KEYS]


def _checked_kind(column: str, kind: Any) -> str:
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInputError(
            f"The kind of the column {column!r} must be one of {', '.join(KINDS)}, not {kind!r}."
        )
    return kind
