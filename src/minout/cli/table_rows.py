"""Encode the records of a file as rows of a model, and keep the encoder in the model's notes."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minout._typing import Floats, Id
from minout.cli.output import print_note
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.streams.files import BadRowError, Example, Reader, join_names
from minout.tables import KINDS, NOTE, TableEncoder

SAMPLED, SAMPLED_CELLS = 10_000, 1_000_000
"""The most rows, and the most values in all, from which the kinds of columns are inferred."""


def stored_encoder(learner: Learner) -> TableEncoder | None:
    """Return the encoder of a model; None if its rows are not encoded records."""
    note = learner.notes.get(NOTE)
    if note is None:
        return None
    try:
        encoder = TableEncoder.restored(note)
    except InvalidInputError:
        encoder = None
    if encoder is None or learner.width not in (None, encoder.width):
        raise InvalidInputError(
            f"The model's note {NOTE!r}, which says how columns are encoded, was not written by "
            "minout, or not for this model; restore the model from a backup."
        )
    return encoder


class RowMaker:
    """Encode the examples of a file as rows to predict, with the model's present encoder."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._note: Any = None
        self._encoder: TableEncoder | None = None

    @property
    def encoder(self) -> TableEncoder | None:
        """The encoder of the model's present state."""
        note = self._learner.notes.get(NOTE)
        if note is not self._note:
            self._encoder, self._note = stored_encoder(self._learner), note
        return self._encoder

    def rows(self, batch: Sequence[Example]) -> Any:
        """Return the rows of examples: an array (n, d), or a list of texts."""
        rows = [example.row for example in batch]
        encoder = self.encoder
        if encoder is not None:
            records = [as_record(encoder, row) for row in rows]
            return encoder.encode_known_many(records)
        return rows if isinstance(rows[0], str) else np.array(rows)

    def row(self, example: Example) -> Any:
        """Return the row of one example."""
        return self.rows([example])[0]


def as_record(encoder: TableEncoder, row: Any) -> Mapping[str, Any]:
    """Return a row as a record; numbers without names are the model's first columns, in order."""
    if isinstance(row, dict):
        return row
    return dict(zip(encoder.first_columns, row.tolist(), strict=True))


