"""Estimate the accuracy on new rows: the share of stored examples that are right when left out.

See `left_out.py` for the margins without an example.
"""

from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Bools, Floats, Label
from minout.core.left_out import doubt, left_out_margins, left_out_scores
from minout.core.state import State
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
    per_class : dict of label to ClassAccuracy
        The same for the examples of each label, in the order of the labels.
    reliable : bool
        Whether the estimate can be trusted. If not, the three numbers are NaN and `per_class` is
        empty: with `whiten` or `lda_prior` there must be 20 examples per feature.
    reason : str
        Why it cannot be trusted; "" if it can.
    examples : int
        The number of stored examples.
    """

    accuracy: float
    low: float
    high: float
    per_class: dict[Label, ClassAccuracy]
    reliable: bool
    reason: str
    examples: int


@kernels.one_blas_thread()
def expected_accuracy(state: State) -> ExpectedAccuracy:
    """Return the expected accuracy on new rows; there must be an example."""
    places, weights, regions = state.examples.places(), state.examples.weights, state.regions
    reason = doubt(state)
    if reason:
        return ExpectedAccuracy(np.nan, np.nan, np.nan, {}, False, reason, len(places))
    is_right = _right_if_left_out(state)
    of_class = {label: regions.places_of(label) for label in sorted(regions.names)}
    accuracy, low, high, examples = _accuracy(is_right[places], weights[places])
    per_class = {
        label: _accuracy(is_right[each], weights[each]) for label, each in of_class.items()
    }
    return ExpectedAccuracy(accuracy, low, high, per_class, True, "", examples)


def _accuracy(is_right: Bools, weights: Floats) -> ClassAccuracy:
    # Examples of different weights say as much as (Σω)²/Σω² examples of one weight (Kish).
    total = float(weights.sum())
    right, each = float(weights[is_right].sum()), total / float(np.square(weights).sum())
    interval = wilson_interval(right * each, total * each)
    return ClassAccuracy(right / total, *interval, len(is_right))


def _right_if_left_out(state: State) -> Bools:
    # By place. If all margins of an example are positive without it, it is right; otherwise the
    # scores decide, of equal ones the first. The only example of a label takes the label with it.
    left_out, regions = left_out_margins(state), state.regions
    doubtful = state.examples.violations[: state.examples.end] > 0
    doubtful[left_out.places[left_out.margins <= 0.0]] = True
    for members in regions.members:
        if members.count == 1:
            doubtful[members.places] = True
    is_right, places = ~doubtful, np.flatnonzero(doubtful)
    winners = left_out_scores(state, places, left_out).argmax(axis=1)
    is_right[places] = winners == regions.order.owner[state.examples.regions[places]]
    for label in regions.names:
        if regions.size(label) == 1:
            is_right[regions.places_of(label)] = False
    return is_right
