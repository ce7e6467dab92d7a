"""A learner with what only the classifier knows of it: columns, and how labels are spelled."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Id, Label
from minout.classifier._columns import Columns, batch
from minout.classifier._labels import INT64, STRINGS, DType, as_written, given_back, kept
from minout.classifier._quick import is_plain
from minout.engine import Certificate
from minout.errors import InvalidInputError
from minout.features import FeatureMap, Identity, RandomFourier, Scattering
from minout.learner import Learner

NOTES = "classifier"
"""The key in a learner's notes."""
FILES = "files"
"""The key under which the command line notes the columns that it taught."""


def _array(given: Any, expected: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InvalidInputError(f"{expected}, but its rows differ in length.") from error


def takes_numbers(features: FeatureMap) -> bool:
    """Says whether a map is one of ours, which want rows of numbers."""
    return isinstance(features, Identity | RandomFourier | Scattering)


class Spelling(NamedTuple):
    """Is the dtype in which users get labels back, and the labels that they have announced."""

    dtype: DType
    announced: tuple[Label, ...] = ()


class Taught(NamedTuple):
    """Is what a call did: the ids that it taught, and what held after each."""

    ids: list[Id]
    certificates: list[Certificate]


class Model:
    """Holds one learner and the little that goes with it.

    Who predicts asks the learner first and reads `spelling` afterwards; who teaches widens
    `spelling` first. So it always suits the labels that the learner gave, also between threads.
    """

    def __init__(self, learner: Learner, columns: Columns, spelling: Spelling) -> None:
        self.learner = learner
        self.columns = columns
        self.takes_numbers = takes_numbers(learner.features)
        self.plain_width: int | None = None
        """How wide a plain array must be; None if it needs a closer look."""
        if self.takes_numbers and not hasattr(columns, "feature_names_in_"):
            self.plain_width = getattr(columns, "n_features_in_", None)
        self.last = Taught([], [])
        self.spell(spelling)

    def spell(self, spelling: Spelling) -> None:
        """Changes the spelling, and notes it where it is saved with the learner."""
        self.spelling = spelling
        names = getattr(self.columns, "feature_names_in_", None)
        self.learner.notes[NOTES] = {
            "width": getattr(self.columns, "n_features_in_", None),
            "names": None if names is None else names.tolist(),
            "dtype": spelling.dtype.str,
            "announced": list(spelling.announced),
        }

    def certify(self, certificate: Certificate | None) -> None:
        """Keeps what holds after a change that taught nothing."""
        self.last = Taught(self.last.ids, [] if certificate is None else [certificate])

    def announcing(self, classes: Any, spelling: Spelling) -> Spelling:
        """Adds announced labels to a spelling."""
        column = _array(as_written(classes), "`classes` is a list of labels")
        if column.ndim != 1:
            raise InvalidInputError(
                f"`classes` is a list of labels, but has the shape {column.shape}."
            )
        if not len(column):
            raise InvalidInputError("`classes` is empty; leave it out or name a label.")
        labels, dtype = kept(column, spelling.dtype)
        return Spelling(dtype, tuple(sorted({*spelling.announced, *labels})))

    @classmethod
    def around(cls, learner: Learner) -> "Model":
        """Takes up a learner that was saved, by a classifier, the command line or by itself."""
        noted = learner.notes.get(NOTES, {})
        names = (noted or {"names": learner.notes.get(FILES, {}).get("columns")}).get("names")
        columns = Columns()
        width = noted.get("width") if names is None else len(names)
        if not noted and isinstance(learner.features, Identity) and len(learner):
            width = len(learner.example(learner.ids[0])[0])
        if width is not None:
            columns.n_features_in_ = width
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        spelled = STRINGS if learner.classes.dtype.kind == "U" else INT64
        dtype = np.dtype(noted["dtype"]) if noted else spelled
        return cls(learner, columns, Spelling(dtype, tuple(noted.get("announced", ()))))

    def rows(self, X: Any) -> Any:
        """Gives rows to ask the learner about."""
        if is_plain(X, self.plain_width):
            return X
        return self.columns.table(X) if self.takes_numbers else batch(X)

    def rows_and_labels(self, X: Any, y: Any) -> tuple[Any, list[Label], Spelling]:
        """Gives rows, as many labels, and how labels are spelled from then on."""
        look = (
            self.columns.table_and_labels if self.takes_numbers else self.columns.batch_and_labels
        )
        rows, labels = look(X, y)
        written, dtype = kept(labels, self.spelling.dtype)
        return rows, written, self.spelling._replace(dtype=dtype)

    def row(self, x: Any) -> Any:
        """Gives one row: of one (columns,), or of a table with one row."""
        if not self.takes_numbers:
            return x
        if isinstance(x, list | tuple):
            x = _array(x, "One row of numbers was expected")
        if len(getattr(x, "shape", (1,))) == 1:
            return np.asarray(x)
        rows = self.rows(x)
        if len(rows) != 1:
            raise InvalidInputError(f"One row was expected, but x has {len(rows)}.")
        return rows[0]

    def label(self, y: Any) -> tuple[Label, Spelling]:
        """Gives one label, and how labels are spelled from then on."""
        array = np.empty(1, dtype=object) if isinstance(y, str) else np.asarray([y])
        if isinstance(y, str):
            array[0] = y
        if array.ndim != 1:
            raise InvalidInputError(f"One label was expected, not {y!r}.")
        (label,), dtype = kept(array, self.spelling.dtype)
        return label, self.spelling._replace(dtype=dtype)

    def scored(self, rows: Any) -> tuple[NDArray[Any], Floats]:
        """Gives the learner's labels and their scores, as they are at one moment."""
        with self.learner.reading():
            return _some(self.learner.classes), self.learner.scores(rows)

    def shared(self, rows: Any) -> tuple[NDArray[Any], Floats]:
        """Gives the learner's labels and their probabilities, as they are at one moment."""
        with self.learner.reading():
            return _some(self.learner.classes), self.learner.probabilities(rows)

    def classes(self, seen: NDArray[Any]) -> NDArray[Any]:
        """Lists the labels that the learner gave and those announced, sorted, as the user does."""
        spelling = self.spelling
        return given_back(sorted({*seen.tolist(), *spelling.announced}), spelling.dtype)

    def spread(self, seen: NDArray[Any], values: NDArray[Any], empty: float) -> NDArray[Any]:
        """Gives values (n, seen) a column for each class; those without examples are `empty`."""
        everybody = sorted({*seen.tolist(), *self.spelling.announced})
        if len(everybody) == len(seen):
            return values
        wide = np.full((len(values), len(everybody)), empty)
        wide[:, [everybody.index(label) for label in seen.tolist()]] = values
        return wide


def _some(seen: NDArray[Any]) -> NDArray[Any]:
    if not len(seen):
        raise InvalidInputError("Every example has been forgotten; there is nothing to predict.")
    return seen
