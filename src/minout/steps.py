"""The changes of a model: functions of its state and its schema that return a change of both."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from minout import engine
from minout._typing import Floats, Id, Label
from minout.engine import NOTHING_MOVED, Certificate, Consolidation, Delta, State, StepReport
from minout.errors import InvalidInputError, NotConverged
from minout.features import Identity
from minout.inputs import (
    NewRows,
    Schema,
    TableEncoder,
    checked_id,
    checked_label,
    checked_time,
    checked_weight,
    each_row,
    listed_ids,
    listed_labels,
    listed_times,
    listed_weights,
    new_row,
)

T = TypeVar("T")


class Change(NamedTuple, Generic[T]):
    """What a step changes, and its result for the user.

    Attributes
    ----------
    result : object
        What the user gets.
    delta : Delta or None
        The change of the state; None if it stays.
    state : State or None
        The state that the delta is for, if it is a new one; without a delta, the new state.
    schema : Schema or None
        The new schema; None if it stays.
    action : str
        The name of the step in the log.
    log_ids : bool
        Whether the log keeps the ids of forgotten examples.
    """

    result: T
    delta: Delta | None = None
    state: State | None = None
    schema: Schema | None = None
    action: str = ""
    log_ids: bool = False


class Example(NamedTuple):
    """A checked example; without an id it gets the next free number."""

    row: Floats
    label: Label
    id: Id | None
    weight: float
    time: float


class Batch(NamedTuple):
    """Examples to teach as they were passed: see `Learner.teach_many`."""

    X: Any
    y: Any
    ids: Any = None
    weights: Any = None
    at: Any = None


def clock() -> float:
    """Return the present time, in seconds since 1970."""
    return time.time()


def checked_examples(batch: Batch, rows: Floats, state: State, schema: Schema) -> list[Example]:
    """Return checked examples, one label, id, weight and time per row."""
    labels: list[Label] = []
    known = state.labels or labels  # the first label sets the type
    for row, y in enumerate(listed_labels(batch.y)):
        try:
            labels.append(checked_label(y, known[:1]))
        except InvalidInputError as error:
            error.row = row
            raise
    named: list[Id | None] = [None] * len(rows)
    if batch.ids is not None:
        named = [*each_row(checked_id, listed_ids(batch.ids))]
    if not len(rows) == len(labels) == len(named):
        given = f"{len(rows)} rows, {len(labels)} labels and {len(named)} ids"
        if batch.ids is None:
            given = f"{len(rows)} rows and {len(labels)} labels"
        raise InvalidInputError(
            f"There are {given}; pass one label per row, and one id per row or none."
        )
    weights, times = _weights_and_times(batch, len(rows))
    examples = [Example(*each) for each in zip(rows, labels, named, weights, times, strict=True)]
    _check_ids(examples, state, schema)
    return examples


def _weights_and_times(batch: Batch, count: int) -> tuple[list[float], list[float]]:
    weights = [1.0] * count
    if batch.weights is not None:
        weights = each_row(checked_weight, listed_weights(batch.weights))
    times = each_row(checked_time, listed_times(batch.at, count, clock()))
    for name, given in (("weight", weights), ("time", times)):
        if len(given) != count:
            raise InvalidInputError(
                f"There are {count} rows and {len(given)} {name}s; pass one {name} per row."
            )
    return weights, times


def _check_ids(examples: list[Example], state: State, schema: Schema) -> None:
    seen: set[Id] = set()
    for row, example in enumerate(examples):
        if example.id is None:
            continue
        if example.id in seen:
            raise InvalidInputError(f"The id {example.id!r} is given to two rows.", row)
        seen.add(example.id)
        if example.id in state.place_of:
            try:
                _known(state, schema, example)
            except InvalidInputError as error:
                error.row = row
                raise


def prepared(state: State, new: NewRows) -> State:
    """Return the state to teach rows: a new one before the first row, or if they are wider."""
    (rows, widths, schema), settings = new, state.settings
    if not len(rows) or widths.row == state.widths.row:
        return state
    assert widths.row is not None
    if schema.encoder is not None:
        settings = replace(settings, missing="mean", blocks=schema.encoder.blocks)
    if state.widths.row is not None:
        wide = engine.widened(state, widths.row - state.widths.row)
        wide.settings = settings
        return wide
    require_blocks_fit(settings.blocks, widths.row)
    codec = state.examples.codec
    fresh = State(
        settings, widths.row, schema.features.dtype, codec and codec.for_width(widths.row)
    )
    fresh.notes = state.notes
    return fresh


def taught(state: State, schema: Schema, example: Example) -> tuple[Delta | None, StepReport]:
    """Return the change that learns an example (None if it is stored already) and a report."""
    row, label, id, weight, at = example
    if id is None:
        example_id: Id = _free_id(state)
        following: int | None = int(example_id) + 1
    else:
        example_id, following = id, None
        if example_id in state.place_of:
            return None, _known(state, schema, example)
    delta = separable(
        lambda: engine.teach(state, row, label, example_id, following, weight=weight, time=at)
    )
    return delta, StepReport(example_id, label, delta.certificate, delta.refresh, delta.was_right)


def corrected(
    state: State, schema: Schema, id: Id, label: Label, weight: float | None = None
) -> tuple[Delta | None, StepReport]:
    """Return the change to another label or weight (None if it has them) and a report.

    By default the weight changes as the class weight does.
    """
    place = state.place_of[id]
    old, example_id = state.label_at(place), state.ids[place]  # a Python int or str
    weighs = float(state.examples.weights[place])
    if weight is None:
        before, after = schema.class_weights.at(old), schema.class_weights.at(label)
        weight = weighs if before == after else weighs / before * after
    if old == label and weight == weighs:
        return None, StepReport(example_id, label, NOTHING_MOVED)
    delta = separable(lambda: engine.relabel(state, place, label, weight))
    gone = delta.certificate.forgotten
    earlier: dict[Id, tuple[Label, ...]] = dict.fromkeys(gone, ())
    if old != label and example_id not in gone:
        had = [each for each in state.corrected.get(example_id, ()) if each not in (old, label)]
        earlier[example_id] = (*had, old)
    delta = delta._replace(corrected=earlier)
    return delta, StepReport(example_id, label, delta.certificate, delta.refresh)


def corrected_if_stored(
    state: State, schema: Schema, id: Id, label: Label
) -> tuple[Delta | None, StepReport]:
    """Return the change to another label; None if the example fell out of the window."""
    if id not in state.place_of:
        return None, StepReport(id, label, NOTHING_MOVED)
    return corrected(state, schema, id, label)


def checked_corrections(state: State, ids: Any, labels: Sequence[Label]) -> list[tuple[Id, Label]]:
    """Return stored ids, each once, with their new labels."""
    named = [state.ids[place_of(state, each)] for each in listed_ids(ids)]
    if len(named) != len(labels):
        raise InvalidInputError(
            f"There are {len(named)} ids and {len(labels)} labels; pass one label per id."
        )
    twice = [each for each, count in Counter(named).items() if count > 1]
    if twice:
        raise InvalidInputError(f"The id {twice[0]!r} is named twice; name each example once.")
    return list(zip(named, labels, strict=True))


def update(state: State, schema: Schema, id: Id, x: Any) -> Change[StepReport]:
    """Give a stored example other features."""
    place, new = place_of(state, id), new_row(x, schema, state)
    example_id, label = state.ids[place], state.label_at(place)
    wide = prepared(state, new._replace(rows=new.rows[None]))
    row = new.rows
    if isinstance(x, Mapping) and new.schema.encoder is not None:
        row = new.schema.encoder.keeping(row, wide.row_at(place), x)
    if wide is state and state.holds(place, row):
        return Change(StepReport(example_id, label, NOTHING_MOVED))
    delta = separable(lambda: engine.update(wide, place, row))
    report = StepReport(example_id, label, delta.certificate, delta.refresh, delta.was_right)
    return Change(report, delta, wide, new.schema, "update")


def forget(state: State, schema: Schema, ids: Any, *, log_ids: bool = False) -> Change[Certificate]:
    """Remove stored examples."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        ids = [ids]
    places = sorted(place_of(state, each) for each in listed_ids(ids, "one id or a list of ids"))
    if len(set(places)) < len(places):
        raise InvalidInputError("An id is named twice; name each example to forget once.")
    return _forget(state, schema, places)._replace(log_ids=log_ids)


