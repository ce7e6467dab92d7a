"""Find the stored examples that a change can disturb: the paper's S1, S2 and S3, exactly.

A unit is a region, and its neuron o the separator of that region and region o, with the sign that
makes it positive for the unit. The output of a label is the highest output of its regions.
"""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Id, Ints, Label
from minout.core.examples import About
from minout.core.plan import Plan, Row, plan_to_teach
from minout.core.regions import NO_PLACES, among, pair_number, regions_of
from minout.core.state import Move, State
from minout.core.table import activations
from minout.core.window import Ages
from minout.errors import InvalidInputError
from minout.maths import interfered as interfered_by

Neuron = tuple[Label, Label]


class Sets(NamedTuple):
    """The ids that were stored before neurons moved, by whether the move could disturb them.

    The neurons are those of one label against another: one, unless labels have several regions.

    Attributes
    ----------
    s1 : tuple of id
        In a region whose neurons moved, no neuron clipped them.
    s2 : tuple of id
        In a region whose neurons moved, only those clipped them.
    s3 : tuple of id
        In every region whose neurons moved, a neuron that did not move clipped them, so the outputs
        stayed 0.
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
        If labels have several regions, all neurons of one label against the other are together. Of
        a new label, only the neurons of the other labels against it are named.
    interfered : tuple of id
        All stored examples for which a clipped score could change. If several neurons of a label
        move together, these are more than those of each alone.
    pending : tuple of (label, label)
        The separators that would not move yet, although the margin of the example in them is low:
        the example would wait in them.
    refresh : bool
        Whether a refresh is due. Then all separators move, and `interfered` has all examples that
        stay; `neurons` is not complete. A refresh that cannot be solved is put off by `teach`.
    forgotten : tuple of id
        The examples that would fall out of the window (`keep`).
    is_out : bool
        Whether the example is itself too old for the window: it would not be stored, and nothing
        would change.
    """

    neurons: dict[Neuron, tuple[Id, ...]]
    interfered: tuple[Id, ...]
    pending: tuple[Neuron, ...]
    refresh: bool
    forgotten: tuple[Id, ...] = ()
    is_out: bool = False

    @classmethod
    def nothing(cls) -> "WhatIf":
        """Return what an example does that changes nothing."""
        return cls({}, (), (), refresh=False)


def what_if(state: State, x: Floats, label: Label, time: float = 0.0) -> WhatIf:
    """Find the neurons that teaching x as label would move, and the examples this can disturb.

    A fitted example is clipped in every region of another label by the neuron against its own
    region. So in a region whose neurons move, it is disturbed only if that neuron moves. To be
    evaluated are the examples of the region's label and of the regions on the other side of the
    neurons that move, and the misfits.
    """
    row, about = Row(state.expanded(x[None])[0], label), About(time=time, serial=state.taught)
    planned = plan_to_teach(state, row, about, lambda: Ages(state))
    if planned.is_out:
        return WhatIf.nothing()._replace(is_out=True)
    regions, out, pairs = state.regions, planned.out, _moving(state, planned)
    neurons, disturbed = _disturbed(state, {regions_of(pair) for pair in pairs})
    if planned.region is None:
        for name in regions.names:
            gained = [_unclipped(state, o) for o in regions.of(name)]
            neurons[name, label], disturbed = gained, disturbed + gained
    if planned.refresh:
        disturbed = [state.examples.places()]
    waits = [(regions.labels[a], regions.labels[b]) for a, b in map(regions_of, planned.waits)]
    return WhatIf(
        {neuron: _names(state, each, out) for neuron, each in neurons.items()},
        _names(state, disturbed, out),
        tuple(dict.fromkeys(waits)),
        planned.refresh,
        state.names(out),
    )


def _moving(state: State, planned: Plan) -> set[int]:
    # The pairs whose separators move or are dropped; those that are added have no number yet.
    pairs, count = set(planned.settled), len(state.regions)
    of = [planned.region] if planned.renews or planned.refresh else []
    for c in [*planned.emptied, *of]:
        if c is not None:
            pairs |= {pair_number(c, o) for o in _others(state, c, count)}
    return pairs


