"""The columns of a model's files, stored in its notes, and its labels and ids as text."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from minout._typing import Id
from minout.cli.table_rows import stored_encoder
from minout.errors import InvalidInputError
from minout.features import FeatureMap, HashedText, Projection, takes_rows
from minout.learner import Learner
from minout.streams.files import BadRowError, Label, Reader, RowsAs, join_names, read
from minout.streams.files.columns import SHOWN

NOTES = "files"
"""The key of this entry in a learner's notes."""
NO_LABEL = (
    "it has no label; put an image into the folder of its class, labels of NPZ into the array y."
)
"""What is wrong with an example without a label: other files have a column for it."""


class FileOptions(NamedTuple):
    """A file named on the command line, and the options given for it."""

    data: str
    label: str | None = None
    id: str | None = None
    ignore: list[str] | None = None
    from_line: int = 1
    on_bad_line: Callable[[BadRowError], None] | None = None
    needs_label: bool = False
    """Whether each line of standard input needs the model's label column, and its id column."""
    features: FeatureMap | None = None
    """The feature map of a new model, or the user's own function of an existing one."""
    encoding: str | None = None
    reads_labels: bool = True
    resize: tuple[int, int] | None = None
    """The height and width of a new model's images; an existing model has its own."""
    is_new_table: bool = False
    """Whether a new model is taught records, with columns of any kind."""


class FileNotes(NamedTuple):
    """The columns of the labels, of the ids and of the features, and the shape of images.

    If `resized`, images of another size are resized to that of the model.
    """

    label: str | None = None
    id: str | None = None
    columns: list[str] | None = None
    image_shape: list[int] | None = None
    resized: bool = False
    comma_columns: list[str] | None = None


def read_notes(learner: Learner) -> FileNotes:
    """Return a model's notes on files; for a classifier's model, its column names."""
    notes, key = learner.notes.get(NOTES), NOTES
    if notes is None:
        classifier, key = learner.notes.get("classifier", {}), "classifier"
        notes = {"columns": classifier.get("names")} if isinstance(classifier, dict) else classifier
    if not isinstance(notes, dict) or not set(notes) <= set(FileNotes._fields):
        raise InvalidInputError(_not_ours(key))
    found = FileNotes(**notes)
    if not _are_valid(found):
        raise InvalidInputError(_not_ours(key))
    return found


def _not_ours(key: str) -> str:
    return (
        f"The model's note {key!r} was not written by minout; "
        "remove it from `Learner.notes` and save the model again."
    )


