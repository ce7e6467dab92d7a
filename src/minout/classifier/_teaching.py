"""One call's rows on their way into a learner: all checked before the first is taught."""

from typing import Any, NamedTuple

from minout._typing import Id, Label
from minout.classifier._columns import Columns
from minout.classifier._ids import checked_ids
from minout.classifier._labels import kept
from minout.classifier._model import Model, Spelling, Taught, takes_numbers
from minout.classifier._quick import is_plain, plain_id, plain_label
from minout.engine import StepReport
from minout.learner import Learner


class Lesson(NamedTuple):
    """Is what one call brings, checked: rows, as many labels and ids, and the spelling they need.

    Without ids the learner numbers them.
    """

    rows: Any
    labels: list[Label]
    ids: list[Id] | None
    spelling: Spelling


def first_lesson(learner: Learner, X: Any, y: Any, classes: Any, ids: Any) -> tuple[Model, Lesson]:
    """Makes a model of a new learner, with the columns that X has, and its first lesson."""
    columns = Columns()
    if takes_numbers(learner.features):
        rows, written = columns.table_and_labels(X, y, first=True)
    else:
        rows, written = columns.batch_and_labels(X, y)
    labels, dtype = kept(written, None)
    model = Model(learner, columns, Spelling(dtype))
    return model, _lesson(model, rows, labels, model.spelling, classes, ids)


def next_lesson(model: Model, X: Any, y: Any, classes: Any, ids: Any) -> Lesson:
    """Checks what a later call brings."""
    rows, labels, spelling = model.rows_and_labels(X, y)
    return _lesson(model, rows, labels, spelling, classes, ids)


def teach_plain(model: Model, X: Any, y: Any, ids: Any) -> bool:
    """Teaches one plain row, if this is one; otherwise says no, and nothing has happened."""
    label, id = plain_label(y, model.spelling.dtype), plain_id(ids)
    if label is None or (id is None and ids is not None):
        return False
    if not is_plain(X, model.plain_width) or len(X) != 1:
        return False
    model.last = _taught([model.learner.teach(X[0], label, id)])
    return True


def teach(learner: Learner, lesson: Lesson) -> Taught:
    """Teaches a lesson, example by example."""
    return _taught(learner.teach_many(lesson.rows, lesson.labels, lesson.ids))


def _taught(reports: list[StepReport]) -> Taught:
    return Taught(
        [each.example_id for each in reports],
        [each.certificate for each in reports if each.certificate is not None],
    )


def _lesson(
    model: Model, rows: Any, labels: list[Label], spelling: Spelling, classes: Any, ids: Any
) -> Lesson:
    if classes is not None:
        spelling = model.announcing(classes, spelling)
    return Lesson(rows, labels, checked_ids(ids, len(labels)), spelling)
