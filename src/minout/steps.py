"""The changes of a model: functions of a state that return the next one."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from minout import core, kernels
from minout._typing import Floats, Id, Label
from minout.core import (
    HERE,
    NOTHING_MOVED,
    Certificate,
    Consolidation,
    Executor,
    State,
    StepReport,
)
from minout.errors import InvalidInputError, NotConverged, plural
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
_ID = str | int | np.integer


class Change(NamedTuple, Generic[T]):
    """The next state, and the result of the call for the user.

    Attributes
    ----------
    result : object
        What the user gets.
    state : State or None
        The next state; None if nothing changes.
    action : str
        The name of the step in the log; "" if it is not logged.
    id : int, str or None
        The example that it is about.
    certificate : Certificate
        What moved, for the log.
    log_ids : bool
        Whether the log keeps the ids of forgotten examples.
    """

    result: T
    state: State | None = None
    action: str = ""
    id: Id | None = None
    certificate: Certificate = NOTHING_MOVED
    log_ids: bool = False

    @property
    def is_worth_logging(self) -> bool:
        """Whether it is in the log: all but examples that were taught and moved nothing."""
        moved, _, _, misfits, *_ = self.certificate
        return bool(self.action and (self.action != "teach" or moved or misfits))


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


def checked_labels(y: Any, state: State) -> list[Label]:
    """Return checked labels, all of the type of those that are known."""
    labels: list[Label] = []
    known = state.labels or labels  # the first label sets the type
    for row, label in enumerate(listed_labels(y)):
        try:
            labels.append(checked_label(label, known[:1]))
        except InvalidInputError as error:
            error.row = row
            raise
    return labels


def checked_examples(batch: Batch, rows: Floats, state: State) -> list[Example]:
    """Return checked examples, one label, which is checked before, id, weight and time per row."""
    labels: list[Label] = batch.y
    named: list[Id | None] = [None] * len(rows)
    if batch.ids is not None:
        named = [*each_row(checked_id, listed_ids(batch.ids))]
    if not len(rows) == len(labels) == len(named):
        given = f"{plural(len(rows), 'row')} and {plural(len(labels), 'label')}"
        if batch.ids is not None:
            given += f" and {plural(len(named), 'id')}"
        raise InvalidInputError(f"Got {given}; pass one label per row, and one id per row or none.")
    weights, times = _weights_and_times(batch, len(rows))
    examples = [*map(Example, rows, labels, named, weights, times)]
    if batch.ids is not None:
        _check_ids(examples, state)
    return examples


def _weights_and_times(batch: Batch, count: int) -> tuple[list[float], list[float]]:
    weights, times = [1.0] * count, [clock()] * count
    if batch.weights is not None:
        weights = each_row(checked_weight, listed_weights(batch.weights))
    if batch.at is not None:
        times = each_row(checked_time, listed_times(batch.at, count))
    if len(weights) != count or len(times) != count:
        name, given = ("weight", weights) if len(weights) != count else ("time", times)
        both = f"{plural(count, 'row')} and {plural(len(given), name)}"
        raise InvalidInputError(f"Got {both}; pass one {name} per row.")
    return weights, times


def _check_ids(examples: list[Example], state: State) -> None:
    seen: set[Id] = set()
    for row, example in enumerate(examples):
        if example.id is None:
            continue
        if example.id in seen:
            raise InvalidInputError(f"The id {example.id!r} is given to two rows.", row)
        seen.add(example.id)
        if state.place_of(example.id) is not None:
            try:
                _known(state, example)
            except InvalidInputError as error:
                error.row = row
                raise


def prepared(state: State, new: NewRows) -> State:
    """Return the state to teach rows: a new one before the first row, or if they are wider."""
    (rows, widths, schema), settings = new, state.settings
    if len(rows) and widths.row != state.widths.row:
        assert widths.row is not None
        if schema.encoder is not None:
            settings = replace(settings, missing="mean", blocks=schema.encoder.blocks)
        if state.widths.row is not None:
            wide = core.widened(state, widths.row - state.widths.row)
            state = wide.replaced(settings=settings)
        else:
            require_blocks_fit(settings.blocks, widths.row)
            codec = state.examples.codec
            codec = codec and codec.for_width(widths.row)
            state = State(settings, widths.row, schema.features.dtype, codec)
    if state.schema is not schema or (len(rows) and state.widths != widths):
        state = state.replaced(schema=schema, widths=widths if len(rows) else state.widths)
    return state


def store(state: State, new: list[Example]) -> Change[None]:
    """Store the first examples; `consolidate` makes the model of them."""
    if not new:
        return Change(None)
    next_id = len(new) if new[0].id is None else 0
    new = [each if each.id is not None else each._replace(id=n) for n, each in enumerate(new)]
    stored = _stored(state, new)
    gone = core.outside(stored, state.settings.window)
    if len(gone):
        stored = _stored(state, [new[n] for n in np.delete(np.arange(len(new)), gone).tolist()])
    return Change(None, stored.replaced(next_id=next_id))


def _stored(state: State, new: list[Example]) -> State:
    codec, dtype, order = state.examples.codec, state.examples.dtype, np.arange(len(new))
    rows, labels, ids, weights, times = map(list, zip(*new, strict=True))
    given = state.examples.coded(np.array(rows, dtype if codec is None else None))
    about = np.array(weights), np.array(times), order, order.copy()
    columns = core.Columns(0 * order, kernels.digests(given), *about)
    return core.unsolved(state, core.Examples.of(given, ids, columns, codec, dtype), labels)


def teach(state: State, example: Example) -> Change[StepReport]:
    """Learn an example; nothing changes if it is stored already."""
    row, label, id, weight, at = example
    if id is not None and state.place_of(id) is not None:
        return Change(_known(state, example))
    example_id: Id = _free_id(state) if id is None else id
    following = int(example_id) + 1 if id is None else None
    done = separable(
        lambda: core.teach(state, row, label, example_id, following, weight=weight, time=at)
    )
    report = StepReport(example_id, label, done.certificate, done.refresh, done.was_right)
    return Change(report, done.state, "teach", example_id, done.certificate)


def correct(state: State, id: Id, label: Label, weight: float | None = None) -> Change[StepReport]:
    """Give an example another label or weight; nothing changes if it has them.

    By default the weight changes as the class weight does.
    """
    place = place_of(state, id)
    old, example_id = state.label_at(place), state.examples.ids[place]  # a Python int or str
    weighs = float(state.examples.weights[place])
    if weight is None:
        class_weights = state.schema.class_weights
        before, after = class_weights.at(old), class_weights.at(label)
        weight = weighs if before == after else weighs / before * after
    if old == label and weight == weighs:
        return Change(StepReport(example_id, label, NOTHING_MOVED))
    done = separable(lambda: core.relabel(state, place, label, weight))
    earlier, gone = dict(state.corrected), done.certificate.forgotten
    if old != label and example_id not in gone:
        had = [each for each in earlier.get(example_id, ()) if each not in (old, label)]
        earlier[example_id] = (*had, old)
    for each in gone:
        earlier.pop(each, None)
    report = StepReport(example_id, label, done.certificate, done.refresh)
    after_all = done.state.replaced(corrected=earlier)
    return Change(report, after_all, "correct", example_id, done.certificate)


def correct_if_stored(state: State, id: Id, label: Label) -> Change[StepReport]:
    """Give an example another label, unless it has fallen out of the window."""
    if state.place_of(id) is None:
        return Change(StepReport(id, label, NOTHING_MOVED))
    return correct(state, id, label)


def checked_corrections(state: State, ids: Any, labels: Sequence[Label]) -> list[tuple[Id, Label]]:
    """Return stored ids, each once, with their new labels."""
    named = [state.examples.ids[place_of(state, each)] for each in listed_ids(ids)]
    if len(named) != len(labels):
        both = f"{plural(len(named), 'id')} and {plural(len(labels), 'label')}"
        raise InvalidInputError(f"Got {both}; pass one label per id.")
    twice = [each for each, count in Counter(named).items() if count > 1]
    if twice:
        raise InvalidInputError(f"The id {twice[0]!r} is named twice; name each example once.")
    return list(zip(named, labels, strict=True))


def update(state: State, id: Id, x: Any) -> Change[StepReport]:
    """Give a stored example other features."""
    place, new = place_of(begun(state), id), new_row(x, state.schema, state)
    example_id, label = state.examples.ids[place], state.label_at(place)
    wide, row = prepared(state, new), new.rows[0]
    if isinstance(x, Mapping) and new.schema.encoder is not None:
        row = new.schema.encoder.keeping(row, wide.row_at(place), x)
    if wide is state and state.holds(place, row):
        return Change(StepReport(example_id, label, NOTHING_MOVED))
    done = separable(lambda: core.update(wide, place, row))
    report = StepReport(example_id, label, done.certificate, done.refresh, done.was_right)
    return Change(report, done.state, "update", example_id, done.certificate)


def forget(state: State, ids: Any, *, log_ids: bool = False) -> Change[Certificate]:
    """Remove stored examples."""
    begun(state)
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        ids = [ids]
    places = sorted(place_of(state, each) for each in listed_ids(ids, "one id or a list of ids"))
    if len(set(places)) < len(places):
        raise InvalidInputError("An id is named twice; name each example to forget once.")
    return _forget(state, places)._replace(log_ids=log_ids)


def forget_class(state: State, label: Label) -> Change[Certificate]:
    """Remove all examples of a label."""
    places = state.regions.places_of(label)
    if not len(places):
        raise InvalidInputError(f"No example has the label {label!r}.")
    return _forget(state, places.tolist(), label)


def _forget(state: State, listed: list[int], label: Label | None = None) -> Change[Certificate]:
    # Earlier labels of forgotten examples, and a forgotten label itself, are dropped as well.
    places = np.array(listed, dtype=np.int64)
    if not listed:
        return Change(NOTHING_MOVED)
    done = separable(lambda: core.forget(state, places))
    gone, earlier = set(state.names(places)), dict[Id, tuple[Label, ...]]()
    for example_id, had in state.corrected.items():
        kept = tuple(each for each in had if each != label)
        if example_id not in gone and kept:
            earlier[example_id] = kept
    before = {*state.labels, *(each for had in state.corrected.values() for each in had)}
    after = {*done.state.labels, *(each for had in earlier.values() for each in had)}
    left = before - after if label is None else {*(before - after), label}
    new = done.state.replaced(corrected=earlier, schema=state.schema.without_labels(left))
    return Change(done.certificate, new, "forget", certificate=done.certificate)


def set_keep(state: State, keep: Any) -> Change[Certificate]:
    """Set another window."""
    settings = replace(state.settings, keep=keep)
    done = separable(lambda: core.rewindow(state, settings))
    return Change(done.certificate, done.state, "keep", certificate=done.certificate)


def set_blocks(state: State, blocks: Any) -> Change[None]:
    """Set other blocks of columns."""
    settings = replace(state.settings, blocks=blocks)
    if state.examples.rows.shape[1]:
        require_blocks_fit(settings.blocks, state.examples.rows.shape[1])
    if settings == state.settings:
        return Change(None)
    return Change(None, state.replaced(settings=settings, consolidated=False), "blocks")


def require_blocks_fit(blocks: Sequence[tuple[int, int]], width: int) -> None:
    """Refuse blocks that rows of a width are too short for."""
    if blocks and blocks[-1][1] > width:
        start, stop = blocks[-1]
        raise InvalidInputError(
            f"The block ({start}, {stop}) ends at column {stop}, but rows have {width} columns."
        )


def set_column_kinds(state: State, kinds: Mapping[str, str]) -> Change[None]:
    """Set the kinds of columns that have no features yet."""
    schema: Schema = state.schema
    if state.widths.row is not None and not schema.is_table:
        raise InvalidInputError("This model was not taught a table; it has no kinds of columns.")
    encoder = (schema.encoder or TableEncoder()).with_kinds(kinds)
    return Change(None, state.replaced(schema=replace(schema, encoder=encoder)))


def settle(state: State) -> Change[Certificate]:
    """Solve every separator in which examples are pending."""
    done = separable(lambda: core.settle_pending(begun(state)))
    if done.state is state:
        return Change(done.certificate)
    return Change(done.certificate, done.state, "settle", certificate=done.certificate)


def consolidate(state: State, executor: Executor | None = None) -> Change[Consolidation]:
    """Compute the model again from the set of stored examples, with its columns in order."""
    schema: Schema = begun(state).schema
    encoder = schema.encoder
    if encoder is not None:
        places = state.examples.places()
        encoder, rows = encoder.canonical(state.examples.given[places])
        if encoder is not schema.encoder:
            settings = replace(state.settings, blocks=encoder.blocks)
            state = core.with_rows(state, settings, places, rows)
            schema = replace(schema, encoder=encoder, width=encoder.width)
    with nullcontext(HERE) if executor is None else executor.open() as work:
        new, done = separable(lambda: core.consolidate(state, work))
    new = new.replaced(schema=schema)
    return Change(done, new, "consolidate", certificate=done.certificate)


def widen(state: State, n: Any) -> Change[None]:
    """Give all stored rows n more columns."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidInputError(f"n is a whole number from 1, not {n!r}.")
    if state.widths.row is None:
        raise InvalidInputError(
            "Nothing has been taught yet; the first row sets the number of columns."
        )
    schema: Schema = state.schema
    if not isinstance(schema.features, Identity) or state.examples.codec is not None:
        raise InvalidInputError(
            "Only rows that are stored as they were given can get more columns; this learner "
            "has a feature map or a codec."
        )
    if schema.columns is not None:
        raise InvalidInputError(
            "The columns of this learner have names; teach rows that have the new columns."
        )
    wide = core.widened(state, int(n))
    schema = replace(schema, width=wide.widths.given)
    return Change(None, wide.replaced(schema=schema), "widen")


def place_of(state: State, id: Any) -> int:
    """Return the place of a stored example."""
    place = state.place_of(id) if _may_be_id(id) else None
    if place is not None:
        return place
    checked_id(id)  # raises the error for what is no id
    raise InvalidInputError(f"There is no example {id!r}.")


def is_stored(state: State, id: Any) -> bool:
    """Return whether an id is stored."""
    return _may_be_id(id) and state.place_of(id) is not None


def _may_be_id(id: Any) -> bool:
    # True and 1.0 are not 1, which is equal in Python.
    return isinstance(id, _ID) and not isinstance(id, bool)


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
            "scale the features first, or pass weights that differ less."
        ) from error


def _free_id(state: State) -> int:
    free = state.next_id
    while state.place_of(free) is not None:
        free += 1
    return free


def _known(state: State, example: Example) -> StepReport:
    # An id that is taught again: an error, unless row, weight and label are its present ones, or
    # the label is an earlier one. A table that has got more columns does not contradict its rows.
    assert example.id is not None
    place = place_of(state, example.id)
    now, what = state.label_at(place), ""
    remedy = "`update` (`minout learn --replace`) gives it another one"
    encoder = state.schema.encoder
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
