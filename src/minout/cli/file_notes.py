"""The columns of a model's files, stored in its notes, and its labels and ids as text."""

from collections.abc import Callable
from typing import Any, NamedTuple

from minout._typing import Id
from minout.errors import InvalidInputError
from minout.features import FeatureMap, HashedText, Projection, takes_rows
from minout.learner import Learner
from minout.streams.files import BadRowError, Label, Reader, Text, join_names, read
from minout.streams.files.columns import SHOWN

NOTES = "files"
"""The key of this entry in a learner's notes."""


class FileOptions(NamedTuple):
    """A file named on the command line, and the options given for it."""

    data: str
    label: str | None = None
    id: str | None = None
    ignore: list[str] | None = None
    from_line: int = 1
    on_bad_line: Callable[[BadRowError], None] | None = None
    needs_label: bool = False
    """Whether each line of standard input needs the label, and the id, that the model has."""
    features: FeatureMap | None = None
    """The map of a new model, or the function of your own that made the rows of the model."""


class FileNotes(NamedTuple):
    """The columns of the label, of the ids and of the features, and the shape of images."""

    label: str | None = None
    id: str | None = None
    columns: list[str] | None = None
    image_shape: list[int] | None = None


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
    texts = (notes.label, notes.id, *_listed(notes.columns))
    numbers = _listed(notes.image_shape)
    return (
        all(each is None or isinstance(each, str) for each in texts)
        and isinstance(notes.columns, list | None)
        and isinstance(notes.image_shape, list | None)
        and all(isinstance(each, int) and 0 < each < 2**31 for each in numbers)
        and len(numbers) in (0, 2, 3)
        and None not in _listed(notes.columns)
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def write_notes(learner: Learner, reader: Reader) -> None:
    """Store the columns of a file in the notes, so that later commands need not name them."""
    learner.notes[NOTES] = notes_with(learner, reader)


def notes_with(learner: Learner, reader: Reader) -> dict[str, Any]:
    """Return a model's notes on files together with the columns of a file.

    The first file sets the columns of the features.
    """
    before = read_notes(learner)
    columns, shape = before.columns, before.image_shape
    if not len(learner):
        columns = None if reader.columns is None else list(reader.columns)
        shape = None if reader.image_shape is None else list(reader.image_shape)
    after = FileNotes(reader.label or before.label, reader.id or before.id, columns, shape)
    return after._asdict()


def open_reader(learner: Learner, options: FileOptions) -> Reader:
    """Open a file with the columns in the model's notes, unless the options name others.

    The columns of label and id may be missing if they come from the notes.
    """
    notes = read_notes(learner)
    required = {options.label, options.id}
    return read(
        options.data,
        label=options.label or notes.label,
        id=options.id or notes.id,
        ignore=options.ignore or (),
        columns=notes.columns,
        optional=[name for name in (notes.label, notes.id) if name and name not in required],
        from_line=options.from_line,
        image_shape=notes.image_shape,
        on_bad_line=options.on_bad_line if options.data == "-" else None,
        required=[each for each in (notes.label, notes.id) if each and options.needs_label],
        text=_text_for(options.features or learner.features),
    )


def _text_for(features: FeatureMap) -> Text:
    """Return whether a map takes text; a function of one column does."""
    if isinstance(features, HashedText):
        return "yes"
    return "no" if takes_rows(features) or isinstance(features, Projection) else "if one"


def require_label(learner: Learner, reader: Reader) -> Reader:
    """Return the reader if its file has a label column; otherwise close it and raise."""
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


def label_type(learner: Learner) -> type[int] | type[str] | None:
    """Return the type of a model's labels; None while there are none."""
    labels = learner.classes.tolist()
    return type(labels[0]) if labels else None


def convert_label(kind: type[int] | type[str] | None, label: Label) -> Label:
    """Return a label in the type of a model's labels: 7 for "7" if they are int, "7" for 7."""
    if kind is None or isinstance(label, kind):
        return label
    if isinstance(label, int):
        return str(label)
    return int(label) if _is_integer(label) else label


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
        self._learner = learner
        self._type = label_type(learner)

    def convert(self, id: str | None, label: Label) -> ConvertedRow:
        """Return the id and the label of a row; the first label of a new model sets the type."""
        label = convert_label(self._type, label)
        self._type = type(label)
        stored = None if id is None else find_id(self._learner, id)
        return ConvertedRow(id if stored is None else stored, label, stored is not None)


def _is_integer(text: str) -> bool:
    try:
        return text.removeprefix("-").isdecimal() and str(int(text)) == text
    except ValueError:  # more digits than Python converts
        return False
