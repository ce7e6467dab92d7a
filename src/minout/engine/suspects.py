"""Find the stored examples with the largest slack: likely wrong labels."""

from typing import NamedTuple

import numpy as np

from minout._typing import Id, Label
from minout.engine.separators import regions_of
from minout.engine.state import State


class Suspect(NamedTuple):
    """A stored example whose label may be wrong.

    Attributes
    ----------
    id, label : int or str
        The example and the label that it has.
    slack : float
        The sum of its slacks over the separators of its region: the total by which its margins
        fall short of the target, 1.
    suggested_label : int or str
        The label against which its slack is largest: a guess at the right label.
    """

    id: Id
    label: Label
    slack: float
    suggested_label: Label


def suspects(state: State, n: int) -> list[Suspect]:
    """Return at most n examples that have slack, the largest slack first."""
    end, labels = state.examples.end, state.regions.labels
    total, most = np.zeros(end), np.zeros(end)
    against = np.zeros(end, dtype=np.int64)
    for pair in state.separators.stored(state.regions.order.owner):
        (low, high), pool = regions_of(pair), state.separators[pair].pool
        slack = state.frame.choice.lam * pool.alpha / state.examples.weights[pool.places]
        np.add.at(total, pool.places, slack)
        more = slack > most[pool.places]
        places = pool.places[more]
        most[places] = slack[more]
        against[places] = np.where(pool.signs[more] > 0.0, high, low)
    first = np.argsort(-total, kind="stable")[:n]
    return [
        Suspect(
            state.ids[place], state.label_at(place), float(total[place]), labels[against[place]]
        )
        for place in first.tolist()
        if total[place] > 0.0
    ]
