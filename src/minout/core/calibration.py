"""Probabilities: their sharpness comes from the scores of stored examples, each without itself."""

import numpy as np

from minout import maths
from minout._typing import Floats, Ints
from minout.core.choice import Choice
from minout.core.folds import sharpness
from minout.core.left_out import alone, different, left_out_scores
from minout.core.state import State

MOST, LABELS = 1_000, 10
"""At most so many different examples of at most so many labels are used; all are their rivals."""
LEADS = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
WORTH = 1.0
"""By how much a lead must raise the logarithm of the likelihood of all labels to be taken."""


def probabilities(scores: Floats, choice: Choice) -> Floats:
    """Return the probability of each label from scores (n, labels), two labels at least."""
    return maths.softmax(choice.sharpness * led(scores, choice.lead))


def led(scores: Floats, lead: float) -> Floats:
    """Return scores of which those above 0 are multiplied by `lead`.

    The order of the labels stays. The best score of a row is often minus the second one, so that
    it counts twice in the difference of the two, once in those with the other labels.
    """
    return np.asarray(np.where(scores > 0.0, lead * scores, scores))


def calibrated(state: State) -> State:
    """Return the state with the sharpness that makes the labels of left-out examples most likely.

    And with the lead that does. The same state if no example can be left out.
    """
    places, labels, weights = _picked(state)
    if len(state.labels) < 2 or not len(places):
        return state
    scores = left_out_scores(state, places)
    found = [sharpness([(led(scores, lead), labels, weights)]) for lead in LEADS]
    best = max(range(len(LEADS)), key=lambda n: found[n].likelihood)
    best = best if found[best].likelihood > found[0].likelihood + WORTH else 0
    choice = state.choice._replace(sharpness=found[best].value, lead=LEADS[best])
    return state.replaced(frame=state.frame._replace(choice=choice))


def _picked(state: State) -> tuple[Ints, Ints, Floats]:
    # The examples with the lowest digests of some labels: those of which one has the lowest digest.
    places, labels, weights = different(state, state.count)
    names, first = np.unique(labels, return_index=True)
    able = ~np.isin(names, alone(state))
    some = np.isin(labels, names[able][np.argsort(first[able])[:LABELS]])
    return places[some][:MOST], labels[some][:MOST], weights[some][:MOST]
