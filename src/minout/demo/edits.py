"""Edit a learner that has been taught: find wrong labels, correct them, forget an example."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from minout._typing import Floats, Id
from minout.engine import Certificate, Suspect
from minout.learner import Learner
from minout.streams.files import Example


class FoundSuspects(NamedTuple):
    """The first suspects, as many as there are wrong labels, and those with a wrong label.

    `by_chance` is how many of as many random examples would have a wrong label.
    """

    suspects: list[Suspect]
    wrong: list[Suspect]
    by_chance: float


class Forgotten(NamedTuple):
    """A forgotten example, and whether the model equals one that never saw it."""

    id: Id
    certificate: Certificate
    is_as_if_never_taught: bool


def find(learner: Learner, wrong_labels: Mapping[str, str]) -> FoundSuspects:
    """Find the suspects, and those among them whose label is wrong."""
    suspects = learner.suspects(len(wrong_labels))
    wrong = [suspect for suspect in suspects if suspect.id in wrong_labels]
    return FoundSuspects(suspects, wrong, len(suspects) * len(wrong_labels) / len(learner))


def correct(learner: Learner, wrong: Sequence[Suspect], wrong_labels: Mapping[str, str]) -> None:
    """Correct the wrong labels that were found, and consolidate."""
    for suspect in wrong:
        learner.correct(suspect.id, wrong_labels[str(suspect.id)])
    learner.consolidate()


def forget(learner: Learner, examples: Sequence[Example], rows: Floats) -> Forgotten:
    """Forget the first suspect that is left, and compare with a learner that never saw it.

    That learner is taught the other examples backwards. The two are equal if their scores of
    `rows` are, to the last bit.
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
