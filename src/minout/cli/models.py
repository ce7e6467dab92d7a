"""Open a model and a file, and work on the rows of the file batch by batch."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from minout._typing import Id, Label
from minout.cli.bad_rows import BadRows
from minout.errors import InvalidInputError, MissingDataError
from minout.features import Encoder, FeatureMap, UnknownMap, named
from minout.files import BadRowError, Batch, Reader, join_names, read
from minout.learner import Learner
from minout.store import prepare_folder

PIECE = 256
"""The most rows of one call to the learner: a command that is stopped waits for one call."""
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


def load_model(model: Path, features: str | None = None) -> Learner:
    """Load the newest state of a model, also while another process teaches it."""
    with open_model(model, features, read_only=True) as learner:
        return learner


def open_model(model: Path, features: str | None = None, **options: Any) -> Learner:
    """Open a model that exists.

    A function of the user is not needed until rows are mapped: see `require_features`.
    """
    prepare_folder(model, create=False)
    wanted = feature_map(features)[0]
    own = wanted if isinstance(wanted, Encoder) else UnknownMap()
    learner = Learner.open(model, features=own, **options)
    if wanted is not None and type(wanted) is not type(learner.features):
        learner.close()
        raise InvalidInputError(
            f"This model was made with {learner.features.fingerprint}; --features is for new "
            "models."
        )
    if options.get("read_only") and learner.is_new:
        learner.close()
        raise MissingDataError(f"There is no model in {model}; `minout learn` creates one.")
    return learner


def feature_map(text: str | None) -> tuple[FeatureMap | None, tuple[int, int] | None]:
    """Return the map that --features names, and the size to which it resizes images.

    Only a name on the command line is imported, never one in a model's folder. As with `python -m`,
    the current folder is searched too.

    >>> feature_map("scattering:32x24")[1]
    (32, 24)
    """
    if text is None:
        return None, None
    name, _, rest = text.partition(":")
    size = re.fullmatch(r"(\d{1,4})x(\d{1,4})", rest)
    if size:
        return named(name), (int(size[1]), int(size[2]))
    return (named(name), None) if not rest else (named(_imported(name, rest)), None)


def _imported(module: str, name: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever the module raises when it is imported
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise InvalidInputError(
            f"--features {module}:{name} could not be imported: {reason}; name "
            "package.module:function, or a size such as scattering:32x32."
        ) from error
    if isinstance(found, type) or not (callable(found) or isinstance(found, FeatureMap)):
        raise InvalidInputError(
            f"--features {module}:{name} is not a function from a batch to rows, but "
            f"{type(found).__name__}."
        )
    return found


def require_features(learner: Learner) -> Learner:
    """Return the learner; raise an error if the user's function that it needs was not named."""
    if isinstance(learner.features, UnknownMap):
        raise InvalidInputError(
            f"This model was taught with {learner.features.fingerprint}; name the function with "
            "--features package.module:function, because minout never imports code that only a "
            "model's folder names."
        )
    return learner


def require_examples(learner: Learner) -> Learner:
    """Return the learner, or refuse one from which everything was forgotten."""
    if not len(learner):
        raise InvalidInputError("This model has no examples; teach it some first.")
    return learner


def open_file(learner: Learner, file: FileOptions, bad: BadRows) -> Reader:
    """Open a file with what the model knows of its files, unless the options say otherwise."""
    source, size = learner.schema.source, feature_map(file.features)[1]
    reader = read(
        file.data,
        label=file.label or source.label,
        id=file.id or source.id,
        encoding=file.encoding,
        decimal=file.decimal or source.decimal or ".",
        skip=bad,
        size=source.size or size,
        image_shape=source.image_shape,
    )
    try:
        for column in filter(None, (file.label, file.id)):
            reader.require(column)
    except BaseException:
        reader.close()
        raise
    return reader