def _are_valid(notes: FileNotes) -> bool:
    # A file may have been changed by hand, or by someone else.
    texts = (notes.label, notes.id, *_listed(notes.columns), *_listed(notes.comma_columns))
    numbers = _listed(notes.image_shape)
    return (
        all(each is None or isinstance(each, str) for each in texts)
        and isinstance(notes.columns, list | None)
        and isinstance(notes.comma_columns, list | None)
        and isinstance(notes.resized, bool)
        and not (notes.resized and not numbers)
        and isinstance(notes.image_shape, list | None)
        and all(isinstance(each, int) and 0 < each < 2**31 for each in numbers)
        and len(numbers) in (0, 2, 3)
        and None not in (*_listed(notes.columns), *_listed(notes.comma_columns))
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def write_notes(learner: Learner, reader: Reader) -> None:
    """Store the columns of a file in the notes, so that later commands need not name them."""
    learner.notes[NOTES] = notes_with(learner, reader)


def notes_with(
    learner: Learner, reader: Reader, resize: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return a model's notes on files together with the columns of a file.

    The first file sets the columns of the features. Those of records are in the encoder instead.
    """
    before = read_notes(learner)
    columns, shape = before.columns, before.image_shape
    if not len(learner):
        has_names = reader.columns is not None and reader.kind != "records"
        columns = list(reader.columns or ()) if has_names else None
        shape = None if reader.image_shape is None else list(reader.image_shape)
    resized = before.resized or (shape is not None and resize is not None)
    label, id = reader.label or before.label, reader.id or before.id
    commas = sorted({*(before.comma_columns or ()), *reader.comma_columns}) or None
    return FileNotes(label, id, columns, shape, resized, commas)._asdict()


def open_reader(learner: Learner, options: FileOptions) -> Reader:
    """Open a file with the columns in the model's notes, unless the options name others.

    The columns of label and id may be missing if they come from the notes.
    """
    notes, encoder = read_notes(learner), stored_encoder(learner)
    required = {options.label, options.id}
    rows = _rows_for(options.features or learner.features)
    return read(
        options.data,
        label=options.label or notes.label,
        id=options.id or notes.id,
        ignore=options.ignore or (),
        columns=notes.columns if encoder is None else encoder.first_columns,
        optional=[name for name in (notes.label, notes.id) if name and name not in required],
        from_line=options.from_line,
        image_shape=notes.image_shape,
        encoding=options.encoding,
        reads_labels=options.reads_labels,
        resize=_size_of(notes) or options.resize,
        comma_columns=notes.comma_columns or (),
        on_bad_line=options.on_bad_line,
        required=[each for each in (notes.label, notes.id) if each and options.needs_label],
        rows="records" if encoder is not None or options.is_new_table else rows,
    )


def _size_of(notes: FileNotes) -> tuple[int, int] | None:
    if not notes.resized or notes.image_shape is None:
        return None
    height, width = notes.image_shape[:2]
    return height, width


def _rows_for(features: FeatureMap) -> RowsAs:
    """Return what rows a feature map takes; a function takes text if there is one column."""
    if isinstance(features, HashedText):
        return "text"
    is_numbers = takes_rows(features) or isinstance(features, Projection)
    return "numbers" if is_numbers else "text if one"


def require_label(learner: Learner, reader: Reader) -> Reader:
    """Return the reader; if its file has no label column, close it and raise an error."""
    if reader.label is not None or reader.columns is None:
        return reader
    noted = read_notes(learner).label
    reader.close()
    if noted is not None:
        raise InvalidInputError(
            f"{reader.source} has no column {noted!r}, from which this model takes its labels; "
            "name another one with --label."
        )
    names = [*filter(None, [reader.id]), *reader.unused, *reader.columns]
    shown = join_names(names)
    # The label is often the last column.
    last = f", the last of which is {names[-1]!r}" if len(names) > SHOWN else ""
    raise InvalidInputError(
        f"Name the label column of {reader.source} with --label; its columns are: {shown}{last}."
    )


class LabelConverter:
    """Convert the labels of a file to those of a model.

    They get the type of the model's labels, or of the first one: 7 for "7" if they are int, "7" for
    7. "1" and "1.0" are one label; the spelling that comes first stays.
    """

    def __init__(self, learner: Learner) -> None:
        labels: list[Label] = learner.classes.tolist()
        self._type = type(labels[0]) if labels else None
        self._known = {_whole(label): label for label in labels}
        self._labels = set(labels)

    def convert(self, label: Label) -> Label:
        """Return a label as the model knows it; a new one is known from then on."""
        label = self._typed(label)
        if label in self._labels:
            return label
        self._type = self._type or type(label)
        return self._known.setdefault(_whole(label), label)

    def _typed(self, label: Label) -> Label:
        if self._type is None or isinstance(label, self._type):
            return label
        if isinstance(label, int):
            return str(label)
        whole = _whole(label)
        return int(whole) if _is_integer(whole) else label


def _whole(label: Label) -> str:
    """Return a label as text, a whole number without decimals: "1" for "1.0"."""
    return re.sub(r"^([+-]?\d+)\.0+$", r"\1", str(label), flags=re.ASCII)


def find_id(learner: Learner, text: str) -> Id | None:
    """Return the stored id that a text stands for, or None.

    "7" is the id "7" if that is stored, otherwise the number 7: a model numbers examples that come
    without ids, and Python code may give numbers.
    """
    if text in learner:
        return text
    return int(text) if _is_integer(text) and int(text) in learner else None


def require_id(learner: Learner, text: str) -> Id:
    """Return the stored id that a text stands for; raise if there is none."""
    stored = find_id(learner, text)
    if stored is None:
        raise InvalidInputError(f"There is no example {text!r} in this model.")
    return stored


class ConvertedRow(NamedTuple):
    """The id and label of a row in a model's types, and whether the id is stored."""

    id: Id | None
    label: Label
    is_stored: bool


class RowConverter:
    """Convert the ids and labels of a file's rows to the types that a model uses."""

    def __init__(self, learner: Learner) -> None:
        self._learner, self._labels = learner, LabelConverter(learner)

    def convert(self, id: str | None, label: Label) -> ConvertedRow:
        """Return the id and the label of a row; the first label of a new model sets the type."""
        label = self._labels.convert(label)
        stored = None if id is None else find_id(self._learner, id)
        return ConvertedRow(id if stored is None else stored, label, stored is not None)


def _is_integer(text: str) -> bool:
    try:
        return text.removeprefix("-").isdecimal() and str(int(text)) == text
    except ValueError:  # more digits than Python converts
        return False
