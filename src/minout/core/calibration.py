"""The sharpness of probabilities: from the scores of stored examples, each without itself."""

import numpy as np

from minout._typing import Floats, Ints
from minout.core.folds import sharpness
from minout.core.left_out import alone, different, left_out_scores
from minout.core.state import State

MOST, LABELS = 1_000, 10
"""At most so many different examples of at most so many labels are used; all are their rivals."""


def calibrated(state: State) -> State:
    """Return the state with the sharpness that makes the labels of left-out examples most likely.

    The same state if no example can be left out.
    """
    places, labels, weights = _picked(state)
    if len(state.labels) < 2 or not len(places):
        return state
    part = left_out_scores(state, places), labels, weights
    choice = state.choice._replace(sharpness=sharpness([part]))
    return state.replaced(frame=state.frame._replace(choice=choice))


def _picked(state: State) -> tuple[Ints, Ints, Floats]:
    # The examples with the lowest digests of some labels: those of which one has the lowest digest.
    places, labels, weights = different(state, state.count)
    names, first = np.unique(labels, return_index=True)
    able = ~np.isin(names, alone(state))
    some = np.isin(labels, names[able][np.argsort(first[able])[:LABELS]])
    return places[some][:MOST], labels[some][:MOST], weights[some][:MOST]