def forget_class(state: State, schema: Schema, label: Label) -> Change[Certificate]:
    """Remove all examples of a label."""
    places = state.regions.places_of(label)
    if not len(places):
        raise InvalidInputError(f"No example has the label {label!r}.")
    return _forget(state, schema, places.tolist(), label)


def _forget(
    state: State, schema: Schema, listed: list[int], label: Label | None = None
) -> Change[Certificate]:
    # Earlier labels of forgotten examples, and a forgotten label itself, are dropped as well.
    places = np.array(listed, dtype=np.int64)
    delta = separable(lambda: engine.forget(state, places))
    gone = set(state.names(places))
    earlier = {
        example_id: () if example_id in gone else tuple(each for each in had if each != label)
        for example_id, had in state.corrected.items()
        if example_id in gone or label in had
    }
    left = np.setdiff1d(state.examples.places(), places)
    kept = {state.regions.labels[c] for c in np.unique(state.examples.regions[left]).tolist()}
    for example_id, had in state.corrected.items():
        kept.update(() if example_id in gone else had)
    lost = {*state.labels, *(each for had in state.corrected.values() for each in had)} - kept
    schema = schema.without_labels(lost if label is None else {*lost, label})
    return Change(delta.certificate, delta._replace(corrected=earlier), schema=schema)


