"""The rows of a file: opened for a model, used piece by piece, bad ones refused or skipped."""

import csv
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from minout._typing import Label
from minout.cli.models import feature_map, open_model, require_examples, require_features
from minout.cli.output import Row, print_note
from minout.errors import InvalidInputError, UnwritableError, plural, some, system_reason
from minout.files import REMEMBERED, BadRowError, Batch, Reader, read
from minout.learner import Learner

PIECE = 256
"""The most rows of one call to the learner: a command that is stopped waits for one call."""
MOST_SAID = 10
"""The most skipped lines of standard input that are reported; further ones are only counted."""
T = TypeVar("T")


class FileOptions(NamedTuple):
    """A file named on the command line, and the options given for it."""

    data: str
    label: str | None = None
    id: str | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    features: str | None = None
    skip_bad: Path | None = None


class BadRows:
    """What is done with bad rows: with `file`, a new CSV, they are skipped and written to it.

    Otherwise a bad line of standard input is skipped and reported, one of a file ends the command.
    """

    def __init__(self, file: Path | None, is_live: bool) -> None:
        self.count, self.skips = 0, file is not None or is_live
        self._first: BadRowError | None = None
        self._file = file
        if file is not None and file.exists():
            raise InvalidInputError(f"There is already a {file}; name a new file for --skip-bad.")

    def __call__(self, error: BadRowError) -> None:
        """Raise an error, or count it and report it or write it down."""
        if not self.skips:
            raise error
        self._first = self._first or error
        self.count += 1
        if self._file is not None:
            self._write(self._file, error)
        elif self.count <= MOST_SAID:
            print_note(f"{error} This line is skipped.")
        elif self.count == MOST_SAID + 1:
            print_note("More lines are skipped; they are only counted.")

    def _write(self, file: Path, error: BadRowError) -> None:
        header = [("where", "reason", "row")] if self.count == 1 else []
        try:
            with file.open("a", newline="", encoding="utf-8") as opened:
                csv.writer(opened).writerows([*header, (error.where, error.what, error.text)])
        except OSError as failure:
            raise UnwritableError(
                f"{file} could not be written: {system_reason(failure)}."
            ) from failure

    def finish(self, source: str, used: int) -> None:
        """Say how many rows were skipped; raise an error if all were."""
        if self.count and not used:
            raise InvalidInputError(
                f"None of the {plural(self.count, 'row')} of {source} could be used. The first is: "
                f"{self._first}"
            )
        if self.count:
            where = "" if self._file is None else f"; {self._file} has the reasons"
            print_note(f"{plural(self.count, 'row')} skipped{where}.")


def open_file(learner: Learner, file: FileOptions, bad: BadRows) -> Reader:
    """Open a file with what the model knows of its files, unless the options say otherwise."""
    source, size = learner.schema.source, feature_map(file.features)[1]
    reader = read(
        file.data,
        label=file.label or source.label,
        id=file.id or source.id,
        encoding=file.encoding,
        decimal=file.decimal or (REMEMBERED if source.decimal == "," else "."),
        skip=bad,
        size=source.size or size,
        image_shape=source.image_shape,
    )
    with ExitStack() as opened:
        opened.callback(reader.close)
        for column in filter(None, (file.label, file.id)):
            reader.require(column)
        opened.pop_all()
    if reader.note:
        print_note(reader.note)
    return reader


def check_columns(
    learner: Learner, reader: Reader, file: FileOptions, *roles: str, may_lack: bool = False
) -> None:
    """Raise an error if a file with names lacks a column of the model, or of a role (label, id)."""
    if reader.columns is None:
        return
    schema, listed = learner.schema, some(reader.columns)
    if "label" in roles and not (file.label or schema.source.label):
        raise InvalidInputError(
            f"Name the label column of {reader.source} with --label; its columns are: {listed}."
        )
    for role in roles:
        column = getattr(file, role) or getattr(schema.source, role)
        if column is not None and column not in reader.columns:
            raise InvalidInputError(
                f"{reader.source} has no column {column!r}, from which this model takes its "
                f"{role}s; name another one with --{role}."
            )
    first = schema.columns if schema.encoder is None else schema.encoder.first_columns
    missing = [name for name in first or () if name not in reader.columns]
    if missing and not may_lack:
        raise InvalidInputError(
            f"{reader.source} has no column {some(missing)}, which this model was taught with; "
            f"add it, empty if its values are missing. Its columns are: {listed}."
        )


