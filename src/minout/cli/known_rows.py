"""Recognise rows without ids by their content."""

from typing import Any

from minout._typing import Id
from minout.cli.table_rows import stored_encoder
from minout.learner import Learner
from minout.streams.files import Label, join_names


class KnownRows:
    """The examples that a model had before a file was read; each stands for one equal row of it.

    So a file that is learned twice changes nothing, and of a file that has grown only the new rows
    are taught; but rows that are equal within one file are all taught.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._left: set[Id] = set(learner.ids)

    def find(self, x: Any, label: Label) -> Id | None:
        """Return an example with an equal row, and with this label or corrected since from it."""
        for each in self._learner.find(x) if self._left else ():
            if each in self._left:
                now = self._learner.example(each)[1]
                if label == now or label in self._learner.corrected.get(each, ()):
                    return each
        return None

    def take(self, x: Any, label: Label) -> Label | None:
        """Return the present label of such an example, which is then used up; None without one."""
        found = self.find(x, label)
        if found is None:
            return None
        self._left.remove(found)
        return self._learner.example(found)[1]


def cannot_tell(learner: Learner) -> str:
    """Return why different rows may be stored as equal ones; "" if they may not."""
    if learner.memory is not None:
        return "rows are stored as codes"
    encoder = stored_encoder(learner)
    if encoder is not None and encoder.lossy_columns:
        return f"columns are left out or hashed ({join_names(encoder.lossy_columns)})"
    return ""
