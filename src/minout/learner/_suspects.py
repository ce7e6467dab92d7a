"""Which stored examples lean most on their private parameter: likely wrong labels."""

from typing import NamedTuple

import numpy as np

from minout.learner._margin import Margin
from minout.learner.certificate import Id, Label


class Suspect(NamedTuple):
    """Is a stored example that the others speak against.

    `leaning` is the sum of its slacks λα over the pairs of its class: how far it stays short of the
    target margin, in all. `instead` is the class against which it leans most.
    """

    id: Id
    label: Label
    leaning: float
    instead: Label


def suspects(learner: Margin, n: int) -> list[Suspect]:
    """Lists the n examples that lean most, the most first; none that do not lean at all."""
    total = np.zeros(learner.memory.end)
    most = np.zeros(learner.memory.end)
    against = np.zeros(learner.memory.end, dtype=np.int64)
    for high in range(1, len(learner.labels)):
        for low in range(high):
            pool = learner.pools[high * (high - 1) // 2 + low]
            slack = learner.choice.price * pool.alpha
            np.add.at(total, pool.places, slack)
            more = slack > most[pool.places]
            places = pool.places[more]
            most[places] = slack[more]
            against[places] = np.where(pool.signs[more] > 0.0, high, low)
    first = np.argsort(-total, kind="stable")[:n]
    labels = learner.memory.labels_by_id()
    return [
        Suspect(
            learner.ids[place],
            learner.labels[labels[place]],
            float(total[place]),
            learner.labels[against[place]],
        )
        for place in first.tolist()
        if total[place] > 0.0
    ]
