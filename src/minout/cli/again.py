"""Rows that come again: known by their ids, also where their label was corrected since."""

from typing import NamedTuple

from minout.cli.remembered import kind_of_labels, label_as, stored_id
from minout.learner import Learner
from minout.learner.certificate import Id
from minout.streams.files import Label

NOTES = "corrected"
"""The key in a learner's notes: ids with a label that each had and has no more."""


class Meant(NamedTuple):
    """Is the id and the label under which a model takes a row of a file."""

    id: Id | None
    label: Label
    is_known: bool
    was_corrected: bool


class Again:
    """Says which rows a model knows; corrections that come later are not seen."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._corrected = frozenset(_noted(learner))
        self._kind = kind_of_labels(learner)

    def meant(self, id: str | None, label: Label) -> Meant:
        """Spells the id and the label of a row as the model does.

        Where the label is one that was corrected away, the one that the model has now is meant.
        """
        label = label_as(self._kind, label)
        self._kind = type(label)
        stored = None if id is None else stored_id(self._learner, id)
        if stored is None:
            return Meant(id, label, is_known=False, was_corrected=False)
        if (stored, label) not in self._corrected:
            return Meant(stored, label, is_known=True, was_corrected=False)
        now = self._learner.example(stored)[1]
        return Meant(stored, now, is_known=True, was_corrected=True)


def note_correction(learner: Learner, id: Id, old: Label, new: Label) -> None:
    """Notes that an example had a label, so that a file in which it still has it is known."""
    others = [pair for pair in _noted(learner) if pair not in ((id, old), (id, new))]
    learner.notes[NOTES] = [*others, (id, old)]


def drop_corrections(learner: Learner, label: Label | None = None) -> None:
    """Leaves no note of what is not stored any more, nor of a label that was forgotten."""
    kept = [pair for pair in _noted(learner) if pair[0] in learner and pair[1] != label]
    learner.notes.pop(NOTES, None)
    if kept:
        learner.notes[NOTES] = kept


def _noted(learner: Learner) -> list[tuple[Id, Label]]:
    return [(id, label) for id, label in learner.notes.get(NOTES, [])]
