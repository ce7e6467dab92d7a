"""Estimate the accuracy on new rows: the share of stored examples that are right when left out.

See `left_out.py` for the margins without an example.
"""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Label
from minout.engine.left_out import left_out_margins
from minout.engine.state import State
from minout.metrics import wilson_interval


class ClassAccuracy(NamedTuple):
    """The expected accuracy on new rows of one label.

    Attributes
    ----------
    accuracy : float
        The share of its stored examples, by weight, that get their label when they are left out.
    low, high : float
        A 95 % interval (Wilson's) for the accuracy on new rows of this label.
    examples : int
        The number of its stored examples.
    """

    accuracy: float
    low: float
    high: float
    examples: int


class ExpectedAccuracy(NamedTuple):
    """The accuracy to expect on new rows that are like the stored ones.

    Attributes
    ----------
    accuracy : float
        The share of stored examples, by weight, that get their label when they are left out
        (leave-one-out).
    low, high : float
        A 95 % interval (Wilson's) for the accuracy on new rows. It covers the chance in which rows
        were stored; it does not cover that settings, metric and discriminants were computed with
        all rows.
    examples : int
        The number of stored examples.
    per_class : dict of label to ClassAccuracy
        The same for the examples of each label, in the order of the labels.
    """

    accuracy: float
    low: float
    high: float
    examples: int
    per_class: dict[Label, ClassAccuracy]


@kernels.one_blas_thread()
def expected_accuracy(state: State) -> ExpectedAccuracy:
    """Return the expected accuracy on new rows; there must be an example."""
    is_right, weights, regions = _right_if_left_out(state), state.examples.weights, state.regions
    of_class = {label: regions.places_of(label) for label in sorted(regions.names)}
    places = state.examples.places()
    return ExpectedAccuracy(
        *_accuracy(is_right[places], weights[places]),
        {label: _accuracy(is_right[each], weights[each]) for label, each in of_class.items()},
    )


def _accuracy(is_right: Bools, weights: Floats) -> ClassAccuracy:
    # Examples of different weights say as much as (Σω)²/Σω² examples of one weight (Kish).
    total = float(weights.sum())
    right, each = float(weights[is_right].sum()), total / float(np.square(weights).sum())
    interval = wilson_interval(right * each, total * each)
    return ClassAccuracy(right / total, *interval, len(is_right))


def _right_if_left_out(state: State) -> Bools:
    # By place. If all margins of an example are positive without it, it is right; otherwise the
    # scores of the other regions decide. The only example of a label takes the label with it.
    left_out = left_out_margins(state)
    doubtful = state.separators.violations[: state.examples.end] > 0
    doubtful[left_out.places[left_out.margins <= 0.0]] = True
    for members in state.regions.members:
        if members.count == 1:
            doubtful[members.places] = True
    is_right = ~doubtful
    for place in np.flatnonzero(doubtful).tolist():
        is_right[place] = _wins(state, place, left_out.of(place, len(state.regions)))
    for label in state.regions.names:
        places = state.regions.places_of(label)
        if len(places) == 1:
            is_right[places] = False
    return is_right


def _wins(state: State, place: int, left_out: Floats) -> bool:
    # Whether the label of an example has the highest score without it. `left_out` are its margins
    # at the separators that change; they are lower than before, and higher for the other region.
    x, own, regions = state.examples.table[place], int(state.examples.regions[place]), state.regions
    owner, is_alone = regions.order.owner, regions.members[own].count == 1
    best, bounds = -np.inf, np.full(len(regions), np.inf)
    for c in regions.of(regions.labels[own]):
        if c != own or not is_alone:  # the only example of a region takes the region with it
            ours = np.minimum(state.margins(x, c), left_out if c == own else np.inf)
            best = max(best, float(ours.min()))
            bounds = np.minimum(bounds, -ours)
    bounds[owner == owner[own]] = -np.inf
    while True:
        could = np.flatnonzero((bounds > best) | ((bounds == best) & (owner < owner[own])))
        if not len(could):
            return True
        other = int(could[bounds[could].argmax()])
        theirs = state.margins(x, other)
        theirs[own] = np.inf if is_alone else max(theirs[own], -left_out[other])
        score = float(theirs.min())
        if score > best or (score == best and owner[other] < owner[own]):
            return False
        bounds = np.where(owner == owner[other], bounds, np.minimum(bounds, -theirs))
        bounds[other] = -np.inf
