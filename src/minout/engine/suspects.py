"""Find the stored examples that are most likely to have a wrong label."""

from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Id, Label
from minout.engine.label_errors import LIKELY, true_labels
from minout.engine.left_out import doubt
from minout.engine.state import State


class Suspect(NamedTuple):
    """A stored example whose label may be wrong.

    Attributes
    ----------
    id, label : int or str
        The example and the label that it has.
    probability : float
        The probability that this label is wrong: see docs/theory.md. NaN where the estimate cannot
        be trusted (`label_errors().reliable`); the order of the suspects holds all the same.
    suggested_label : int or str
        The most probable other label.
    slack : float
        The sum of its slacks over the separators of its region: the total by which its margins
        fall short of the target, 1.
    """

    id: Id
    label: Label
    probability: float
    suggested_label: Label
    slack: float


def suspects(state: State, n: int | None, *, likely: bool = False) -> list[Suspect]:
    """Return at most n examples that have slack or are likely wrong, the most probable first.

    Examples of equal probability are in the order of their slack. With `likely`, only those whose
    labels are wrong with a probability of 0.5 or more; None is no limit.
    """
    if len(state.labels) < 2:
        return []
    found = true_labels(state)
    wrong, slack = found.wrong, slacks(state)[found.places]
    first = np.lexsort((found.places, -slack, -wrong))
    listed = wrong >= LIKELY
    if not likely:
        listed |= slack > 0.0
    suggested, is_doubted = found.suggested(), doubt(state) != ""
    return [
        Suspect(
            state.ids[int(found.places[i])],
            found.names[found.given[i]],
            np.nan if is_doubted else float(wrong[i]),
            found.names[suggested[i]],
            float(slack[i]),
        )
        for i in first[listed[first]][:n].tolist()
    ]


def slacks(state: State) -> Floats:
    """Return the sum of the slacks of each example, by place."""
    total = np.zeros(state.examples.end)
    for pair in state.separators.stored(state.regions.order.owner):
        pool = state.separators[pair].pool
        slack = state.frame.choice.lam * pool.alpha / state.examples.weights[pool.places]
        np.add.at(total, pool.places, slack)
    return total
