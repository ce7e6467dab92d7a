"""Find equal and nearly equal rows under different labels.

Distances are those of the frame's metric. A search tree over a few orthogonal directions finds the
candidates: no distance along these directions is larger than the whole one, so none is missed.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Id, Ints, Label
from minout.core.state import State
from minout.core.table import distinct

NEAR = 0.01  # rows are nearly equal up to this share of the typical distance
DIRECTIONS, SAMPLE, BLOCK = 8, 256, 512


class Conflict(NamedTuple):
    """Two stored examples with equal or nearly equal rows and different labels.

    Attributes
    ----------
    id, label : int or str
        One example, the one that was taught first.
    other_id, other_label : int or str
        The other one. Of equal rows of a label, the first is named.
    distance : float
        Their distance in the metric of the separators, as a share of the typical distance between
        two stored rows (the root of the mean square); 0 for equal rows.
    """

    id: Id
    label: Label
    other_id: Id
    other_label: Label
    distance: float


@kernels.one_blas_thread()
def conflicts(state: State, near: float = NEAR) -> list[Conflict]:
    """Return each example with the nearest one of another label, if near; the nearest pair first.

    Each pair is named once. `near` is the largest share of the typical distance.
    """
    if len(state.labels) < 2:
        return []
    places, labels = _distinct(state)
    factor, typical = _coordinates(state)
    table, origin = state.examples.table, state.frame.geometry.origin
    directions = _directions(state, factor)
    points = np.vstack(
        [(table[places[i : i + BLOCK]] - origin) @ directions for i in range(0, len(places), BLOCK)]
    )
    pairs: dict[tuple[int, int], float] = {}
    for i, others in _candidates(points, near * typical):
        close = others[labels[others] != labels[i]]
        if not len(close):
            continue
        offsets = table[places[close]].astype(float) - table[places[i : i + 1]]
        distances = np.linalg.norm(_times(offsets, factor), axis=1)
        least = int(distances.argmin())
        if distances[least] <= near * typical:
            pair = (min(i, int(close[least])), max(i, int(close[least])))
            pairs[pair] = float(distances[least]) / (typical or 1.0)
    found = sorted(pairs.items(), key=lambda each: (each[1], each[0]))
    return [
        Conflict(*_named(state, int(places[i])), *_named(state, int(places[j])), distance)
        for (i, j), distance in found
    ]


def _named(state: State, place: int) -> tuple[Id, Label]:
    return state.examples.ids[place], state.label_at(place)


def _distinct(state: State) -> tuple[Ints, Ints]:
    # Places in the order of teaching, of equal rows of a label the first, and label numbers.
    examples = state.examples
    places = examples.places()
    labels = state.regions.order.owner[examples.regions[places]]
    first = np.sort(distinct(examples.digests[places], labels, np.zeros(len(places))).first)
    return places[first], labels[first]


def _coordinates(state: State) -> tuple[Floats, float]:
    # F with K = F F', so that distances are those of (x - y) F, and the typical distance.
    K, places = state.frame.geometry.K, state.examples.places()
    if K.ndim == 1:
        factor = np.sqrt(K)
    else:
        values, vectors = np.linalg.eigh((K + K.T) / 2.0)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
    total, squares, origin = np.zeros(len(K)), 0.0, state.frame.geometry.origin
    for i in range(0, len(places), BLOCK):
        Z = _times(state.examples.table[places[i : i + BLOCK]] - origin, factor)
        total, squares = total + Z.sum(axis=0), squares + float(np.square(Z).sum())
    mean = total / len(places)
    return factor, math.sqrt(max(2.0 * (squares / len(places) - float(mean @ mean)), 0.0))


def _times(Z: Floats, factor: Floats) -> Floats:
    return np.asarray(Z * factor if factor.ndim == 1 else Z @ factor)


def _directions(state: State, factor: Floats) -> Floats:
    # F Q, with Q (d, few) orthogonal: the directions in which some rows vary most.
    places = state.examples.places()
    few = places[np.argsort(state.examples.digests[places], kind="stable")[:SAMPLE]]
    Z = _times(state.examples.table[few] - state.frame.geometry.origin, factor)
    Q = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:DIRECTIONS].T
    return np.asarray(factor[:, None] * Q if factor.ndim == 1 else factor @ Q)


def _candidates(points: Floats, radius: float) -> Iterator[tuple[int, Ints]]:
    # For each point the others within the radius, where there are some.
    from scipy.spatial import cKDTree

    slack = 1e-9 * float(np.abs(points).max(initial=0.0))  # rounding of the coordinates
    tree = cKDTree(points)
    for start in range(0, len(points), BLOCK):
        close = tree.query_ball_point(points[start : start + BLOCK], radius * (1 + 1e-9) + slack)
        for i, each in enumerate(close, start):
            if len(each) > 1:
                others = np.array(sorted(each))
                yield i, others[others != i]
