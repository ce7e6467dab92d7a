"""Teach one checked example: a change of the state, no change, or an error."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from minout import engine
from minout._typing import Floats, Id, Label
from minout.engine import NOTHING_MOVED, Delta, State, StepReport
from minout.errors import InvalidInputError, NotConverged
from minout.inputs import InputRows, checked_id, checked_label, listed_ids, listed_labels

T = TypeVar("T")


def step(state: State, row: Floats, label: Label, id: Id | None) -> tuple[Delta | None, StepReport]:
    """Return the change that learns an example (None if it is stored already) and a report."""
    if id is None:
        example_id: Id = _free_id(state)
        following: int | None = int(example_id) + 1
    else:
        example_id, following = checked_id(id), None
        if example_id in state.place_of:
            return None, _known(state, example_id, row, label)
    delta = separable(lambda: engine.teach(state, row, label, example_id, following))
    return delta, StepReport(example_id, label, delta.certificate, delta.refresh)


def checked_examples(
    inputs: InputRows, state: State, X: Any, y: Sequence[Label], ids: Sequence[Id] | None
) -> tuple[Floats, list[Label], list[Id | None]]:
    """Return checked rows, labels and ids (each may be None), one label and id per row."""
    rows = inputs.rows(X, state.widths)
    labels: list[Label] = []
    for each in listed_labels(y):
        labels.append(checked_label(each, state.labels or labels[:1]))
    named: list[Id | None] = [None] * len(rows)
    if ids is not None:
        named = [checked_id(each) for each in listed_ids(ids)]
    if not len(rows) == len(labels) == len(named):
        given = f"{len(rows)} rows, {len(labels)} labels and {len(named)} ids"
        if ids is None:
            given = f"{len(rows)} rows and {len(labels)} labels"
        raise InvalidInputError(
            f"There are {given}; pass one label per row, and one id per row or none."
        )
    seen: set[Id] = set()
    for row, label, example_id in zip(rows, labels, named, strict=True):
        if example_id is None:
            continue
        if example_id in seen:
            raise InvalidInputError(f"The id {example_id!r} is given to two rows.")
        seen.add(example_id)
        if example_id in state.place_of:
            _known(state, example_id, row, label)
    return rows, labels, named


def separable(step: Callable[[], T]) -> T:
    """Run a step; raise InvalidInputError if a separator cannot be solved."""
    try:
        return step()
    except NotConverged as error:
        raise InvalidInputError(
            "The numbers differ too much in size to be separated in double precision; "
            "scale the features first."
        ) from error


def _free_id(state: State) -> int:
    free = state.next_id
    while free in state.place_of:
        free += 1
    return free


def _known(state: State, example_id: Id, row: Floats, label: Label) -> StepReport:
    # An id that is taught again: an error, unless row and label are its present or earlier ones.
    place = state.place_of[example_id]
    same_row = np.array_equal(state.row_at(place), row)
    now = state.label_at(place)
    if not same_row or label not in (now, *state.corrected.get(example_id, ())):
        what, remedy = "row", "`forget` it first to teach it again"
        if same_row:
            what, remedy = "label", "use `correct` to change it"
        raise InvalidInputError(f"Example {example_id!r} is stored with another {what}; {remedy}.")
    return StepReport(example_id, now, NOTHING_MOVED)
