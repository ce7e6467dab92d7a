"""Find the stored examples that a change can disturb: the paper's S1, S2 and S3, exactly.

Neuron o of unit c is the separator of c and o, with the sign that makes it positive for c.
"""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Id, Ints, Label
from minout.engine.separators import NO_PLACES, SUFFICIENT_MARGIN, classes_of, pair_number
from minout.engine.state import Move, State
from minout.engine.step import renewal_due
from minout.errors import InvalidInputError
from minout.maths import interfered as interfered_by
from minout.maths import partition as partition_of

Neuron = tuple[Label, Label]


class Sets(NamedTuple):
    """The ids that were stored before a neuron moved, by whether the move could disturb them.

    Attributes
    ----------
    s1 : tuple of id
        No neuron of the unit clipped them.
    s2 : tuple of id
        Only the neuron that moved clipped them.
    s3 : tuple of id
        Another neuron clipped them: the unit's output was 0 before and after.
    """

    s1: tuple[Id, ...]
    s2: tuple[Id, ...]
    s3: tuple[Id, ...]


class WhatIf(NamedTuple):
    """The neurons that teaching an example would move, and the examples that could be disturbed.

    Attributes
    ----------
    neurons : dict of (label, label) to tuple of id
        For each neuron that would move or be added, the stored examples for which the score of its
        label, clipped at 0, could change by that alone (the paper's S1 ∪ S2). A neuron is a
        separator as one of its two labels uses it; the key has that label first, then the other.
    interfered : tuple of id
        All stored examples for which a clipped score could change. If several neurons of a label
        move together, these are more than those of each alone.
    pending : tuple of (label, label)
        The separators that would not move yet, although the margin of the example in them is low:
        the example would wait in them.
    refresh : bool
        Whether origin, scale, metric or priors would also be computed again, which moves more
        separators.
    """

    neurons: dict[Neuron, tuple[Id, ...]]
    interfered: tuple[Id, ...]
    pending: tuple[Neuron, ...]
    refresh: bool

    @classmethod
    def nothing(cls) -> "WhatIf":
        """Return what an example does that changes nothing."""
        return cls({}, (), (), refresh=False)


def what_if(state: State, x: Floats, label: Label) -> WhatIf:
    """Find the neurons that teaching x as label would move, and the examples this can disturb.

    A fitted example of a class of which no neuron moves is clipped by the neuron against its own
    class: it is in S3. So only the classes whose neurons move and the misfits are evaluated.
    """
    labels, c = state.classes.labels, state.classes.number.get(label)
    due = renewal_due(state, c)
    if c is None:
        unclipped = {o: _unclipped(state, o) for o in range(len(labels))}
        neurons = {(labels[o], label): state.names(each) for o, each in unclipped.items()}
        return WhatIf(neurons, _names(state, list(unclipped.values())), (), due)
    margins = state.margins(x, c)
    others = [o for o in range(len(labels)) if o != c]
    waiting, moving = [], others
    if not due:
        low = [o for o in others if margins[o] < SUFFICIENT_MARGIN]
        waiting = [o for o in low if _waits(state, c, o, margins[o])]
        moving = [o for o in low if o not in waiting]
    neurons, disturbed = _disturbed(state, c, moving) if moving else ({}, [])
    pending = tuple((labels[min(c, o)], labels[max(c, o)]) for o in waiting)
    return WhatIf(neurons, _names(state, disturbed), pending, due)


def _disturbed(
    state: State, c: int, moving: list[int]
) -> tuple[dict[Neuron, tuple[Id, ...]], list[Ints]]:
    # The examples that each neuron can disturb, and in each unit those that all can together.
    labels, neurons = state.classes.labels, {}
    places, clipped = _clipped(state, c, moving)
    at = {o: o - (o > c) for o in moving}
    disturbed = [places[interfered_by(clipped, at.values())]]
    for o in moving:
        alone = places[interfered_by(clipped, [at[o]])]
        neurons[labels[c], labels[o]] = state.names(alone)
        theirs, of_other = _clipped(state, o, [c])
        disturbed.append(theirs[interfered_by(of_other, [c - (c > o)])])
        neurons[labels[o], labels[c]] = state.names(disturbed[-1])
    return neurons, disturbed


def _names(state: State, places: list[Ints]) -> tuple[Id, ...]:
    return state.names(np.unique(np.concatenate([NO_PLACES, *places])))


def _waits(state: State, c: int, o: int, margin: float) -> bool:
    rows = state.classes.members[c].count + state.classes.members[o].count + 1
    separator = state.separators[pair_number(c, o)]
    return not separator.is_far and separator.waits(margin, rows)


def partition(state: State) -> dict[Neuron, Sets]:
    """Return S1, S2 and S3 of each neuron that the last step moved, for its weights before."""
    move = state.last_move
    if move is None:
        raise InvalidInputError(
            "There is no last move: the last call moved nothing, removed or relabelled examples, "
            "or computed everything again for very many classes."
        )
    stored = state.examples.places()
    places, labels = stored[stored < move.end], state.classes.labels
    sets: dict[Neuron, Sets] = {}
    for pair in sorted({*move.weights, *move.supports}):
        low, high = classes_of(pair)
        for unit, neuron in ((low, high), (high, low)):
            rows = [_turned(state, unit, o, move) for o in range(move.classes) if o != unit]
            a = _activations(state, rows, places, move.origin)
            masks = partition_of((a <= 0.0).T, neuron - (neuron > unit))
            sets[labels[unit], labels[neuron]] = Sets(*(state.names(places[m]) for m in masks))
    return sets


def _clipped(state: State, unit: int, neurons: list[int]) -> tuple[Ints, Bools]:
    # The places that moves of these neurons may disturb, and which neurons of the unit clip them.
    sides = [state.classes.members[c].places for c in (unit, *neurons)]
    places = np.unique(np.concatenate([*sides, state.misfits()]))
    return places, (_of_unit(state, unit, places) <= 0.0).T


def _unclipped(state: State, unit: int) -> Ints:
    places = np.unique(np.concatenate([state.classes.members[unit].places, state.misfits()]))
    return np.asarray(places[(_of_unit(state, unit, places) > 0.0).all(axis=0)])


def _of_unit(state: State, unit: int, places: Ints) -> Floats:
    # Activations of each neuron of a unit, in the order of the other classes: (others, places).
    rows = [_turned(state, unit, o) for o in range(len(state.classes)) if o != unit]
    return _activations(state, rows, places, state.frame.geometry.origin)


def _turned(
    state: State, unit: int, other: int, earlier: Move | None = None
) -> tuple[Floats, float, float]:
    # Weights of a neuron, now or before the last move, and the sign that makes it positive for c.
    w, b = state.weights(pair_number(unit, other), earlier)
    return w, b, 1.0 if other > unit else -1.0


def _activations(
    state: State, rows: list[tuple[Floats, float, float]], places: Ints, origin: Floats
) -> Floats:
    out = np.empty((len(rows), len(places)))
    for (w, b, sign), row in zip(rows, out, strict=True):
        kernels.activations(w, b, state.examples.table, places, origin, row)
        np.multiply(row, sign, out=row)
    return out
