"""What one does with a learner that has been taught: find wrong labels, correct, take back."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Id
from minout.engine import Certificate, Suspect
from minout.learner import Learner
from minout.streams.files import Example


class Found(NamedTuple):
    """Is the first suspects, as many as wrong labels were planted, and those that are planted.

    `by_chance` is how many of the planted ones as many examples drawn at random would hold.
    """

    suspects: list[Suspect]
    wrong: list[Suspect]
    by_chance: float


class Forgotten(NamedTuple):
    """Is an example that was taken out, and whether the model is as if it had never been in."""

    id: Id
    certificate: Certificate
    is_as_if_never_taught: bool


def find(learner: Learner, planted: Mapping[str, str]) -> Found:
    """Asks whom the others speak against most, and counts whose label was wrong on purpose."""
    suspects = learner.suspects(len(planted))
    wrong = [suspect for suspect in suspects if suspect.id in planted]
    return Found(suspects, wrong, len(suspects) * len(planted) / len(learner))


def correct(learner: Learner, wrong: Sequence[Suspect], planted: Mapping[str, str]) -> None:
    """Gives the wrong labels that were found back the right ones, and makes the model anew."""
    for suspect in wrong:
        learner.correct(suspect.id, planted[str(suspect.id)])
    learner.consolidate()


def forget(learner: Learner, examples: Sequence[Example], rows: Floats) -> Forgotten:
    """Forgets the first suspect that is left, and compares with a learner that never saw it.

    That one is taught the other examples backwards. The two are equal if no bit of their scores of
    `rows` differs.
    """
    leaving = [*(each.id for each in learner.suspects(1)), learner.ids[-1]][0]
    certificate = learner.forget(leaving)
    learner.consolidate()
    twin = Learner()
    for example in reversed(examples):
        if example.id != leaving:
            assert example.label is not None
            twin.teach(example.row, example.label, id=example.id)
    twin.consolidate()
    same = bool(np.array_equal(twin.scores(rows), learner.scores(rows)))
    return Forgotten(leaving, certificate, same)
