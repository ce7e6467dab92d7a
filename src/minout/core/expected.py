"""Estimate the accuracy on new rows: the share of stored examples that are right when left out."""

from typing import NamedTuple

import numpy as np

from minout._typing import Bools, Floats, Label
from minout.core.left_out import alone, different, left_out_scores
from minout.core.state import State
from minout.metrics import wilson_interval

MOST = 5_000
"""So many different examples are left out; more would not make the interval much narrower."""
WIDER = 1.3
"""Intervals are so many times as wide as those of independent answers (docs/theory.md)."""
FEWEST = 10
"""With fewer different examples nothing is said."""
MOST_ALONE = 0.1
"""Nothing is said if more than this share of the labels have only one example."""


class ClassAccuracy(NamedTuple):
    """The expected accuracy on new rows of one label.

    Attributes
    ----------
    accuracy : float
        The share of its stored examples, by weight, that get their label when they are left out.
    low, high : float
        A 95 % interval for the accuracy on new rows of this label.
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
        A 95 % interval for the accuracy on new rows: Wilson's, 1.3 times as wide, because answers
        of left-out examples are not independent. Equal examples count as one.
    per_class : dict of label to ClassAccuracy
        The same for the examples of each label, in the order of the labels.
    reliable : bool
        Whether there is an estimate. If not, the three numbers are NaN and `per_class` is empty.
    reason : str
        Why there is none: one label, fewer than 10 different examples, or too many labels with one
        example only. "" if there is one.
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


def expected_accuracy(state: State) -> ExpectedAccuracy:
    """Return the expected accuracy on new rows; there must be an example."""
    regions, reason = state.regions, doubt(state)
    if reason:
        return ExpectedAccuracy(np.nan, np.nan, np.nan, {}, False, reason, state.count)
    places, given, weights = different(state, MOST)
    is_right = left_out_scores(state, places).argmax(axis=1) == given
    is_right &= ~np.isin(given, alone(state))
    accuracy, low, high, _ = _accuracy(is_right, weights)
    per_class = {
        label: _accuracy(is_right[given == c], weights[given == c], regions.size(label))
        for c, label in enumerate(sorted(regions.names))
    }
    return ExpectedAccuracy(accuracy, low, high, per_class, True, "", state.count)


def doubt(state: State) -> str:
    """Return why nothing can be said of new rows; "" if something can."""
    labels, examples = len(state.labels), state.examples
    if labels < 2:
        return "There is one label only: nothing is told apart."
    count = len(np.unique(examples.digests[examples.places()]))
    if count < FEWEST:
        return f"There are {count} different examples; an estimate needs {FEWEST}."
    single = len(alone(state))
    if single > MOST_ALONE * labels:
        return (
            f"{single:,} of {labels:,} labels have only one example: nothing is left of them "
            "when it is left out."
        )
    return ""


def _accuracy(is_right: Bools, weights: Floats, examples: int = 0) -> ClassAccuracy:
    # Examples of different weights say as much as (Σω)²/Σω² examples of one weight (Kish).
    if not len(is_right):
        return ClassAccuracy(np.nan, 0.0, 1.0, examples)
    total = float(weights.sum())
    right, each = float(weights[is_right].sum()), total / float(np.square(weights).sum())
    each /= WIDER**2
    interval = wilson_interval(right * each, total * each)
    return ClassAccuracy(right / total, *interval, examples)
