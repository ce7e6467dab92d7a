"""Find the stored examples that a change can disturb: the paper's S1, S2 and S3, exactly.

Neuron o of unit c is the separator of c and o, with the sign that makes it positive for c.
"""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.engine.separators import SUFFICIENT_MARGIN, classes_of, pair_number
from minout.engine.state import Move, State
from minout.engine.step import renewal_due
from minout.errors import InvalidInputError
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
        label, clipped at 0, could change (the paper's S1 ∪ S2). A neuron is a separator as one of
        its two labels uses it; the key has that label first, then the other one.
    refresh : bool
        Whether origin, scale, metric or priors would also be computed again, which moves more
        separators.
    """

    neurons: dict[Neuron, tuple[Id, ...]]
    refresh: bool

    @property
    def interfered(self) -> tuple[Id, ...]:
        """The ids of all examples that could be disturbed, each once."""
        return tuple(dict.fromkeys(i for ids in self.neurons.values() for i in ids))


def what_if(state: State, x: Floats, label: Label) -> WhatIf:
    """Find the neurons that teaching x as label would move, and the examples this can disturb.

    A fitted example of a third class is clipped by the neuron against its own class, which does
    not move: it is in S3. So only the two classes and the misfits are evaluated.
    """
    labels, c = state.classes.labels, state.classes.number.get(label)
    others = [o for o in range(len(labels)) if o != c]
    neurons: dict[Neuron, tuple[Id, ...]] = {}
    due = renewal_due(state, c)
    if c is None:
        for o in others:
            neurons[labels[o], label] = state.names(_unclipped(state, o))
        return WhatIf(neurons, due)
    margins = state.margins(x, c)
    for o in others:
        if due or (margins[o] < SUFFICIENT_MARGIN and not _waits(state, c, o, margins[o])):
            for unit, neuron in ((c, o), (o, c)):
                at_risk = _at_risk(state, unit, neuron)
                neurons[labels[unit], labels[neuron]] = state.names(at_risk)
    return WhatIf(neurons, due)


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


def _at_risk(state: State, unit: int, neuron: int) -> Ints:
    sides = [state.classes.members[c].places for c in (unit, neuron)]
    places = np.unique(np.concatenate([*sides, state.misfits()]))
    s1, s2, _ = partition_of((_of_unit(state, unit, places) <= 0.0).T, neuron - (neuron > unit))
    return np.asarray(places[s1 | s2])


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
