"""Turn records with columns of any kind into rows of numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats
from minout.errors import InvalidInputError
from minout.tables.batches import ReadColumn, fill, first_cells, read_column
from minout.tables.columns import BASE, DAY_KEYS, HASH_KEYS, TEXT, TEXT_KEYS, Column, Placed
from minout.tables.decoding import value_of
from minout.tables.frames import Columns, columns_of, declared_kinds, row_count
from minout.tables.kinds import KINDS, MOST_VALUES, UNDECIDED, Decision, decide
from minout.tables.plans import Plan
from minout.tables.saving import describe_columns, restored_columns
from minout.tables.values import Cells, is_missing

NO_VALUE = Decision(UNDECIDED, "no value so far")
OVERRIDE = "you said so"
MOST_FOUND = 2**16
"""So many values of single records are kept together with what they set, in all columns."""
FEWEST_FOUND = 16
"""At least so many values of each column."""


class Encoded(NamedTuple):
    """One row (width,) or rows (n, width), and how many numbers were appended to the width."""

    row: Floats
    new: int


class Mark(NamedTuple):
    """A moment to which `TableEncoder.roll_back` goes back."""

    columns: int
    slots: int
    undecided: tuple[str, ...]
    kinds_set: int


class TableEncoder:
    r"""Turn records with columns of any kind into rows of numbers; grow when categories appear.

    `start` decides what each column is from the first rows, in this order: true or false (also the
    words true, false, yes and no) is a boolean; numbers and text that is a number are numbers, also
    if up to 5 % of the values are words, but whole numbers that all differ in a column named as an
    id are left out; dates in ISO 8601 are dates; words are categories, but a column in which nearly
    all of 20 or more values differ is text (four words or more on average) or left out as an
    identifier. Eight words or more on average are text if more than half of the values differ. The
    dtype of a data frame decides before its values do, and an override before both.

    =========  ==============================================================================
    kind       numbers of a row
    =========  ==============================================================================
    number     itself; a missing one is NaN. A word is a missing number and gets a number as a
               category has
    boolean    1 or 0; a missing one is NaN. Any other word gets a number as a category has
    date       days since 1970 (NaN if missing), and sine and cosine of the time of year, of the
               weekday and, once a time is given that is not midnight, of the time of day
    category   1 for its value: each value has its own number, and so has "missing". Above 100
               values, those without a number of their own share 64, by a hash
    text       512, by a hash of its words and runs of characters as `HashedText` makes them; all
               are 0 if it is missing
    ignore     none
    =========  ==============================================================================

    Numbers are only ever appended to a row, and rows from before have 0 in them, as
    `Learner.widen` gives them: they are the rows that an encoder makes that knew all categories
    from the start. Which values beyond 100 share numbers, and the kinds themselves, depend on the
    first rows. The order of the numbers depends on the order in which categories appear, except
    for those in the first rows, which are sorted.

    A column that appears later, or has its first value later, starts with 0 for all rows before;
    a second number says that a value is given, except for text, which is 0 if it is missing.

    Parameters
    ----------
    kinds : mapping of str to str, optional
        Overrides, by name of the column: "number", "boolean", "date", "category", "text" or
        "ignore".

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
        """How many numbers a row has."""
        return len(self._slots)

    @property
    def names(self) -> list[str]:
        """A name for each number of a row: "age", "colour=red", "colour is missing"."""
        return [column.name_of(key) for column, key in self._slots]

    @property
    def sources(self) -> list[str]:
        """The column that each number of a row comes from."""
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
        """The names of the columns, in their order."""
        return list(self._columns)

    @property
    def first_columns(self) -> list[str]:
        """The names of the columns that are used and that the first rows had."""
        return [name for name, each in self._columns.items() if each.places and not each.late]

    @property
    def kinds(self) -> dict[str, str]:
        """What each column was taken for; "undecided" as long as it has no value."""
        return {name: column.kind for name, column in self._columns.items()}

    @property
    def overrides(self) -> dict[str, str]:
        """The kinds that were given by name of the column."""
        return dict(self._overrides)

    def sum_by_column(self, parts: Any) -> dict[str, float]:
        """Return the sums of one number per number of a row, by the column they come from.

        Parameters
        ----------
        parts : array-like of shape (width,)
            Numbers such as the contributions in `Explanation.columns`.

        Returns
        -------
        dict of str to float
            A sum for each column that has numbers.

        Raises
        ------
        InvalidInputError
            If there is not one part for each number of a row.

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
                f"A row has {self.width} numbers, but the parts have the shape {each.shape}."
            )
        sums: dict[str, float] = {}
        for name, part in zip(self.sources, each.tolist(), strict=True):
            sums[name] = sums.get(name, 0.0) + part
        return sums

    def describe_columns(self) -> list[str]:
        """Return one line per column: what it was taken for, and why."""
        return [f"{name}: {each.described()}" for name, each in self._columns.items()]

    def taken_for(self) -> dict[str, str]:
        """Return for each column what it was taken for, and why."""
        return {name: each.described() for name, each in self._columns.items()}

    def start(self, table: Any) -> None:
        """Decide what each column is from the first rows, and register their categories.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            The first rows: a frame of pandas or polars, columns by name, or records.

        Raises
        ------
        InvalidInputError
            If there are no columns, if it was started before, or if a value is not of the kind
            that an override says. Nothing has changed.
        """
        if self.is_started:
            raise InvalidInputError("The kinds of the columns have been decided already.")
        mark = self.mark()
        try:
            self._start(columns_of(table), declared_kinds(table))
        except BaseException:
            self.roll_back(mark)
            raise

    def encode(self, record: Mapping[str, Any]) -> Encoded:
        """Return the row of a record; categories and columns that are new are registered.

        Parameters
        ----------
        record : mapping of str to object
            Values by name of the column; columns that are not in it have no value.

        Returns
        -------
        Encoded
            The row (width,), and by how many numbers the width has grown: pass it on to
            `Learner.teach` as `widen`.

        Raises
        ------
        InvalidInputError
            If a value is not of the kind of its column. Nothing has changed.
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
        """Return the row of a record, for a prediction: an unseen category is all zeros.

        Parameters
        ----------
        record : mapping of str to object
            Values by name of the column; columns that are not known are left out.

        Returns
        -------
        ndarray of shape (width,)
            The row.
        """
        self._require_started()
        return self._row(record)

    def encode_many(self, table: Any) -> Encoded:
        """Return the rows of many records, and by how many numbers the width has grown.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            As for `start`.

        Returns
        -------
        Encoded
            The rows (n, width), each as wide as the last, and the growth of the width.
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
        """Return the rows of many records, for predictions: see `encode_known`.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            As for `start`.

        Returns
        -------
        ndarray of shape (n, width)
            The rows.
        """
        self._require_started()
        given = columns_of(table)
        return self._rows(given, self._read(given))

    def appear(self, table: Any) -> None:
        """Decide what columns are that are new in a sample of rows, from all its values.

        Without it `encode` decides from the first value. No categories are registered.

        Parameters
        ----------
        table : DataFrame, mapping of str to sequence, or sequence of mappings
            As for `start`. Columns whose kind has been decided stay as they are.

        Raises
        ------
        InvalidInputError
            If the first rows are still to come, which `start` takes. Nothing has changed.
        """
        self._require_started()
        given, declared = columns_of(table), declared_kinds(table)
        for name, values in given.items():
            self._appear(name, values, declared.get(name))

    def decode(self, row: Floats) -> dict[str, Any]:
        """Return the values of a row, for people: what `encode` made of them, read back.

        Parameters
        ----------
        row : ndarray of shape (width,)
            An encoded row.

        Returns
        -------
        dict of str to object
            For each column that is used: a number, a word, True or False, a date as text, or None
            if it is missing. Text and hashed categories cannot be read back: they are "(hashed)".

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
        """Return this moment, for `roll_back` and `has_changed_since`."""
        undecided = tuple(self._undecided)
        return Mark(len(self._columns), len(self._slots), undecided, self._kinds_set)

    def has_changed_since(self, mark: Mark) -> bool:
        """Return whether a column, a kind or a number is new since a moment.

        Parameters
        ----------
        mark : Mark
            What `mark` returned.

        Returns
        -------
        bool
            Whether `described` has changed.
        """
        return mark != self.mark()

    def roll_back(self, mark: Mark) -> None:
        """Forget what was registered since a moment: categories, columns and their kinds.

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
        """Return an encoder that can change without this one."""
        twin = TableEncoder(self._overrides)
        for each in self._columns.values():
            twin._add(Column(each.name, each.kind, each.why, late=each.late))
        for column, key in self._slots:
            twin._register(twin._columns[column.name], (key,))
        twin._kinds_set = self._kinds_set
        return twin

    def set_kind(self, column: str, kind: str) -> None:
        """Override what a column is taken for.

        Before `start` any kind is possible. Later, a column that was left out can be given a kind:
        rows before count as without a value.

        Parameters
        ----------
        column : str
            The name of the column.
        kind : str
            "number", "boolean", "date", "category", "text" or "ignore".

        Raises
        ------
        InvalidInputError
            If the rows so far were encoded as another kind: they cannot be read again.
        """
        kind = _checked_kind(column, kind)
        known = self._columns.get(column)
        if known is not None and known.kind == kind:
            return
        if known is not None and known.places:
            raise InvalidInputError(
                f"The column {column!r} is a {known.kind} in the rows so far, which cannot be read "
                f"again as {kind}; teach a new model with {column}={kind}."
            )
        self._overrides[column] = kind
        self._kinds_set += 1
        if known is not None:
            self._decide(known, Decision(kind, OVERRIDE))

    def described(self) -> dict[str, Any]:
        """Return plain values for a file: the same for encoders that are the same."""
        return describe_columns(self._overrides, list(self._columns.values()), self._slots)

    @classmethod
    def restored(cls, about: Any) -> "TableEncoder":
        """Return the encoder that `described` described.

        Parameters
        ----------
        about : dict
            What `described` returned, perhaps from a file that someone else has written.

        Raises
        ------
        InvalidInputError
            If no encoder is described so.
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
        # A column that is new, or has its first value: it is late.
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
        self._columns[column.name] = column
        if column.kind == UNDECIDED:
            self._undecided[column.name] = column
        self._plan = None

    def _decide(self, column: Column, decision: Decision) -> None:
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
        # The places of what a value sets; without `register`, of what is known.
        if register and cells and column.lacks_base:  # it is late
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
    # What the first rows set beside the base, sorted; hashes instead of very many categories.
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
            f"The kind of the column {column!r} is one of {', '.join(KINDS)}, not {kind!r}."
        )
    return kind
