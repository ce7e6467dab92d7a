"""Whom a move of the margin learner's neurons can disturb: the paper's S1, S2 and S3, exactly.

Neuron o of unit c is the separator of c and o, turned so that c is inside.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Ints
from minout.errors import InvalidInputError
from minout.learner._margin import LEFT_ALONE, Margin
from minout.learner.certificate import Id, Label
from minout.maths import Partition, partition

Neuron = tuple[Label, Label]


class Sets(NamedTuple):
    """Divides the ids that were stored before a move by what it could do to them.

    s1: no neuron of the unit clipped them. s2: only the one that moved. s3: another one, so the
    unit's output was 0 before and after.
    """

    s1: tuple[Id, ...]
    s2: tuple[Id, ...]
    s3: tuple[Id, ...]


class Interfered(NamedTuple):
    """Says what learning an example would touch.

    neurons[unit, against] lists the ids in Ŝ = S1 ∪ S2 of a neuron that would move; for a label
    that is new, of the neuron that would be added to the unit. With `refresh` the example would
    also bring a renewal of origin, scale, metric or priors, which settles separators anew.
    """

    neurons: dict[Neuron, tuple[Id, ...]]
    refresh: bool

    @property
    def ids(self) -> tuple[Id, ...]:
        """Lists everybody in any of the sets, each once."""
        return tuple(dict.fromkeys(i for ids in self.neurons.values() for i in ids))


def interfered(learner: Margin, x: Floats, label: Label) -> Interfered:
    """Finds the neurons that learning x as label would move, and whom that can disturb.

    A fitted example of a third class is clipped by the neuron against its own class, which is
    another one: it is in S3. So the two classes and the exceptions are all that is looked at.
    """
    c = learner.class_of.get(label)
    others = [o for o in range(len(learner.labels)) if o != c]
    neurons: dict[Neuron, tuple[Id, ...]] = {}
    if c is None:
        for o in others:
            neurons[learner.labels[o], label] = _named(learner, _unclipped(learner, o))
        return Interfered(neurons, len(others) > 0 and learner.refreshes_next())
    due = learner.is_due(c)
    margins = learner.margins(x, c)
    for o in others:
        if margins[o] < LEFT_ALONE or due:
            for unit, neuron in ((c, o), (o, c)):
                at_risk = _at_risk(learner, unit, neuron)
                neurons[learner.labels[unit], learner.labels[neuron]] = _named(learner, at_risk)
    return Interfered(neurons, due)


def moved(learner: Margin) -> dict[Neuron, Sets]:
    """Gives S1, S2 and S3 of each neuron that the last step moved, from the weights it had."""
    before = learner.before_move
    if before is None:
        raise InvalidInputError(
            "There is no last move to tell of: the last call moved nothing, or took examples out."
        )
    W, b = learner.W.copy(), learner.b.copy()
    for pair, (w, bias) in before.weights.items():
        W[pair], b[pair] = w, bias
    places = before.places(learner)
    classes = before.classes
    sets: dict[Neuron, Sets] = {}
    for high in range(1, classes):
        for low in range(high):
            if high * (high - 1) // 2 + low in before.weights:
                for unit, neuron in ((low, high), (high, low)):
                    a = _activations(learner, W, b, unit, places, classes, before.origin)
                    masks = partition((a <= 0.0).T, neuron - (neuron > unit))
                    key = learner.labels[unit], learner.labels[neuron]
                    sets[key] = Sets(*(_named(learner, places[mask]) for mask in masks))
    return sets


def _at_risk(learner: Margin, unit: int, neuron: int) -> Ints:
    sides = [learner.members[c].places for c in (unit, neuron)]
    places = np.unique(np.concatenate([*sides, learner.exceptions()]))
    classes = len(learner.labels)
    s1, s2, _ = _partition(learner, learner.W, learner.b, unit, neuron, places, classes)
    return np.asarray(places[s1 | s2])


def _unclipped(learner: Margin, unit: int) -> Ints:
    places = np.unique(np.concatenate([learner.members[unit].places, learner.exceptions()]))
    a = _activations(learner, learner.W, learner.b, unit, places, len(learner.labels))
    return places[(a > 0.0).all(axis=0)]


def _partition(
    learner: Margin, W: Floats, b: Floats, unit: int, neuron: int, places: Ints, classes: int
) -> Partition:
    a = _activations(learner, W, b, unit, places, classes)
    return partition((a <= 0.0).T, neuron - (neuron > unit))


def _activations(
    learner: Margin,
    W: Floats,
    b: Floats,
    unit: int,
    places: Ints,
    classes: int,
    origin: Floats | None = None,
) -> Floats:
    # Of each neuron of a unit, in the order of the other classes: (classes - 1, places).
    others = np.array([o for o in range(classes) if o != unit], dtype=np.int64)
    high, low = np.maximum(others, unit), np.minimum(others, unit)
    pairs = high * (high - 1) // 2 + low
    signs = np.where(others > unit, 1.0, -1.0)
    return learner.activations(W[pairs], b[pairs], places, origin) * signs[:, None]


def _named(learner: Margin, places: Ints) -> tuple[Id, ...]:
    return tuple(learner.ids[place] for place in places.tolist())