def set_keep(state: State, keep: Any) -> Change[Certificate]:
    """Set another window."""
    settings = replace(state.settings, keep=keep)
    delta = separable(lambda: engine.rewindow(state, settings))
    return Change(delta.certificate, delta)


def set_blocks(state: State, blocks: Any) -> Change[None]:
    """Set other blocks of columns."""
    settings = replace(state.settings, blocks=blocks)
    if state.examples.rows.shape[1]:
        require_blocks_fit(settings.blocks, state.examples.rows.shape[1])
    if settings == state.settings:
        return Change(None)
    return Change(None, Delta(settings=settings), action="blocks")


def require_blocks_fit(blocks: Sequence[tuple[int, int]], width: int) -> None:
    """Refuse blocks that rows of a width are too short for."""
    if blocks and blocks[-1][1] > width:
        start, stop = blocks[-1]
        raise InvalidInputError(
            f"The block ({start}, {stop}) ends at column {stop}, but rows have {width} columns."
        )


def set_column_kinds(state: State, schema: Schema, kinds: Mapping[str, str]) -> Change[None]:
    """Set the kinds of columns that have no features yet."""
    if state.widths.row is not None and not schema.is_table:
        raise InvalidInputError("This model was not taught a table; it has no kinds of columns.")
    encoder = (schema.encoder or TableEncoder()).with_kinds(kinds)
    return Change(None, schema=replace(schema, encoder=encoder))


def settle(state: State) -> Change[Certificate]:
    """Solve every separator in which examples are pending."""
    delta = separable(lambda: engine.settle_pending(state))
    return Change(delta.certificate, delta if delta.separators else None)


def consolidate(state: State, schema: Schema) -> Change[Consolidation]:
    """Compute the model again from the set of stored examples, with its columns in order."""
    encoder = schema.encoder
    if encoder is not None:
        places = state.examples.in_order()
        encoder, rows = encoder.canonical(state.examples.given[places])
        if encoder is not schema.encoder:
            settings = replace(state.settings, blocks=encoder.blocks)
            state = engine.with_rows(state, settings, places, rows)
            schema = replace(schema, encoder=encoder, width=encoder.width)
    new, done = separable(lambda: engine.consolidate(state))
    return Change(done, state=new, schema=schema, action="consolidate")


def widen(state: State, schema: Schema, n: Any) -> Change[None]:
    """Give all stored rows n more columns."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInputError(f"n is a whole number from 1, not {n!r}.")
    if state.widths.row is None:
        raise InvalidInputError(
            "Nothing has been taught yet; the first row sets the number of columns."
        )
    if not isinstance(schema.features, Identity) or state.examples.codec is not None:
        raise InvalidInputError(
            "Only rows that are stored as they were given can get more columns; this learner "
            "has a feature map or a codec."
        )
    if schema.columns is not None:
        raise InvalidInputError(
            "The columns of this learner have names; teach rows that have the new columns."
        )
    return Change(None, state=engine.widened(state, int(n)), action="widen")


def place_of(state: State, id: Any) -> int:
    """Return the place of a stored example."""
    if is_stored(state, id):
        return state.place_of[id]
    checked_id(id)  # raises the error for what is no id
    raise InvalidInputError(f"There is no example {id!r}.")


def is_stored(state: State, id: Any) -> bool:
    """Return whether an id is stored; True and 1.0 are not 1, which is equal in Python."""
    if not isinstance(id, str | int | np.integer) or isinstance(id, bool):
        return False
    return id in state.place_of


def begun(state: State) -> State:
    """Return a state that something has been taught to."""
    if state.widths.row is None:
        raise InvalidInputError("This learner has not been taught anything yet.")
    return state


def not_empty(state: State) -> State:
    """Return a state that has examples."""
    if not begun(state).labels:
        raise InvalidInputError("Every example has been forgotten; there is nothing to predict.")
    return state


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


def _known(state: State, schema: Schema, example: Example) -> StepReport:
    # An id that is taught again: an error, unless row, weight and label are its present ones, or
    # the label is an earlier one. A table that has got more columns does not contradict its rows.
    assert example.id is not None
    place = state.place_of[example.id]
    now, what = state.label_at(place), ""
    remedy = "`update` (`minout learn --replace`) gives it another one"
    encoder = schema.encoder
    is_same = state.holds(place, example.row) or (
        encoder is not None and state.holds(place, encoder.without_late(example.row))
    )
    if not is_same:
        what = "row"
    elif example.label not in (now, *state.corrected.get(example.id, ())):
        what, remedy = "label", "use `correct` to change it"
    elif example.label == now and state.examples.weights[place] != example.weight:
        what, remedy = "weight", "use `correct` to change it"
    if what:
        raise InvalidInputError(f"Example {example.id!r} is stored with another {what}; {remedy}.")
    return StepReport(example.id, now, NOTHING_MOVED)