def first_rows(reader: Reader) -> list[Example]:
    """Return the first rows of a file, which are read before any is taught.

    From standard input it is one: the next may take long to come.
    """
    first = reader.peek(1)
    if reader.is_live or not first:
        return first
    width = 1 if isinstance(first[0].row, str) else max(1, len(first[0].row))
    return reader.peek(max(100, min(SAMPLED, SAMPLED_CELLS // width)))


class NewRow(NamedTuple):
    """An encoded row to teach, and by how many features it is longer than the stored rows."""

    row: Floats
    widen: int


class TableTeaching:
    """The encoder while rows are taught; its changes are written to the model's notes.

    Parameters
    ----------
    reader : Reader
        The file; the kinds of new columns are inferred from its first rows.
    kinds : mapping of str to str
        The kinds of columns that the user set, by name.
    skips : bool
        Whether bad rows are skipped.

    Raises
    ------
    InvalidInputError
        If the user names a column that the file does not have, or that is its label or id.
    """

    def __init__(self, reader: Reader, kinds: Mapping[str, str], *, skips: bool) -> None:
        self._reader, self._kinds, self._skips = reader, dict(kinds), skips
        self._sample = first_rows(reader) if reader.kind == "records" else []
        if self._sample and not reader.is_live:
            self._check_names()
        self.encoder = TableEncoder()
        self._is_noted = False
        self._said: set[str] = set()

    def _check_names(self) -> None:
        reader = self._reader
        names = {*(reader.columns or ()), *reader.unused}
        names.update(name for each in self._sample for name in each.row)
        for name in self._kinds:
            if name in (reader.label, reader.id):
                role = "label" if name == reader.label else "id"
                raise InvalidInputError(
                    f"The column {name!r} is the {role}; --as and --ignore are for other columns."
                )
            if name not in names:
                raise InvalidInputError(
                    f"{reader.source} has no column {name!r}; its columns are: "
                    f"{join_names(list(reader.columns or ()))}."
                )

    def take_over(self, learner: Learner) -> None:
        """Continue with the model's encoder, or start a new one if the model has no rows."""
        stored = stored_encoder(learner)
        self.encoder = TableEncoder() if stored is None else stored
        for name, kind in self._kinds.items():
            self.encoder.set_kind(name, kind)
        records = [each.row for each in self._sample]
        if records and not self.encoder.is_started:
            self._start()
        elif records:
            self.encoder.appear(records)
        self._is_noted = False
        self._said = self._said or set(self.encoder.columns)

    def _start(self) -> None:
        # If a value does not fit the kind that the user set, the error names its row.
        overrides = self.encoder.overrides
        try:
            self.encoder.start([each.row for each in self._sample])
        except InvalidInputError:
            good = []
            for example in self._sample:
                try:
                    TableEncoder(overrides).start([example.row])
                except InvalidInputError as error:
                    if not self._skips:
                        raise bad_row(self._reader, example, error) from None
                else:
                    good.append(example.row)
            if good:
                self.encoder.start(good)

    def print_new_columns(self, known: Collection[str] | None = None) -> None:
        """Say what the columns are that are not `known`; by default those after the first rows."""
        known = self._said if known is None else known
        for name, what in self.encoder.taken_for().items():
            if known and name not in known:
                print_note(f"New column {name}: {what}.")

    def plain_numbers(self) -> list[str]:
        """Return the columns that have numbers only."""
        return [name for name, what in self.encoder.taken_for().items() if _is_plain(what)]

    def require_columns(self) -> None:
        """Raise an error if no column of the file can be used."""
        encoder = self.encoder
        if encoder.is_started and not encoder.width:
            taken = "; ".join(encoder.describe_columns())
            raise InvalidInputError(
                f"{self._reader.source} has no column to learn from: {taken}. Set the kind of a "
                "column with --as COLUMN=KIND."
            )

    def encode(self, learner: Learner, row: Any) -> NewRow:
        """Return the row to teach; new categories and columns get features."""
        numbers = self.encoder.encode(as_record(self.encoder, row)).row
        return NewRow(numbers, 0 if learner.width is None else len(numbers) - learner.width)

    def encode_stored(self, learner: Learner, row: Any, id: Id) -> Floats:
        """Return the row of an example that is stored; no features are added.

        Columns that appeared after the first rows are left out if the example was taught without
        them: a file that has got new columns does not contradict the stored rows.
        """
        encoder, record = self.encoder, as_record(self.encoder, row)
        whole = encoder.encode_known(record)
        stored = learner.example(id)[0]
        first = encoder.encode_known({name: record.get(name) for name in encoder.first_columns})
        is_without = np.array_equal(first[: len(stored)], stored, equal_nan=True)
        return (first if is_without else whole)[: len(stored)]

    def note(self, learner: Learner, *, is_changed: bool) -> None:
        """Write the encoder to the model's notes, if a row has changed it."""
        if is_changed or not self._is_noted:
            described = self.encoder.described()
            if described != learner.notes.get(NOTE):
                learner.notes[NOTE] = described
            if learner.settings.blocks != tuple(self.encoder.blocks):
                learner.set_blocks(self.encoder.blocks)
            self._is_noted = True

    def remember(self, learner: Learner) -> None:
        """Write what the user says of columns to the notes, although no row was taught."""
        with learner.turn():
            self.take_over(learner)
            if len(learner) and self.encoder.width == learner.width:
                self.note(learner, is_changed=True)


def column_notes(encoder: TableEncoder | None) -> list[str]:
    """Return a line for each column that does not have numbers only: its kind and the reason."""
    taken = {} if encoder is None else encoder.taken_for()
    return [f"{name}: {what}." for name, what in taken.items() if not _is_plain(what)]


def _is_plain(taken_for: str) -> bool:
    return taken_for.startswith("number (")


def bad_row(reader: Reader, example: Example, error: InvalidInputError) -> BadRowError:
    """Return the error for a row that was read, but cannot be used."""
    shown = ""
    if isinstance(example.row, dict):
        roles = {reader.label: example.label, reader.id: example.id}
        record = example.row | {name: each for name, each in roles.items() if name is not None}
        shown = json.dumps(record, default=str, ensure_ascii=False)
    return BadRowError(reader.source, example.where, str(error), example.number + 1, shown)


def parse_kinds(texts: Sequence[str], ignored: Sequence[str]) -> dict[str, str]:
    """Return the kinds of columns that --as and --ignore set.

    >>> parse_kinds(["zip=category", "a=b=text"], ["name"])
    {'name': 'ignore', 'zip': 'category', 'a=b': 'text'}
    """
    kinds = dict.fromkeys(ignored, "ignore")
    for text in texts:
        name, _, kind = text.rpartition("=")
        if not name or kind not in KINDS:
            raise InvalidInputError(
                f"--as must be COLUMN=KIND with one of the kinds {', '.join(KINDS)}, not {text!r}."
            )
        if kinds.get(name, kind) != kind:
            raise InvalidInputError(
                f"--as and --ignore set two kinds of the column {name!r}; set one."
            )
        kinds[name] = kind
    return kinds
