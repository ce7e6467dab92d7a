"""The sharpness of probabilities: from the scores of stored examples, each without itself."""

import numpy as np

from minout._typing import Ints
from minout.core.folds import sharpness
from minout.core.left_out import alone, left_out_scores, lowest
from minout.core.state import State

MOST, LABELS = 1_000, 20
"""It is found from at most so many examples of at most so many labels; all are their rivals."""


def calibrated(state: State) -> State:
    """Return the state with the sharpness that makes the labels of left-out examples most likely.

    The same state if no example can be left out.
    """
    places = _picked(state)
    if len(state.labels) < 2 or not len(places):
        return state
    own = state.regions.order.owner[state.examples.regions[places]]
    part = left_out_scores(state, places), own, state.examples.weights[places]
    choice = state.choice._replace(sharpness=sharpness([part]))
    return state.replaced(frame=state.frame._replace(choice=choice))


def _picked(state: State) -> Ints:
    # The examples with the lowest digests of some labels: those of which one has the lowest digest.
    places = lowest(state, state.count)
    labels = state.regions.order.owner[state.examples.regions[places]]
    names, first = np.unique(labels, return_index=True)
    able = ~np.isin(names, alone(state))
    some = names[able][np.argsort(first[able])[:LABELS]]
    return places[np.isin(labels, some)][:MOST]
