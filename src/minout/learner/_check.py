"""Whether every stored example of two classes is where a separator should have it."""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.learner._sketch import Move, Sketch
from minout.rules import Ground

WORST = 24
"""So many of the worst, or half as many as the pool has, are added to it at a time."""
MANY = 2_000
"""From so many examples on it pays to bound margins before they are computed."""


class Found(NamedTuple):
    """Is what a check found: whom to add to the pool, who is on the wrong side, the least margin.

    `least` bounds from below the margins of all who were checked and are not on the wrong side.
    """

    places: Ints
    signs: Floats
    wrong: Ints
    least: float
    checked: int


class Reference:
    """Remembers where both sides stood at an earlier separator, so that few must be looked at.

    values[k][i] is the activation of the i-th example of side k at (w, b). `spent` counts whom it
    could not vouch for since.
    """

    __slots__ = ("b", "spent", "values", "w")

    def __init__(self) -> None:
        self.w: Floats | None = None
        self.b = 0.0
        self.values: list[Floats] = []
        self.spent = 0


class _Looked(NamedTuple):
    places: Ints
    signs: Floats
    margins: Floats


def check(
    w: Floats,
    b: float,
    sides: tuple[Ints, Ints],
    pooled: Ints,
    ground: Ground,
    bound: float,
    reference: Reference,
    sketch: Sketch | None,
) -> Found:
    """Finds who is below the bound; asks for the worst of them that are not pooled.

    Pooled members below the bound have a private parameter that makes up for it. The answer is the
    same with and without the sketch: it only says whose margin need not be computed.
    """
    total = len(sides[0]) + len(sides[1])
    if sketch is None or total < MANY:
        looked = _everybody(w, b, sides, ground)
    elif reference.w is None or 2 * reference.spent > total:
        looked = _everybody(w, b, sides, ground)
        _remember(reference, w, b, looked, len(sides[0]))
    else:
        looked = _doubtful(w, b, sides, ground, bound, reference, sketch)
    places, signs, margins = looked
    known = np.zeros(len(ground.table), dtype=bool)
    known[pooled] = True
    below = np.flatnonzero(margins < bound)
    below = below[~known[places[below]]]
    most = max(WORST, len(pooled) // 2)
    if len(below) > most:
        below = below[np.lexsort((places[below], margins[below]))[:most]]
    right = margins > 0.0
    least = float(margins[right].min(initial=np.inf if len(places) == total else bound))
    return Found(places[below], signs[below], places[~right], least, total)


def _everybody(w: Floats, b: float, sides: tuple[Ints, Ints], ground: Ground) -> _Looked:
    signs = np.repeat([1.0, -1.0], [len(sides[0]), len(sides[1])])
    return _look(w, b, np.concatenate(sides), signs, ground)


def _look(w: Floats, b: float, places: Ints, signs: Floats, ground: Ground) -> _Looked:
    margins = np.empty(len(places))
    table, origin = ground.table, ground.geometry.origin
    kernels.in_threads(
        lambda part: kernels.activations(w, b, table, places[part], origin, margins[part]),
        _parts(len(places)),
    )
    margins *= signs
    return _Looked(places, signs, margins)


def _parts(n: int) -> list[slice]:
    # Halves, where it pays to divide the work.
    return [slice(0, n)] if n < MANY // 4 else [slice(0, n // 2), slice(n // 2, n)]


def _remember(reference: Reference, w: Floats, b: float, looked: _Looked, cut: int) -> None:
    activations = looked.margins * looked.signs
    reference.w, reference.b, reference.spent = w, b, 0
    reference.values = [activations[:cut], activations[cut:]]


def _doubtful(
    w: Floats,
    b: float,
    sides: tuple[Ints, Ints],
    ground: Ground,
    bound: float,
    reference: Reference,
    sketch: Sketch,
) -> _Looked:
    assert reference.w is not None
    move = sketch.split(w - reference.w)
    picked = []
    for side, places in enumerate(sides):
        known = reference.values[side]
        if len(known) < len(places):
            more = np.empty(len(places) - len(known))
            late = places[len(known) :]
            origin = ground.geometry.origin
            kernels.activations(reference.w, reference.b, ground.table, late, origin, more)
            reference.values[side] = known = np.concatenate([known, more])
        picked.append(
            _picked(sketch, known, places, move, b - reference.b, -1.0 if side else 1.0, bound)
        )
    reference.spent += len(picked[0]) + len(picked[1])
    return _everybody(w, b, (sides[0][picked[0]], sides[1][picked[1]]), ground)


def _picked(
    sketch: Sketch,
    known: Floats,
    places: Ints,
    move: Move,
    shift: float,
    sign: float,
    bound: float,
) -> Ints:
    parts = kernels.in_threads(
        lambda part: (
            sketch.doubtful(known[part], places[part], move, shift, sign, bound) + part.start
        ),
        _parts(len(places)),
    )
    return np.concatenate(parts)
