"""The state of the drift monitor of `minout learn`, kept with the model in its notes."""

import time
from typing import Any, NamedTuple, Self

from minout._typing import Label
from minout.drift import Drift, DriftMonitor
from minout.errors import InvalidInputError
from minout.learner import Learner

KEY = "drift"
"""The key of this entry in a learner's notes."""


class DriftNote(NamedTuple):
    """A monitor, and the last drift that it reported, with its time and its place in a file."""

    monitor: DriftMonitor
    last: dict[str, Any] | None = None

    @classmethod
    def of(cls, learner: Learner) -> Self:
        """Return the note of a model; a new one if there is none, or if it is no such note."""
        values: Any = learner.notes.get(KEY)
        try:
            return cls(DriftMonitor.from_json(values["monitor"]), values["last"])
        except (InvalidInputError, KeyError, TypeError):
            return cls(DriftMonitor())

    def updated(
        self, label: Label, was_right: bool | None, place: str
    ) -> tuple[Self, Drift | None]:
        """Count an example; return the note after it, and the drift that it shows."""
        drift = self.monitor.update(label, was_right)
        if drift is None:
            return self, None
        return self._replace(last={**drift._asdict(), "time": time.time(), "where": place}), drift

    def store(self, learner: Learner) -> None:
        """Write the note to the notes of a model."""
        learner.notes[KEY] = {"monitor": self.monitor.to_json(), "last": self.last}


def drop_old_labels(learner: Learner) -> None:
    """Remove the note of a model if it names labels that the model no longer has."""
    if KEY in learner.notes:
        labels = DriftNote.of(learner).monitor.to_json()["labels"]
        if not set(labels) <= set(learner.classes.tolist()):
            del learner.notes[KEY]
