"""What a model remembers of the files that it was taught from."""

from typing import NamedTuple

from minout._typing import Id
from minout.errors import InvalidInputError
from minout.learner import Learner
from minout.streams.files import Label, Reader, listed, read

NOTES = "files"
"""The key in a learner's notes."""


class Asked(NamedTuple):
    """Is what somebody says on the command line about a file."""

    data: str
    label: str | None = None
    id: str | None = None
    ignore: list[str] | None = None
    from_line: int = 1


class Remembered(NamedTuple):
    """Is the column of the label and that of the ids, the features, and the images' shape."""

    label: str | None = None
    id: str | None = None
    columns: list[str] | None = None
    image_shape: list[int] | None = None


def remembered(learner: Learner) -> Remembered:
    """Reads what the notes of a model say about files; of a classifier's, its columns."""
    noted, classifier = learner.notes.get(NOTES), learner.notes.get("classifier", {})
    if noted is None:
        noted = Remembered(columns=classifier.get("names"))._asdict() if classifier else {}
    if not isinstance(noted, dict) or not set(noted) <= set(Remembered._fields):
        raise InvalidInputError(
            f"The model's note {NOTES!r} is not one that `minout learn` wrote; "
            "take it out of `Learner.notes` and save the model again."
        )
    return Remembered(**noted)


def remember(learner: Learner, reader: Reader) -> None:
    """Notes what the next command will not need to be told; the first file settles the columns."""
    before = remembered(learner)
    columns, shape = before.columns, before.image_shape
    if not len(learner):
        columns = None if reader.columns is None else list(reader.columns)
        shape = None if reader.image_shape is None else list(reader.image_shape)
    after = Remembered(reader.label or before.label, reader.id or before.id, columns, shape)
    learner.notes[NOTES] = after._asdict()


def reader_for(learner: Learner, asked: Asked) -> Reader:
    """Opens a file as the model knows it: the same columns, label and ids, unless told otherwise.

    Label and id may be missing where they are not asked for by name.
    """
    known = remembered(learner)
    by_name = {asked.label, asked.id}
    return read(
        asked.data,
        label=asked.label or known.label,
        id=asked.id or known.id,
        ignore=asked.ignore or (),
        columns=known.columns,
        optional=[name for name in (known.label, known.id) if name and name not in by_name],
        from_line=asked.from_line,
        image_shape=known.image_shape,
    )


def needs_label(learner: Learner, reader: Reader) -> Reader:
    """Refuses a file in which no column is known to be the label."""
    if reader.label is not None or reader.columns is None:
        return reader
    known = remembered(learner).label
    reader.close()
    if known is not None:
        raise InvalidInputError(
            f"{reader.source} has no column {known!r}, from which this model takes its labels; "
            "name another one with --label."
        )
    names = [*reader.columns, *reader.unused, *filter(None, [reader.id])]
    raise InvalidInputError(
        f"Say with --label which column of {reader.source} is the label: {listed(names)}."
    )


def kind_of_labels(learner: Learner) -> type[int] | type[str] | None:
    """Says whether a model's labels are whole numbers or strings; None while there are none."""
    known = learner.classes.tolist()
    return type(known[0]) if known else None


def label_as(kind: type[int] | type[str] | None, label: Label) -> Label:
    """Gives a label as a model spells its labels: 7 for "7" if they are numbers, "7" for 7."""
    if kind is None or isinstance(label, kind):
        return label
    if isinstance(label, int):
        return str(label)
    return int(label) if _is_written_whole(label) else label


def stored_id(learner: Learner, word: str) -> Id | None:
    """Gives the stored id that a word means: "7" may be the number 7, if no string is stored so.

    Numbers are the ids that a model gave itself, or was given in Python.
    """
    if word in learner:
        return word
    return int(word) if _is_written_whole(word) and int(word) in learner else None


def id_for(learner: Learner, word: str) -> Id:
    """Gives the stored id that a word on the command line means, or says that there is none."""
    stored = stored_id(learner, word)
    if stored is None:
        raise InvalidInputError(f"There is no example {word!r} in this model.")
    return stored


class Known(NamedTuple):
    """The id and the label of a file's row as a model spells them, and whether it has that id."""

    id: Id | None
    label: Label
    is_known: bool


class Spelling:
    """Spell the ids and labels of a file's rows as a model does."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._kind = kind_of_labels(learner)

    def of(self, id: str | None, label: Label) -> Known:
        """Return the id and the label of a row; the first label of a new model sets the kind."""
        label = label_as(self._kind, label)
        self._kind = type(label)
        stored = None if id is None else stored_id(self._learner, id)
        return Known(id if stored is None else stored, label, stored is not None)


def _is_written_whole(word: str) -> bool:
    try:
        return word.removeprefix("-").isdecimal() and str(int(word)) == word
    except ValueError:  # more digits than Python reads
        return False