def check_records(learner: Learner, batch: Batch) -> None:
    """Raise an error for a record that has none of the model's columns."""
    known = learner.schema.columns or ()
    for row, record in enumerate(batch.X):
        if known and isinstance(record, dict) and record.keys().isdisjoint(known):
            raise InvalidInputError(
                f"it has none of the columns that this model was taught with "
                f"({some(known)}), but {some(record) or 'no other ones'}.",
                row=row,
            )


def answers(
    model: Path,
    file: FileOptions,
    ask: Callable[[Learner, Batch], list[Row]],
    *,
    needs_labels: bool = False,
) -> Iterator[Row]:
    """Yield what `ask` says of each row of a file, by the newest state, with its line and id."""
    bad, used = BadRows(file.skip_bad, file.data == "-"), 0
    with (
        open_model(model, file.features, read_only=True) as learner,
        open_file(require_examples(require_features(learner)), file, bad) as reader,
    ):
        check_columns(learner, reader, file, *(["label"] if needs_labels else []))
        for batch in reader:
            if reader.is_live:
                learner.reload()
            for piece, found in pieces(learner, reader, batch, lambda p: ask(learner, p), bad):
                used += len(found)
                for line, id, answer in zip(piece.lines, piece.ids, found, strict=True):
                    yield {"line": line, "id": id, **answer}
            if batch.error is not None:
                raise batch.error
        bad.finish(reader.source, used)


def labels_of(learner: Learner, batch: Batch) -> list[Label]:
    """Return the labels of a batch as the model knows them; raise an error for a row without."""
    for row, label in enumerate(batch.labels):
        if label is None:
            raise InvalidInputError("it has no label; fill it in, or take the row out.", row=row)
    return learner.labels_of(cast(list[Label], batch.labels))


def pieces(
    learner: Learner,
    reader: Reader,
    batch: Batch,
    ask: Callable[[Batch], T],
    refuse: Callable[[BadRowError], None],
) -> Iterator[tuple[Batch, T]]:
    """Yield pieces of a batch with what `ask` returns; pass a row that it refuses to `refuse`."""
    start, count = 0, len(batch.lines)
    while start < count:
        stop = start + _distinct(batch.ids[start : start + PIECE])
        error = None
        while start < stop:
            piece = batch.at(range(start, stop))
            try:
                check_records(learner, piece)
                answer = ask(piece)
            except InvalidInputError as refusal:
                if refusal.row is None:
                    raise
                error, stop = refusal, start + refusal.row  # the rows before may have faults, too
            else:
                yield piece, answer
                break
        start = stop
        if error is not None:
            refuse(bad_row(reader, batch, start, error))
            start += 1


def _distinct(ids: list[str | None]) -> int:
    """Return how many rows there are before an id comes again: one call has an id once."""
    seen: set[str] = set()
    for place, each in enumerate(ids):
        if each in seen:
            return place
        if each is not None:
            seen.add(each)
    return len(ids)


def bad_row(reader: Reader, batch: Batch, place: int, error: InvalidInputError) -> BadRowError:
    """Return the error for a row that was read, but cannot be used."""
    row, known = batch.X[place], {"label": batch.labels[place], "id": batch.ids[place]}
    shown = row | known if isinstance(row, dict) else ""
    return reader.bad_row(batch.lines[place], str(error), shown)


@contextmanager
def at_row(row: int) -> Iterator[None]:
    """Name the row of a batch that an error is about."""
    try:
        yield
    except InvalidInputError as error:
        error.row = row
        raise