def require_columns(learner: Learner, reader: Reader) -> None:
    """Raise an error if a file with a header lacks columns of the model."""
    encoder = learner.schema.encoder
    first = learner.schema.columns if encoder is None else encoder.first_columns
    missing = [name for name in first or () if name not in (reader.columns or first or ())]
    if missing:
        raise InvalidInputError(
            f"{reader.source} has no column {join_names(missing)}, which this model was taught "
            f"with; add it, empty if its values are missing. Its columns are: "
            f"{join_names(reader.columns or [])}."
        )


def check_records(learner: Learner, batch: Batch) -> None:
    """Raise an error for a record that has none of the model's columns."""
    known = set(learner.schema.columns or ())
    for row, record in enumerate(batch.X):
        if known and isinstance(record, dict) and known.isdisjoint(record):
            raise InvalidInputError(
                f"it has none of the columns that this model was taught with "
                f"({join_names(learner.schema.columns or [])}), but {join_names(list(record))}.",
                row=row,
            )


def require_label(learner: Learner, reader: Reader, file: FileOptions) -> None:
    """Raise an error if the file has no column of labels."""
    column = file.label or learner.schema.source.label
    if reader.columns is None or column in reader.columns:
        return
    if column is not None:
        raise InvalidInputError(
            f"{reader.source} has no column {column!r}, from which this model takes its labels; "
            "name another one with --label."
        )
    raise InvalidInputError(
        f"Name the label column of {reader.source} with --label; its columns are: "
        f"{join_names(reader.columns)}."
    )


class Asked:
    """A model and a file whose rows it is asked about."""

    def __init__(self, learner: Learner, reader: Reader, bad: BadRows) -> None:
        self.learner, self.reader, self._bad, self._used = learner, reader, bad, 0

    def answers(self, ask: Callable[[Batch], T]) -> Iterator[tuple[Batch, T]]:
        """Yield pieces of the file with what `ask` returns for each; raise what ends the file."""
        for batch in self.reader:
            for piece, answer in pieces(self.learner, self.reader, batch, ask, self._bad):
                self._used += len(piece.lines)
                yield piece, answer
            if batch.error is not None:
                raise batch.error
        self._bad.finish(self.reader.source, self._used)


@contextmanager
def asking(model: Path, file: FileOptions, *, needs_labels: bool = False) -> Iterator[Asked]:
    """Open a model and a file to ask the model about its rows."""
    with (
        closing(BadRows(file.skip_bad, file.data == "-")) as bad,
        open_model(model, file.features, read_only=True) as learner,
        open_file(require_examples(require_features(learner)), file, bad) as reader,
    ):
        require_columns(learner, reader)
        if needs_labels:
            require_label(learner, reader, file)
        yield Asked(learner, reader, bad)


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
    """Yield the pieces of a batch with what `ask` returns for each.

    A row that it refuses, by an InvalidInputError with the number of the row, is passed to
    `refuse`, after the rows before it were used.
    """
    start, count = 0, len(batch.lines)
    while start < count:
        stop = start + _distinct(batch.ids[start : start + PIECE])
        piece, error = batch.part(start, stop), None
        try:
            check_records(learner, piece)
            answer = ask(piece)
        except InvalidInputError as refusal:
            if refusal.row is None:
                raise
            error, stop = refusal, start + refusal.row
            piece = batch.part(start, stop)
            if refusal.row:
                answer = ask(piece)
        if piece.lines:
            yield piece, answer
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
    shown = json.dumps(row | known, default=str) if isinstance(row, dict) else ""
    return reader.bad_row(batch.lines[place], str(error), shown)


def require_id(learner: Learner, text: str) -> Id:
    """Return the stored id that a text stands for: the text, or the number that it writes."""
    found = learner.find_id(text)
    if found is None:
        raise InvalidInputError(f"There is no example {text!r} in this model.")
    return found


def require_stored_label(learner: Learner, text: str) -> Label:
    """Return the label of the model that a text stands for."""
    (label,) = learner.labels_of([text])
    if label not in learner.classes.tolist():
        raise InvalidInputError(
            f"No example has the label {text!r}; the labels are: "
            f"{join_names([str(each) for each in learner.classes.tolist()])}."
        )
    return label