def _disturbed(
    state: State, moving: set[tuple[int, int]]
) -> tuple[dict[Neuron, list[Ints]], list[Ints]]:
    # The examples that the neurons of each pair of labels can disturb, and those that all can.
    labels = state.regions.labels
    neurons: dict[Neuron, list[Ints]] = {}
    everybody = []
    of_unit: dict[int, set[int]] = {}
    for a, b in moving:
        of_unit.setdefault(a, set()).add(b)
        of_unit.setdefault(b, set()).add(a)
    for unit, others in sorted(of_unit.items()):
        places, clipped = _clipped(state, unit, sorted(others))
        at = {o: n for n, o in enumerate(_others(state, unit, len(labels)))}
        everybody.append(places[interfered_by(clipped, [at[o] for o in others])])
        for other in sorted({labels[o] for o in others}):
            theirs = [at[o] for o in others if labels[o] == other]
            alone = places[interfered_by(clipped, theirs)]
            neurons.setdefault((labels[unit], other), []).append(alone)
    return neurons, everybody


def _others(state: State, unit: int, count: int) -> list[int]:
    # The regions of other labels, of the first so many: the neurons of a region in their order.
    owner = state.regions.order.owner[:count]
    return np.flatnonzero(owner != owner[unit]).tolist()


def _names(state: State, places: list[Ints], but: Ints) -> tuple[Id, ...]:
    found = np.unique(np.concatenate([NO_PLACES, *places]))
    return state.names(found[~among(found, but)])


def partition(state: State) -> dict[Neuron, Sets]:
    """Return S1, S2 and S3 of each neuron that the last step moved, for its weights before."""
    move = state.last_move
    if move is None:
        raise InvalidInputError(
            "There is no last move: the last call moved nothing, removed or relabelled examples, "
            "or computed everything again with other regions or columns, or for very many classes."
        )
    stored = state.examples.places()
    places, labels = stored[stored != move.added], state.regions.labels
    moved: dict[Neuron, dict[int, list[int]]] = {}
    for pair in sorted(move.separators):
        low, high = regions_of(pair)
        for unit, neuron in ((low, high), (high, low)):
            moved.setdefault((labels[unit], labels[neuron]), {}).setdefault(unit, []).append(neuron)
    return {
        key: Sets(*(state.names(places[each]) for each in _sets(state, move, places, units)))
        for key, units in moved.items()
    }


def _sets(
    state: State, move: Move, places: Ints, units: dict[int, list[int]]
) -> tuple[Bools, Bools, Bools]:
    # S1, S2 and S3 of a label of which some neurons of some regions moved.
    unclipped, disturbed = np.zeros((2, len(places)), dtype=bool)
    for unit, neurons in units.items():
        others = _others(state, unit, move.regions)
        rows = [_turned(state, unit, o, move) for o in others]
        clipped = (_activations(state, rows, places, move.origin) <= 0.0).T
        unclipped |= ~clipped.any(axis=1)
        disturbed |= interfered_by(clipped, [others.index(o) for o in neurons])
    return unclipped, disturbed & ~unclipped, ~disturbed


def _clipped(state: State, unit: int, neurons: list[int]) -> tuple[Ints, Bools]:
    # The places that moves of these neurons may disturb, and which neurons of the unit clip them.
    regions = state.regions
    sides = [regions.members[c].places for c in (*_siblings(state, unit), *neurons)]
    places = np.unique(np.concatenate([*sides, state.misfits()]))
    return places, (_of_unit(state, unit, places) <= 0.0).T


def _siblings(state: State, unit: int) -> tuple[int, ...]:
    # All regions of a region's label, itself included.
    return state.regions.of(state.regions.labels[unit])


def _unclipped(state: State, unit: int) -> Ints:
    sides = [state.regions.members[c].places for c in _siblings(state, unit)]
    places = np.unique(np.concatenate([*sides, state.misfits()]))
    return np.asarray(places[(_of_unit(state, unit, places) > 0.0).all(axis=0)])


def _of_unit(state: State, unit: int, places: Ints) -> Floats:
    # Activations of each neuron of a unit, in the order of the other regions: (others, places).
    rows = [_turned(state, unit, o) for o in _others(state, unit, len(state.regions))]
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
        activations(w, b, state.examples.table, places, origin, row)
        np.multiply(row, sign, out=row)
    return out
