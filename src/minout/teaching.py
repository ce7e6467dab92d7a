"""Teach or correct one checked example: a change of the state, no change, or an error."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from minout import engine
from minout._typing import Floats, Id, Label
from minout.engine import NOTHING_MOVED, Delta, State, StepReport
from minout.errors import InvalidInputError, NotConverged
from minout.inputs import (
    InputRows,
    checked_id,
    checked_label,
    checked_time,
    checked_weight,
    listed_ids,
    listed_labels,
    listed_times,
    listed_weights,
)

T = TypeVar("T")


class Example(NamedTuple):
    """A checked example; without an id it gets the next free number."""

    row: Floats
    label: Label
    id: Id | None
    weight: float
    time: float


def clock() -> float:
    """Return the present time, in seconds since 1970."""
    return time.time()


def step(state: State, example: Example) -> tuple[Delta | None, StepReport]:
    """Return the change that learns an example (None if it is stored already) and a report."""
    row, label, id, weight, at = example
    if id is None:
        example_id: Id = _free_id(state)
        following: int | None = int(example_id) + 1
    else:
        example_id, following = id, None
        if example_id in state.place_of:
            return None, _known(state, example)
    delta = separable(
        lambda: engine.teach(state, row, label, example_id, following, weight=weight, time=at)
    )
    return delta, StepReport(example_id, label, delta.certificate, delta.refresh, delta.was_right)


def corrected(
    state: State, place: int, label: Label, weight: float | None = None
) -> tuple[Delta | None, StepReport]:
    """Return the change to another label or weight (None if it has them) and a report."""
    old, example_id = state.label_at(place), state.ids[place]  # a Python int or str
    weighs = float(state.examples.weights[place])
    new = weighs if weight is None else weight
    if old == label and new == weighs:
        return None, StepReport(example_id, label, NOTHING_MOVED)
    delta = separable(lambda: engine.relabel(state, place, label, new))
    gone = delta.certificate.forgotten
    earlier: dict[Id, tuple[Label, ...]] = dict.fromkeys(gone, ())
    if old != label and example_id not in gone:
        had = [each for each in state.corrected.get(example_id, ()) if each not in (old, label)]
        earlier[example_id] = (*had, old)
    delta = delta._replace(corrected=earlier)
    return delta, StepReport(example_id, label, delta.certificate, delta.refresh)


def checked_examples(
    inputs: InputRows,
    state: State,
    X: Any,
    y: Sequence[Label],
    ids: Sequence[Id] | None,
    weights: Sequence[float] | None,
    at: Any,
) -> list[Example]:
    """Return checked examples, one label, id, weight and time per row."""
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
    weighed = [1.0] * len(rows)
    if weights is not None:
        listed = enumerate(listed_weights(weights))
        weighed = [checked_weight(each, f"The weight of row {row}") for row, each in listed]
    times = [checked_time(each) for each in listed_times(at, len(rows), clock())]
    for name, given_values in (("weight", weighed), ("time", times)):
        if len(given_values) != len(rows):
            raise InvalidInputError(
                f"There are {len(rows)} rows and {len(given_values)} {name}s; "
                f"pass one {name} per row."
            )
    examples = [Example(*each) for each in zip(rows, labels, named, weighed, times, strict=True)]
    seen: set[Id] = set()
    for example in examples:
        if example.id is None:
            continue
        if example.id in seen:
            raise InvalidInputError(f"The id {example.id!r} is given to two rows.")
        seen.add(example.id)
        if example.id in state.place_of:
            _known(state, example)
    return examples


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


def _known(state: State, example: Example) -> StepReport:
    # An id that is taught again: an error, unless row, weight and label are its present ones, or
    # the label is an earlier one.
    assert example.id is not None
    place = state.place_of[example.id]
    now, what = state.label_at(place), ""
    remedy = "`forget` it first to teach it again"
    if not state.holds(place, example.row):
        what = "row"
    elif example.label not in (now, *state.corrected.get(example.id, ())):
        what, remedy = "label", "use `correct` to change it"
    elif example.label == now and state.examples.weights[place] != example.weight:
        what, remedy = "weight", "use `Learner.correct` to change it"
    if what:
        raise InvalidInputError(f"Example {example.id!r} is stored with another {what}; {remedy}.")
    return StepReport(example.id, now, NOTHING_MOVED)
